// SPDX-License-Identifier: Apache-2.0
#include "faulty_vfs.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char *prefix;
    int operations, code, system_error, is_alone;
    /// Whoever made it, while that is so, and each of its files that is open.
    int users;
    long calls, first, count, failures, writes;
} watch_t;

/// A file that is watched; the real VFS's own file follows it in memory.
typedef struct {
    sqlite3_file base;
    int watch;
} faulty_file;

enum { most_watches = 4096 };
static watch_t watches[most_watches];
static int watch_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sqlite3_vfs *real;
/// For files that no other process opens: "obtains and holds an exclusive lock on database files [...]. Also keeps the
/// wal-index in heap rather than in shared memory" (sqlite.org/vfs.html, unix-excl), so that no lock takes a system call.
static sqlite3_vfs *alone;
static sqlite3_vfs faulty;
/// The system error of this thread's last injected failure, 0 when its last call was a real one.
static _Thread_local int injected_error;

/// The result of a call that is to fail, SQLITE_OK for one that is not.
static int fault(int number, int operation) {
    int code = SQLITE_OK;
    injected_error = 0;
    pthread_mutex_lock(&lock);
    watch_t *watch = &watches[number];
    if (operation == FAULTY_WRITE) watch->writes++;
    if (watch->operations & operation) {
        watch->calls++;
        if (watch->calls >= watch->first && watch->calls - watch->first < watch->count) {
            code = watch->code;
            errno = injected_error = watch->system_error;
            watch->failures++;
        }
    }
    pthread_mutex_unlock(&lock);
    return code;
}

static sqlite3_file *below(sqlite3_file *file) { return (sqlite3_file *)((faulty_file *)file + 1); }
static const sqlite3_io_methods *methods(sqlite3_file *file) { return below(file)->pMethods; }
static int file_fault(sqlite3_file *file, int operation) { return fault(((faulty_file *)file)->watch, operation); }

/// Without users its slot is another's.
static void leave(int number) {
    pthread_mutex_lock(&lock);
    watch_t *watch = &watches[number];
    if (!--watch->users) {
        free(watch->prefix);
        *watch = (watch_t){0};
    }
    pthread_mutex_unlock(&lock);
}

static int faulty_close(sqlite3_file *file) {
    int watch = ((faulty_file *)file)->watch;
    int code = methods(file)->xClose(below(file));
    leave(watch);
    return code;
}

static int faulty_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    int code = file_fault(file, FAULTY_READ);
    return code ? code : methods(file)->xRead(below(file), bytes, count, offset);
}

static int faulty_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    int code = file_fault(file, FAULTY_WRITE);
    if (!code) return methods(file)->xWrite(below(file), bytes, count, offset);
    methods(file)->xWrite(below(file), bytes, count / 2, offset);
    errno = injected_error;
    return code;
}

static int faulty_truncate(sqlite3_file *file, sqlite3_int64 size) {
    int code = file_fault(file, FAULTY_TRUNCATE);
    return code ? code : methods(file)->xTruncate(below(file), size);
}

static int faulty_sync(sqlite3_file *file, int flags) {
    // No power is cut in a test, so that nothing has to be on the disk; waiting for that would be most of the time.
    return file_fault(file, FAULTY_SYNC);
}

static int faulty_size(sqlite3_file *file, sqlite3_int64 *size) { return methods(file)->xFileSize(below(file), size); }
static int faulty_lock(sqlite3_file *file, int level) { return methods(file)->xLock(below(file), level); }
static int faulty_unlock(sqlite3_file *file, int level) { return methods(file)->xUnlock(below(file), level); }
static int faulty_reserved(sqlite3_file *file, int *out) { return methods(file)->xCheckReservedLock(below(file), out); }
static int faulty_control(sqlite3_file *file, int op, void *arg) {
    return methods(file)->xFileControl(below(file), op, arg);
}
static int faulty_sector(sqlite3_file *file) { return methods(file)->xSectorSize(below(file)); }
static int faulty_characteristics(sqlite3_file *file) { return methods(file)->xDeviceCharacteristics(below(file)); }

static int faulty_map(sqlite3_file *file, int page, int size, int extend, void volatile **out) {
    int code = file_fault(file, FAULTY_MAP);
    return code ? code : methods(file)->xShmMap(below(file), page, size, extend, out);
}

static int faulty_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    // The first of the locks is the writer's (sqlite.org/walformat.html, 2.3.1).
    if (offset == 0 && flags == (SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE)) {
        int code = file_fault(file, FAULTY_LOCK);
        if (code) return code;
    }
    return methods(file)->xShmLock(below(file), offset, count, flags);
}

static void faulty_barrier(sqlite3_file *file) { methods(file)->xShmBarrier(below(file)); }
static int faulty_unmap(sqlite3_file *file, int delete) { return methods(file)->xShmUnmap(below(file), delete); }
static int faulty_fetch(sqlite3_file *file, sqlite3_int64 offset, int count, void **out) {
    return methods(file)->xFetch(below(file), offset, count, out);
}
static int faulty_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *page) {
    return methods(file)->xUnfetch(below(file), offset, page);
}

static const sqlite3_io_methods faulty_methods = {
    .iVersion = 3,
    .xClose = faulty_close,
    .xRead = faulty_read,
    .xWrite = faulty_write,
    .xTruncate = faulty_truncate,
    .xSync = faulty_sync,
    .xFileSize = faulty_size,
    .xLock = faulty_lock,
    .xUnlock = faulty_unlock,
    .xCheckReservedLock = faulty_reserved,
    .xFileControl = faulty_control,
    .xSectorSize = faulty_sector,
    .xDeviceCharacteristics = faulty_characteristics,
    .xShmMap = faulty_map,
    .xShmLock = faulty_shm_lock,
    .xShmBarrier = faulty_barrier,
    .xShmUnmap = faulty_unmap,
    .xFetch = faulty_fetch,
    .xUnfetch = faulty_unfetch,
};

/// The watch that the file `path` is one of, with one user more; -1: nobody watches it.
static int enter(const char *path) {
    int found = -1;
    if (!path) return found;
    pthread_mutex_lock(&lock);
    for (int number = watch_count - 1; number >= 0 && found < 0; number--) {
        const char *prefix = watches[number].prefix;
        if (prefix && !strncmp(path, prefix, strlen(prefix))) found = number;
    }
    if (found >= 0) watches[found].users++;
    pthread_mutex_unlock(&lock);
    return found;
}

static int faulty_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out) {
    int watch = enter(path);
    // Not ours: the real VFS's file lies where ours would.
    if (watch < 0) return real->xOpen(real, path, file, flags, out);
    // "If the xOpen method sets the sqlite3_file.pMethods element to a non-NULL pointer, then [...] xClose [...] may be
    // invoked even if the xOpen reported that it failed" (sqlite.org/c3ref/io_methods.html).
    file->pMethods = 0;
    int code = fault(watch, FAULTY_OPEN);
    if (code) {
        leave(watch);
        return code;
    }
    ((faulty_file *)file)->watch = watch;
    sqlite3_vfs *system = watches[watch].is_alone ? alone : real;
    code = system->xOpen(system, path, below(file), flags, out);
    if (below(file)->pMethods) file->pMethods = &faulty_methods;
    else leave(watch);
    return code;
}

static int faulty_delete(sqlite3_vfs *vfs, const char *path, int sync) { return real->xDelete(real, path, sync); }
static int faulty_access(sqlite3_vfs *vfs, const char *path, int flags, int *out) {
    return real->xAccess(real, path, flags, out);
}
static int faulty_full_path(sqlite3_vfs *vfs, const char *path, int size, char *out) {
    return real->xFullPathname(real, path, size, out);
}
static int faulty_last_error(sqlite3_vfs *vfs, int size, char *text) {
    return injected_error ? injected_error : real->xGetLastError(real, size, text);
}

/// The time that this thread's statements read, in milliseconds since 1970; 0: the system's.
static _Thread_local long long thread_time = 0;

static int faulty_time(sqlite3_vfs *vfs, sqlite3_int64 *out) {
    if (!thread_time) return real->xCurrentTimeInt64(real, out);
    // "the number of milliseconds since noon in Greenwich on November 24, 4714 B.C." (sqlite.org/c3ref/vfs.html)
    *out = 210866760000000LL + thread_time;
    return SQLITE_OK;
}

static void register_once(void) {
    real = sqlite3_vfs_find(0);
    alone = sqlite3_vfs_find("unix-excl");
    if (!alone) alone = real;
    // What is not named below does not look at the VFS that it is called on (os_unix.c).
    faulty = *real;
    faulty.pNext = 0;
    faulty.zName = "faulty";
    faulty.szOsFile = real->szOsFile + (int)sizeof(faulty_file);
    faulty.xOpen = faulty_open;
    faulty.xDelete = faulty_delete;
    faulty.xAccess = faulty_access;
    faulty.xFullPathname = faulty_full_path;
    faulty.xGetLastError = faulty_last_error;
    if (real->iVersion >= 2) faulty.xCurrentTimeInt64 = faulty_time;
    sqlite3_vfs_register(&faulty, 1);
}

void faulty_vfs_set_time(long long milliseconds) { thread_time = milliseconds; }

int faulty_vfs_watch(const char *prefix, int is_alone) {
    pthread_once(&once, register_once);
    pthread_mutex_lock(&lock);
    int number = 0;
    while (number < watch_count && watches[number].users) number++;
    if (number == most_watches) number = -1;
    else if (number == watch_count) watch_count++;
    if (number >= 0) watches[number] = (watch_t){.prefix = strdup(prefix), .is_alone = is_alone, .users = 1};
    pthread_mutex_unlock(&lock);
    return number;
}

void faulty_vfs_unwatch(int watch) {
    faulty_vfs_disarm(watch);
    leave(watch);
}

void faulty_vfs_arm(int watch, int operations, long first, long count, int code, int system_error) {
    pthread_mutex_lock(&lock);
    watch_t *armed = &watches[watch];
    *armed = (watch_t){
        .prefix = armed->prefix, .is_alone = armed->is_alone, .users = armed->users, .operations = operations, .code = code,
        .system_error = system_error, .first = first, .count = count, .writes = armed->writes,
    };
    pthread_mutex_unlock(&lock);
}

void faulty_vfs_disarm(int watch) {
    pthread_mutex_lock(&lock);
    watches[watch].operations = 0;
    pthread_mutex_unlock(&lock);
}

long faulty_vfs_failures(int watch) {
    pthread_mutex_lock(&lock);
    long failures = watches[watch].failures;
    pthread_mutex_unlock(&lock);
    return failures;
}

long faulty_vfs_calls(int watch) {
    pthread_mutex_lock(&lock);
    long calls = watches[watch].calls;
    pthread_mutex_unlock(&lock);
    return calls;
}

long faulty_vfs_writes(int watch) {
    pthread_mutex_lock(&lock);
    long writes = watches[watch].writes;
    pthread_mutex_unlock(&lock);
    return writes;
}
