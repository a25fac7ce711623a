// SPDX-License-Identifier: Apache-2.0
// curl_easy_setopt and curl_easy_getinfo are variadic, which Swift cannot call. One shim per option, so that curl's own
// type check (typecheck-gcc.h, which needs a constant option) sees the type that each option really takes.
#pragma once
#include <curl/curl.h>

// --- Where to, and by which way

/// The address. Copied by libcurl.
static inline CURLcode relay_curl_set_url(CURL *_Nonnull h, const char *_Nonnull url) {
    return curl_easy_setopt(h, CURLOPT_URL, url);
}
/// Connect and shake hands, then leave the socket to curl_easy_send and curl_easy_recv.
static inline CURLcode relay_curl_set_connect_only(CURL *_Nonnull h, long on) {
    return curl_easy_setopt(h, CURLOPT_CONNECT_ONLY, on);
}
/// CURL_HTTP_VERSION_1_1 keeps libcurl's own HTTP/2 code away from a connection that only dials.
static inline CURLcode relay_curl_set_http_version(CURL *_Nonnull h, long version) {
    return curl_easy_setopt(h, CURLOPT_HTTP_VERSION, version);
}
/// Off where we put our own ALPN list into the SSL_CTX.
static inline CURLcode relay_curl_set_ssl_enable_alpn(CURL *_Nonnull h, long on) {
    return curl_easy_setopt(h, CURLOPT_SSL_ENABLE_ALPN, on);
}
/// A local socket instead of TCP: the command line talks to its daemon so.
static inline CURLcode relay_curl_set_unix_socket_path(CURL *_Nonnull h, const char *_Nullable path) {
    return curl_easy_setopt(h, CURLOPT_UNIX_SOCKET_PATH, path);
}
/// The proxy; "" means none, also where http_proxy and its kin are set in the environment.
static inline CURLcode relay_curl_set_proxy(CURL *_Nonnull h, const char *_Nonnull proxy) {
    return curl_easy_setopt(h, CURLOPT_PROXY, proxy);
}
/// "" makes the proxy hold for every host, whatever no_proxy in the environment says.
static inline CURLcode relay_curl_set_noproxy(CURL *_Nonnull h, const char *_Nonnull hosts) {
    return curl_easy_setopt(h, CURLOPT_NOPROXY, hosts);
}
/// CONNECT through the proxy instead of asking it to fetch.
static inline CURLcode relay_curl_set_http_proxy_tunnel(CURL *_Nonnull h, long on) {
    return curl_easy_setopt(h, CURLOPT_HTTPPROXYTUNNEL, on);
}
/// Which schemes may be asked for at all: no file:, no gopher:.
static inline CURLcode relay_curl_set_protocols(CURL *_Nonnull h, const char *_Nonnull names) {
    return curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, names);
}
/// Which schemes a redirect may lead to.
static inline CURLcode relay_curl_set_redirect_protocols(CURL *_Nonnull h, const char *_Nonnull names) {
    return curl_easy_setopt(h, CURLOPT_REDIR_PROTOCOLS_STR, names);
}
static inline CURLcode relay_curl_set_follow_location(CURL *_Nonnull h, long on) {
    return curl_easy_setopt(h, CURLOPT_FOLLOWLOCATION, on);
}
static inline CURLcode relay_curl_set_max_redirects(CURL *_Nonnull h, long count) {
    return curl_easy_setopt(h, CURLOPT_MAXREDIRS, count);
}

// --- Trust

static inline CURLcode relay_curl_set_ssl_verify_peer(CURL *_Nonnull h, long on) {
    return curl_easy_setopt(h, CURLOPT_SSL_VERIFYPEER, on);
}
/// 2: the certificate must be for the host of the URL.
static inline CURLcode relay_curl_set_ssl_verify_host(CURL *_Nonnull h, long level) {
    return curl_easy_setopt(h, CURLOPT_SSL_VERIFYHOST, level);
}
/// A PEM file of trust anchors.
static inline CURLcode relay_curl_set_ca_info(CURL *_Nonnull h, const char *_Nonnull path) {
    return curl_easy_setopt(h, CURLOPT_CAINFO, path);
}
/// NULL where CAINFO is ours: Debian's libcurl would trust /etc/ssl/certs besides.
static inline CURLcode relay_curl_set_ca_path(CURL *_Nonnull h, const char *_Nullable path) {
    return curl_easy_setopt(h, CURLOPT_CAPATH, path);
}
static inline CURLcode relay_curl_set_ssl_version(CURL *_Nonnull h, long version) {
    return curl_easy_setopt(h, CURLOPT_SSLVERSION, version);
}
/// The SSL_CTX before the handshake: ALPN and the info callback.
static inline CURLcode relay_curl_set_ssl_ctx_function(CURL *_Nonnull h, curl_ssl_ctx_callback _Nonnull function) {
    return curl_easy_setopt(h, CURLOPT_SSL_CTX_FUNCTION, function);
}
static inline CURLcode relay_curl_set_ssl_ctx_data(CURL *_Nonnull h, void *_Nullable data) {
    return curl_easy_setopt(h, CURLOPT_SSL_CTX_DATA, data);
}

// --- Time and the socket

static inline CURLcode relay_curl_set_timeout_ms(CURL *_Nonnull h, long milliseconds) {
    return curl_easy_setopt(h, CURLOPT_TIMEOUT_MS, milliseconds);
}
static inline CURLcode relay_curl_set_connect_timeout_ms(CURL *_Nonnull h, long milliseconds) {
    return curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT_MS, milliseconds);
}
/// libcurl must not use SIGALRM in a program with threads.
static inline CURLcode relay_curl_set_nosignal(CURL *_Nonnull h, long on) {
    return curl_easy_setopt(h, CURLOPT_NOSIGNAL, on);
}
/// 1: who gives up while a name is looked up does not wait for the thread that looks it up; that ends by itself.
static inline CURLcode relay_curl_set_quick_exit(CURL *_Nonnull h, long on) {
    return curl_easy_setopt(h, CURLOPT_QUICK_EXIT, on);
}
static inline CURLcode relay_curl_set_tcp_nodelay(CURL *_Nonnull h, long on) {
    return curl_easy_setopt(h, CURLOPT_TCP_NODELAY, on);
}
static inline CURLcode relay_curl_set_tcp_keepalive(CURL *_Nonnull h, long on) {
    return curl_easy_setopt(h, CURLOPT_TCP_KEEPALIVE, on);
}
/// 0: every dial asks the resolver afresh, as Apple wants it.
static inline CURLcode relay_curl_set_dns_cache_timeout(CURL *_Nonnull h, long seconds) {
    return curl_easy_setopt(h, CURLOPT_DNS_CACHE_TIMEOUT, seconds);
}
/// CURL_ERROR_SIZE bytes for the text of an error.
static inline CURLcode relay_curl_set_error_buffer(CURL *_Nonnull h, char *_Nullable buffer) {
    return curl_easy_setopt(h, CURLOPT_ERRORBUFFER, buffer);
}

// --- The request

static inline CURLcode relay_curl_set_custom_request(CURL *_Nonnull h, const char *_Nonnull method) {
    return curl_easy_setopt(h, CURLOPT_CUSTOMREQUEST, method);
}
/// HEAD: no body is awaited.
static inline CURLcode relay_curl_set_nobody(CURL *_Nonnull h, long on) {
    return curl_easy_setopt(h, CURLOPT_NOBODY, on);
}
static inline CURLcode relay_curl_set_user_agent(CURL *_Nonnull h, const char *_Nonnull name) {
    return curl_easy_setopt(h, CURLOPT_USERAGENT, name);
}
/// The list is not copied: it must outlive the transfer.
static inline CURLcode relay_curl_set_http_header(CURL *_Nonnull h, struct curl_slist *_Nullable list) {
    return curl_easy_setopt(h, CURLOPT_HTTPHEADER, list);
}
/// The body; not copied: it must outlive the transfer. Set the size first.
static inline CURLcode relay_curl_set_post_fields(CURL *_Nonnull h, const void *_Nonnull bytes) {
    return curl_easy_setopt(h, CURLOPT_POSTFIELDS, bytes);
}
static inline CURLcode relay_curl_set_post_field_size(CURL *_Nonnull h, curl_off_t size) {
    return curl_easy_setopt(h, CURLOPT_POSTFIELDSIZE_LARGE, size);
}
/// The body comes from the read function.
static inline CURLcode relay_curl_set_upload(CURL *_Nonnull h, long on) {
    return curl_easy_setopt(h, CURLOPT_UPLOAD, on);
}
/// -1: unknown, sent in chunks.
static inline CURLcode relay_curl_set_upload_size(CURL *_Nonnull h, curl_off_t size) {
    return curl_easy_setopt(h, CURLOPT_INFILESIZE_LARGE, size);
}
static inline CURLcode relay_curl_set_read_function(CURL *_Nonnull h, curl_read_callback _Nonnull function) {
    return curl_easy_setopt(h, CURLOPT_READFUNCTION, function);
}
static inline CURLcode relay_curl_set_read_data(CURL *_Nonnull h, void *_Nullable data) {
    return curl_easy_setopt(h, CURLOPT_READDATA, data);
}

// --- The answer

static inline CURLcode relay_curl_set_write_function(CURL *_Nonnull h, curl_write_callback _Nonnull function) {
    return curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, function);
}
static inline CURLcode relay_curl_set_write_data(CURL *_Nonnull h, void *_Nullable data) {
    return curl_easy_setopt(h, CURLOPT_WRITEDATA, data);
}
static inline CURLcode relay_curl_set_header_function(CURL *_Nonnull h, curl_write_callback _Nonnull function) {
    return curl_easy_setopt(h, CURLOPT_HEADERFUNCTION, function);
}
static inline CURLcode relay_curl_set_header_data(CURL *_Nonnull h, void *_Nullable data) {
    return curl_easy_setopt(h, CURLOPT_HEADERDATA, data);
}
/// Called about once a second and on traffic: the way to cancel a transfer from another thread.
static inline CURLcode relay_curl_set_progress_function(CURL *_Nonnull h, curl_xferinfo_callback _Nonnull function) {
    return curl_easy_setopt(h, CURLOPT_XFERINFOFUNCTION, function);
}
static inline CURLcode relay_curl_set_progress_data(CURL *_Nonnull h, void *_Nullable data) {
    return curl_easy_setopt(h, CURLOPT_XFERINFODATA, data);
}
/// 0 switches the progress function on.
static inline CURLcode relay_curl_set_no_progress(CURL *_Nonnull h, long on) {
    return curl_easy_setopt(h, CURLOPT_NOPROGRESS, on);
}

// --- What became of it

static inline CURLcode relay_curl_get_response_code(CURL *_Nonnull h, long *_Nonnull code) {
    return curl_easy_getinfo(h, CURLINFO_RESPONSE_CODE, code);
}
/// The socket of a connection that was only dialled.
static inline CURLcode relay_curl_get_active_socket(CURL *_Nonnull h, curl_socket_t *_Nonnull socket) {
    return curl_easy_getinfo(h, CURLINFO_ACTIVESOCKET, socket);
}
/// 0 until the way was clear (DNS, TCP, proxy and TLS done): tells "cannot connect" from "no answer".
static inline CURLcode relay_curl_get_pretransfer_time(CURL *_Nonnull h, curl_off_t *_Nonnull microseconds) {
    return curl_easy_getinfo(h, CURLINFO_PRETRANSFER_TIME_T, microseconds);
}
/// errno of the last failed connect.
static inline CURLcode relay_curl_get_os_errno(CURL *_Nonnull h, long *_Nonnull number) {
    return curl_easy_getinfo(h, CURLINFO_OS_ERRNO, number);
}
