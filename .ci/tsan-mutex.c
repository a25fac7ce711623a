// SPDX-License-Identifier: Apache-2.0
// Tells Thread Sanitizer about the slow half of Swift's Mutex. Linked into sanitized builds only (make test-tsan).
//
// Synchronization.Mutex takes a lock that nobody holds by an atomic exchange in the caller's own, instrumented code. A lock
// that is held it takes by FUTEX_LOCK_PI in libswiftSynchronization.so, which is not instrumented, and the kernel writes
// the lock's word; FUTEX_UNLOCK_PI hands it on in the same way (futex(2); MutexImpl in the Swift repository's
// stdlib/public/Synchronization/Mutex/LinuxImpl.swift). Thread Sanitizer sees no order between the two threads and calls
// everything that a contended Mutex guards a race. A suppression for each place would hide real races there; these
// three functions stand before the library's, call them, and say what they did.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

// A method's `self` is in the context register; a Mutex handle is not copyable, so it is the address of the lock's word.
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef SWIFT void (*lock_function)(uint32_t thread, SELF);
typedef SWIFT bool (*try_lock_function)(SELF);
typedef SWIFT void (*unlock_function)(SELF);

static void *next(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) abort();
    return found;
}

SWIFT void relay_tsan_lock(uint32_t thread, SELF) __asm__(LOCK);
SWIFT void relay_tsan_lock(uint32_t thread, SELF) {
    static lock_function original;
    lock_function function = __atomic_load_n(&original, __ATOMIC_RELAXED);
    if (!function) __atomic_store_n(&original, function = (lock_function)next(LOCK), __ATOMIC_RELAXED);
    function(thread, self);
    __tsan_acquire(self);
}

SWIFT bool relay_tsan_try_lock(SELF) __asm__(TRY_LOCK);
SWIFT bool relay_tsan_try_lock(SELF) {
    static try_lock_function original;
    try_lock_function function = __atomic_load_n(&original, __ATOMIC_RELAXED);
    if (!function) __atomic_store_n(&original, function = (try_lock_function)next(TRY_LOCK), __ATOMIC_RELAXED);
    bool taken = function(self);
    if (taken) __tsan_acquire(self);
    return taken;
}

SWIFT void relay_tsan_unlock(SELF) __asm__(UNLOCK);
SWIFT void relay_tsan_unlock(SELF) {
    static unlock_function original;
    unlock_function function = __atomic_load_n(&original, __ATOMIC_RELAXED);
    if (!function) __atomic_store_n(&original, function = (unlock_function)next(UNLOCK), __ATOMIC_RELAXED);
    __tsan_release(self);
    function(self);
}
