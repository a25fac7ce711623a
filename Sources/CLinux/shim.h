// SPDX-License-Identifier: Apache-2.0
// What Linux offers and the Glibc module leaves out: epoll, eventfd, timerfd, mallopt, affinity, accept4.
#pragma once
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>

// accept4(2) and sched_setaffinity(2) are declared for GNU programs only.

/// As unistd.h has it, which is the Glibc module's and must not become this one's.
extern long syscall(long number, ...);

/// accept4(2) with SOCK_CLOEXEC, so that no program inherits the connection; -1 with errno.
static inline int relay_accept(int listener, void *_Nullable address, unsigned *_Nullable length) {
    return (int)syscall(SYS_accept4, listener, address, length, 02000000);
}

/// 0, or -1 with errno. Thread 0 is the caller; one bit for each of the first 64 processors.
static inline int relay_set_affinity(int thread, unsigned long long processors) {
    return (int)syscall(SYS_sched_setaffinity, thread, sizeof processors, &processors);
}

/// The caller's; 0 after a failure.
static inline unsigned long long relay_affinity(void) {
    // As many as a kernel may have: with less room it refuses.
    unsigned long long processors[128] = {0};
    return syscall(SYS_sched_getaffinity, 0, sizeof processors, processors) > 0 ? processors[0] : 0;
}

/// pthread_setname_np is hidden from Swift's Glibc module (it needs _GNU_SOURCE), and prctl is variadic.
static inline int relay_thread_set_name(const char *_Nonnull name) {
    return prctl(PR_SET_NAME, name, 0, 0, 0);
}
