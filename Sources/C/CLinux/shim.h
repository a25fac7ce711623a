// SPDX-License-Identifier: Apache-2.0
// The parts of Linux that the Glibc module leaves out: epoll, eventfd, timerfd, mallopt, affinity, accept4, a
// Unix socket's peer, the folder and the descriptors of a program that is started.
#pragma once
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>

// accept4(2) and sched_setaffinity(2) are declared for GNU programs only.

/// Declared as in unistd.h, which belongs to the Glibc module and must not become a part of this one.
extern long syscall(long number, ...);

/// accept4(2) with SOCK_CLOEXEC, so that no program inherits the connection; -1 with errno.
static inline int relay_accept(int listener, void *_Nullable address, unsigned *_Nullable length) {
    return (int)syscall(SYS_accept4, listener, address, length, 02000000);
}

/// The same; the connection is non-blocking from the start.
static inline int relay_accept_nonblocking(int listener, void *_Nullable address, unsigned *_Nullable length) {
    return (int)syscall(SYS_accept4, listener, address, length, 02000000 | 04000);
}

/// struct ucred is not in the Glibc module. Returns 0 where the system reports it (unix(7), SO_PEERCRED).
static inline int relay_peer_credentials(int socket, unsigned int *_Nonnull uid, unsigned int *_Nonnull gid,
                                         int *_Nonnull pid) {
    struct { int pid; unsigned int uid; unsigned int gid; } told = {0, (unsigned int)-1, (unsigned int)-1};
    socklen_t length = sizeof told;
    int status = getsockopt(socket, SOL_SOCKET, 17 /* SO_PEERCRED */, &told, &length);
    *uid = told.uid; *gid = told.gid; *pid = told.pid;
    return status;
}

/// The peer's supplementary groups at the time of connect (Linux 4.13, SO_PEERGROUPS). Returns their number, or -1.
static inline int relay_peer_groups(int socket, unsigned int *_Nonnull groups, unsigned int room) {
    socklen_t length = room * sizeof *groups;
    if (getsockopt(socket, SOL_SOCKET, 59 /* SO_PEERGROUPS */, groups, &length) != 0) return -1;
    return (int)(length / sizeof *groups);
}

/// 0, or -1 with errno. Thread 0 is the caller; one bit for each of the first 64 processors.
static inline int relay_set_affinity(int thread, unsigned long long processors) {
    return (int)syscall(SYS_sched_setaffinity, thread, sizeof processors, &processors);
}

/// The caller's affinity, with a bit for each of the first 64 processors; 0 after a failure.
static inline unsigned long long relay_affinity(void) {
    // Room for all processors that a kernel may support: with less the call fails.
    unsigned long long processors[128] = {0};
    return syscall(SYS_sched_getaffinity, 0, sizeof processors, processors) > 0 ? processors[0] : 0;
}

/// pthread_setname_np is hidden from Swift's Glibc module (it needs _GNU_SOURCE), and prctl is variadic.
static inline int relay_thread_set_name(const char *_Nonnull name) {
    return prctl(PR_SET_NAME, name, 0, 0, 0);
}

/// The variables of this process. Swift takes the Glibc module's environ for a variable that several threads change.
static inline char *_Nullable *_Nonnull relay_environment(void) {
    extern char **environ;
    return environ;
}

/// The file actions that posix_spawn(3) has for GNU programs only: the program starts in this folder, and has no descriptors but
/// 0 to 2. `actions` is a posix_spawn_file_actions_t. Returns 0, or an errno.
static inline int relay_spawn_limits(void *_Nonnull actions, const char *_Nonnull folder) {
    extern int posix_spawn_file_actions_addchdir_np(void *, const char *);
    extern int posix_spawn_file_actions_addclosefrom_np(void *, int);
    int result = posix_spawn_file_actions_addchdir_np(actions, folder);
    return result != 0 ? result : posix_spawn_file_actions_addclosefrom_np(actions, 3);
}
