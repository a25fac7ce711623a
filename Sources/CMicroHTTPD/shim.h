// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

// MARK: Certificates. libmicrohttpd's TLS is GnuTLS; Debian's libmicrohttpd12 is linked with it.

/// A certificate chain and its key in GnuTLS's own form, as its retrieve callback hands them out.
struct relay_tls_pair {
    gnutls_pcert_st certificates[16];
    unsigned int count;
    gnutls_privkey_t key;
};

static inline void relay_tls_pair_free(struct relay_tls_pair *_Nullable pair) {
    if (!pair) return;
    for (unsigned int i = 0; i < pair->count; i++) gnutls_pcert_deinit(&pair->certificates[i]);
    if (pair->key) gnutls_privkey_deinit(pair->key);
    free(pair);
}

/// An array of C is a tuple in Swift.
static inline gnutls_pcert_st *_Nonnull relay_tls_pair_certificates(struct relay_tls_pair *_Nonnull pair) {
    return pair->certificates;
}

/// From PEM texts. NULL after a failure, which `*status` then names for gnutls_strerror.
static inline struct relay_tls_pair *_Nullable relay_tls_pair_new(
    const void *_Nonnull chain, unsigned int chain_size, const void *_Nonnull key, unsigned int key_size,
    int *_Nonnull status) {
    struct relay_tls_pair *pair = calloc(1, sizeof *pair);
    if (!pair) { *status = GNUTLS_E_MEMORY_ERROR; return NULL; }
    gnutls_datum_t chain_datum = {(unsigned char *)chain, chain_size};
    gnutls_datum_t key_datum = {(unsigned char *)key, key_size};
    unsigned int count = sizeof pair->certificates / sizeof pair->certificates[0];
    *status = gnutls_pcert_list_import_x509_raw(pair->certificates, &count, &chain_datum, GNUTLS_X509_FMT_PEM, 0);
    if (*status >= 0) {
        pair->count = count;
        *status = gnutls_privkey_init(&pair->key);
    }
    if (*status >= 0)
        *status = gnutls_privkey_import_x509_raw(pair->key, &key_datum, GNUTLS_X509_FMT_PEM, NULL, 0);
    if (*status < 0) { relay_tls_pair_free(pair); return NULL; }
    return pair;
}

/// libmicrohttpd 0.9.75 keeps the connection as the session's own pointer (daemon.c, new_connection_prepare_).
static inline struct MHD_Connection *_Nullable relay_mhd_connection_of_session(gnutls_session_t _Nonnull session) {
    return gnutls_session_get_ptr(session);
}

// MARK: The daemon

/// MHD_start_daemon is variadic, which Swift cannot call. The one set of options that the relay uses; each is checked
/// against its type by the C compiler here.
///
/// One epoll set, for a thread of the relay's own: thousands of idle connections cost memory, but no thread. What waits
/// (the store, an event stream) suspends its connection meanwhile. Time-outs are the relay's own (`Connections`), for the
/// library's know no more than silence. It listens on nothing: connections come by MHD_add_connection, "the given client
/// socket will be managed (and closed!) by MHD after this call". `retrieve` is NULL for plain HTTP.
static inline struct MHD_Daemon *_Nullable relay_mhd_start(
    MHD_AccessHandlerCallback _Nonnull handler,
    void *_Nullable (*_Nonnull uri_logged)(void *_Nullable, const char *_Nonnull, struct MHD_Connection *_Nonnull),
    MHD_RequestCompletedCallback _Nonnull completed, MHD_NotifyConnectionCallback _Nonnull connection_changed,
    void *_Nonnull owner, unsigned int connection_limit,
    gnutls_certificate_retrieve_function2 *_Nullable retrieve, const char *_Nonnull priorities) {
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)retrieve},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)priorities},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | (retrieve ? MHD_USE_TLS : 0), 0,
        NULL, NULL, handler, owner,                                  //
        MHD_OPTION_URI_LOG_CALLBACK, uri_logged, owner,              // the target before MHD decodes it
        MHD_OPTION_NOTIFY_COMPLETED, completed, owner,               //
        MHD_OPTION_NOTIFY_CONNECTION, connection_changed, owner,     //
        MHD_OPTION_CONNECTION_LIMIT, connection_limit,               //
        MHD_OPTION_CONNECTION_TIMEOUT, 0u,                           //
        // Heads, and the pieces that a body comes in. All of it is written over with zeros after each request
        // (memorypool.c, MHD_pool_reset), so it is resident memory of every connection that ever asked.
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)24576,           //
        MHD_OPTION_STRICT_FOR_CLIENT, 1,                             //
        MHD_OPTION_ARRAY, retrieve ? tls : none,                     //
        MHD_OPTION_END);
}

// MHD_get_daemon_info and MHD_get_connection_info are variadic and answer a union.

/// The epoll set: readable where MHD_run has something to do. It stays the library's.
static inline int relay_mhd_events(struct MHD_Daemon *_Nonnull daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info ? info->epoll_fd : -1;
}

/// The descriptor stays the library's; -1 when it has none.
static inline int relay_mhd_connection_socket(struct MHD_Connection *_Nonnull connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

/// What `connection_changed` stored for the connection.
static inline void *_Nullable relay_mhd_connection_context(struct MHD_Connection *_Nonnull connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/// Bytes of the request's head, once it is complete.
static inline size_t relay_mhd_head_size(struct MHD_Connection *_Nonnull connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info ? info->header_size : 0;
}

static inline const struct sockaddr *_Nullable relay_mhd_client_address(struct MHD_Connection *_Nonnull connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info ? info->client_addr : NULL;
}

// MARK: Peer credentials

/// struct ucred is not in the Glibc module. 0 when the system told (unix(7), SO_PEERCRED).
static inline int relay_peer_credentials(int socket, unsigned int *_Nonnull uid, unsigned int *_Nonnull gid,
                                         int *_Nonnull pid) {
    struct { int pid; unsigned int uid; unsigned int gid; } told = {0, (unsigned int)-1, (unsigned int)-1};
    socklen_t length = sizeof told;
    int status = getsockopt(socket, SOL_SOCKET, 17 /* SO_PEERCRED */, &told, &length);
    *uid = told.uid; *gid = told.gid; *pid = told.pid;
    return status;
}

/// The peer's supplementary groups at the time of connect (Linux 4.13, SO_PEERGROUPS); how many, or -1.
static inline int relay_peer_groups(int socket, unsigned int *_Nonnull groups, unsigned int room) {
    socklen_t length = room * sizeof *groups;
    if (getsockopt(socket, SOL_SOCKET, 59 /* SO_PEERGROUPS */, groups, &length) != 0) return -1;
    return (int)(length / sizeof *groups);
}
