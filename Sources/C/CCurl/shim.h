// SPDX-License-Identifier: Apache-2.0
// curl_easy_setopt and curl_easy_getinfo are variadic, which Swift cannot call. One function for each option, so that curl's
// own type check (typecheck-gcc.h, which needs a constant option) sees the type that each option really takes.
#pragma once
#include <curl/curl.h>

/// relay_curl_set_NAME(handle, value)
#define RELAY_SET(name, option, type) \
    static inline CURLcode relay_curl_set_##name(CURL *_Nonnull h, type value) { return curl_easy_setopt(h, option, value); }
/// relay_curl_get_NAME(handle, place)
#define RELAY_GET(name, info, type) \
    static inline CURLcode relay_curl_get_##name(CURL *_Nonnull h, type value) { return curl_easy_getinfo(h, info, value); }

// --- Where to, and by which way

/// The address. Copied by libcurl.
RELAY_SET(url, CURLOPT_URL, const char *_Nonnull)
/// Connect and shake hands, then leave the socket to curl_easy_send and curl_easy_recv.
RELAY_SET(connect_only, CURLOPT_CONNECT_ONLY, long)
/// CURL_HTTP_VERSION_1_1 keeps libcurl's own HTTP/2 code away from a connection that only dials.
RELAY_SET(http_version, CURLOPT_HTTP_VERSION, long)
/// Off where we put our own ALPN list into the SSL_CTX.
RELAY_SET(ssl_enable_alpn, CURLOPT_SSL_ENABLE_ALPN, long)
/// A local socket instead of TCP, by which the commands reach their daemon.
RELAY_SET(unix_socket_path, CURLOPT_UNIX_SOCKET_PATH, const char *_Nullable)
/// The proxy; "" means none, also where http_proxy and its kin are set in the environment.
RELAY_SET(proxy, CURLOPT_PROXY, const char *_Nonnull)
/// The proxy's user and password, separate from its address, which libcurl's error texts quote.
RELAY_SET(proxy_username, CURLOPT_PROXYUSERNAME, const char *_Nonnull)
RELAY_SET(proxy_password, CURLOPT_PROXYPASSWORD, const char *_Nonnull)
/// CURLAUTH_BASIC: sent at once, with one connection.
RELAY_SET(proxy_auth, CURLOPT_PROXYAUTH, unsigned long)
/// 1: the headers of a proxy's answer to CONNECT are not passed on as the server's.
RELAY_SET(suppress_connect_headers, CURLOPT_SUPPRESS_CONNECT_HEADERS, long)
/// "" makes the proxy hold for every host, whatever no_proxy in the environment contains.
RELAY_SET(noproxy, CURLOPT_NOPROXY, const char *_Nonnull)
/// CONNECT through the proxy instead of asking it to fetch.
RELAY_SET(http_proxy_tunnel, CURLOPT_HTTPPROXYTUNNEL, long)
/// The schemes that are allowed: no file:, no gopher:.
RELAY_SET(protocols, CURLOPT_PROTOCOLS_STR, const char *_Nonnull)

// --- Trust

RELAY_SET(ssl_verify_peer, CURLOPT_SSL_VERIFYPEER, long)
/// 2: the certificate must be for the host of the URL.
RELAY_SET(ssl_verify_host, CURLOPT_SSL_VERIFYHOST, long)
/// A PEM file of trust anchors.
RELAY_SET(ca_info, CURLOPT_CAINFO, const char *_Nonnull)
/// NULL where CAINFO is ours: Debian's libcurl would trust /etc/ssl/certs besides.
RELAY_SET(ca_path, CURLOPT_CAPATH, const char *_Nullable)
RELAY_SET(ssl_version, CURLOPT_SSLVERSION, long)
/// The same for a proxy that is reached by TLS.
RELAY_SET(proxy_ssl_verify_peer, CURLOPT_PROXY_SSL_VERIFYPEER, long)
RELAY_SET(proxy_ssl_verify_host, CURLOPT_PROXY_SSL_VERIFYHOST, long)
RELAY_SET(proxy_ssl_version, CURLOPT_PROXY_SSLVERSION, long)
RELAY_SET(proxy_ca_info, CURLOPT_PROXY_CAINFO, const char *_Nonnull)
/// The client's own certificate with its chain, and its key, both PEM; copied where the blob has the flag CURL_BLOB_COPY.
RELAY_SET(ssl_cert_blob, CURLOPT_SSLCERT_BLOB, struct curl_blob *_Nonnull)
RELAY_SET(ssl_key_blob, CURLOPT_SSLKEY_BLOB, struct curl_blob *_Nonnull)
/// Gets the SSL_CTX before the handshake, and sets ALPN and the info callback.
RELAY_SET(ssl_ctx_function, CURLOPT_SSL_CTX_FUNCTION, curl_ssl_ctx_callback _Nonnull)
RELAY_SET(ssl_ctx_data, CURLOPT_SSL_CTX_DATA, void *_Nullable)

// --- Time and the socket

RELAY_SET(timeout_ms, CURLOPT_TIMEOUT_MS, long)
RELAY_SET(connect_timeout_ms, CURLOPT_CONNECTTIMEOUT_MS, long)
/// libcurl must not use SIGALRM in a program with threads.
RELAY_SET(nosignal, CURLOPT_NOSIGNAL, long)
/// 1: a transfer that ends during name resolution does not wait for the resolver thread, which ends by itself.
RELAY_SET(quick_exit, CURLOPT_QUICK_EXIT, long)
RELAY_SET(tcp_nodelay, CURLOPT_TCP_NODELAY, long)
RELAY_SET(tcp_keepalive, CURLOPT_TCP_KEEPALIVE, long)
/// 0: every dial resolves the name again, as Apple wants it.
RELAY_SET(dns_cache_timeout, CURLOPT_DNS_CACHE_TIMEOUT, long)
/// CURL_ERROR_SIZE bytes for the text of an error.
RELAY_SET(error_buffer, CURLOPT_ERRORBUFFER, char *_Nullable)

// --- The request

RELAY_SET(custom_request, CURLOPT_CUSTOMREQUEST, const char *_Nonnull)
/// 1 for HEAD: no body is expected.
RELAY_SET(nobody, CURLOPT_NOBODY, long)
RELAY_SET(user_agent, CURLOPT_USERAGENT, const char *_Nonnull)
/// The list is not copied: it must outlive the transfer.
RELAY_SET(http_header, CURLOPT_HTTPHEADER, struct curl_slist *_Nullable)
/// The body; not copied: it must outlive the transfer. Set the size first.
RELAY_SET(post_fields, CURLOPT_POSTFIELDS, const void *_Nonnull)
RELAY_SET(post_field_size, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t)
/// The body, copied by libcurl. Set the size first.
RELAY_SET(copied_post_fields, CURLOPT_COPYPOSTFIELDS, const void *_Nonnull)

// --- Many requests at a time

/// 1: a request waits for a connection in the making that may carry several requests (HTTP/2), instead of making another.
RELAY_SET(pipe_wait, CURLOPT_PIPEWAIT, long)
/// The owner's mark, by which it recognises the request in the message that it has ended.
RELAY_SET(mark, CURLOPT_PRIVATE, void *_Nullable)

// --- The answer

RELAY_SET(write_function, CURLOPT_WRITEFUNCTION, curl_write_callback _Nonnull)
RELAY_SET(write_data, CURLOPT_WRITEDATA, void *_Nullable)
RELAY_SET(header_function, CURLOPT_HEADERFUNCTION, curl_write_callback _Nonnull)
RELAY_SET(header_data, CURLOPT_HEADERDATA, void *_Nullable)
/// Called about once a second and on traffic: the way to cancel a transfer from another thread.
RELAY_SET(progress_function, CURLOPT_XFERINFOFUNCTION, curl_xferinfo_callback _Nonnull)
RELAY_SET(progress_data, CURLOPT_XFERINFODATA, void *_Nullable)
/// 0 switches the progress function on.
RELAY_SET(no_progress, CURLOPT_NOPROGRESS, long)

// --- What became of it

RELAY_GET(response_code, CURLINFO_RESPONSE_CODE, long *_Nonnull)
/// The socket of a connection that was only dialled.
RELAY_GET(active_socket, CURLINFO_ACTIVESOCKET, curl_socket_t *_Nonnull)
/// 0 until the server is reached (DNS, TCP, proxy and TLS done): separates "cannot connect" from "no answer".
RELAY_GET(pretransfer_time, CURLINFO_PRETRANSFER_TIME_T, curl_off_t *_Nonnull)

RELAY_GET(mark, CURLINFO_PRIVATE, char *_Nullable *_Nonnull)
/// CURL_HTTP_VERSION_2_0 where HTTP/2 was agreed on; 0 before the answer.
RELAY_GET(http_version, CURLINFO_HTTP_VERSION, long *_Nonnull)
/// How many connections were made for the request; 0 where it used an existing one.
RELAY_GET(new_connections, CURLINFO_NUM_CONNECTS, long *_Nonnull)

/// The proxy's answer to CONNECT; 0: none.
RELAY_GET(connect_code, CURLINFO_HTTP_CONNECTCODE, long *_Nonnull)
/// OpenSSL's X509_V_ERR of the server's certificate, and of the proxy's; 0: none.
RELAY_GET(verify_result, CURLINFO_SSL_VERIFYRESULT, long *_Nonnull)
RELAY_GET(proxy_verify_result, CURLINFO_PROXY_SSL_VERIFYRESULT, long *_Nonnull)
/// The system's errno where a connection could not be made.
RELAY_GET(os_errno, CURLINFO_OS_ERRNO, long *_Nonnull)
/// The CURLPX_ code of a SOCKS proxy; 0: none.
RELAY_GET(proxy_error, CURLINFO_PROXY_ERROR, long *_Nonnull)

#undef RELAY_SET
#undef RELAY_GET
