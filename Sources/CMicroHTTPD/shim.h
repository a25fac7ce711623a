// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <microhttpd.h>

/// MHD_start_daemon is variadic, which Swift cannot call. The one set of options that the relay uses; each is checked
/// against its type by the C compiler here.
///
/// A thread for each connection: a request waits for SQLite and an event stream waits for its campaign, and neither may
/// hold up another client. The listening socket becomes the daemon's.
static inline struct MHD_Daemon *_Nullable relay_mhd_start(
    int listening_socket, MHD_AccessHandlerCallback _Nonnull handler,
    void *_Nullable (*_Nonnull uri_logged)(void *_Nullable, const char *_Nonnull, struct MHD_Connection *_Nonnull),
    MHD_RequestCompletedCallback _Nonnull completed, MHD_NotifyConnectionCallback _Nonnull connection_changed,
    void *_Nonnull owner, unsigned int connection_limit, unsigned int timeout_seconds) {
    return MHD_start_daemon(
        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC, 0, NULL, NULL,
        handler, owner,                                              //
        MHD_OPTION_LISTEN_SOCKET, (MHD_socket)listening_socket,      //
        MHD_OPTION_URI_LOG_CALLBACK, uri_logged, owner,              // the target before MHD decodes it
        MHD_OPTION_NOTIFY_COMPLETED, completed, owner,               //
        MHD_OPTION_NOTIFY_CONNECTION, connection_changed, owner,     //
        MHD_OPTION_CONNECTION_LIMIT, connection_limit,               //
        MHD_OPTION_CONNECTION_TIMEOUT, timeout_seconds,              //
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)65536,           // headers, and the chunks that a body comes in
        MHD_OPTION_THREAD_STACK_SIZE, (size_t)1048576,               //
        MHD_OPTION_STRICT_FOR_CLIENT, 1,                             //
        MHD_OPTION_END);
}

/// MHD_get_connection_info is variadic and answers a union. The descriptor stays the library's; -1 when it has none.
static inline int relay_mhd_connection_socket(struct MHD_Connection *_Nonnull connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}
