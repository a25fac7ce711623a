// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "faulty_vfs.h"

#include "changed_rows.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

// A program that opens a store again and again has SQLite parse its schema and compile its statements each time, which takes
// longer than all that a short life does with them. Here stand, in SQLite's place, the four functions that begin and end a
// connection and a statement: for files that somebody keeps (`faulty_vfs_keep`) they end neither, and hand them out again. To
// who opens them they are as new: no transaction, no row, no value, no handler is left. All else goes to SQLite itself.

typedef struct {
    sqlite3_stmt *handle;
    char *text;
    unsigned long hash;
    int is_used;
} statement_t;

typedef struct {
    sqlite3 *handle;
    char *path;
    /// What it was opened with: another program may have asked for other result codes (SQLITE_OPEN_EXRESCODE).
    int flags;
    int is_used;
    statement_t *statements;
    int count, room;
} connection_t;

/// "Two copies of [...] WalIndexHdr [...] and one copy of WalCkptInfo"; in regions of 32 KiB (sqlite.org/walformat.html, 2.1).
enum { index_header = 136, index_region = 32768 };
enum { most_paths = 64, most_connections = 512 };
static char *paths[most_paths];
static connection_t connections[most_connections];
// SQLite calls what is replaced here for its own statements, too.
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
/// How many paths are or were kept: at 0 nothing here does anything.
static atomic_int keepers;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int (*real_open)(const char *, sqlite3 **, int, const char *);
static int (*real_close)(sqlite3 *);
static int (*real_prepare)(sqlite3 *, const char *, int, unsigned, sqlite3_stmt **, const char **);
static int (*real_finalize)(sqlite3_stmt *);

static void find_once(void) {
    real_open = dlsym(RTLD_NEXT, "sqlite3_open_v2");
    real_close = dlsym(RTLD_NEXT, "sqlite3_close_v2");
    real_prepare = dlsym(RTLD_NEXT, "sqlite3_prepare_v3");
    real_finalize = dlsym(RTLD_NEXT, "sqlite3_finalize");
}

// All below but the replaced functions: under the lock.

static int is_kept(const char *path) {
    for (int place = 0; place < most_paths; place++)
        if (paths[place] && !strcmp(paths[place], path)) return 1;
    return 0;
}

static connection_t *connection_of(sqlite3 *handle) {
    for (int place = 0; handle && place < most_connections; place++)
        if (connections[place].handle == handle) return &connections[place];
    return 0;
}

/// As `sqlite3_open_v2` leaves it; what `PRAGMA` changed for good, such as the size of the cache, its next owner sets again.
static int is_made_new(sqlite3 *handle) {
    if (!sqlite3_get_autocommit(handle)) sqlite3_exec(handle, "ROLLBACK", 0, 0, 0);
    sqlite3_progress_handler(handle, 0, 0, 0);
    sqlite3_wal_autocheckpoint(handle, 1000);
    sqlite3_busy_timeout(handle, 0);
    // It makes SQLite compile all statements again, so that who writes is spared it.
    sqlite3_stmt *statement = 0;
    int is_reader = !real_prepare(handle, "PRAGMA query_only", -1, 0, &statement, 0)
        && sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int(statement, 0);
    real_finalize(statement);
    if (is_reader) sqlite3_exec(handle, "PRAGMA query_only = OFF", 0, 0, 0);
    return sqlite3_get_autocommit(handle);
}

static void end(connection_t *connection) {
    for (int place = 0; place < connection->count; place++) {
        real_finalize(connection->statements[place].handle);
        free(connection->statements[place].text);
    }
    free(connection->statements);
    free(connection->path);
    // What it holds nobody reads again.
    sqlite3_db_config(connection->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
    real_close(connection->handle);
    *connection = (connection_t){0};
}

void faulty_vfs_keep(const char *path, int is_kept_now) {
    pthread_once(&once, find_once);
    pthread_mutex_lock(&lock);
    if (is_kept_now && !is_kept(path)) {
        for (int place = 0; place < most_paths; place++) {
            if (paths[place]) continue;
            paths[place] = strdup(path);
            atomic_fetch_add(&keepers, 1);
            break;
        }
    }
    for (int place = 0; !is_kept_now && place < most_paths; place++) {
        if (!paths[place] || strcmp(paths[place], path)) continue;
        free(paths[place]);
        paths[place] = 0;
    }
    for (int place = 0; !is_kept_now && place < most_connections; place++) {
        connection_t *connection = &connections[place];
        if (connection->handle && !connection->is_used && !strcmp(connection->path, path)) end(connection);
    }
    pthread_mutex_unlock(&lock);
}

int faulty_vfs_exchange(const char *path) {
    pthread_mutex_lock(&lock);
    int idle = 0, used = 0;
    for (int place = 0; place < most_connections; place++) {
        connection_t *connection = &connections[place];
        if (!connection->handle || strcmp(connection->path, path)) continue;
        if (connection->is_used) used++;
        else idle++;
    }
    for (int place = 0; place < most_connections && idle && !used; place++) {
        connection_t *connection = &connections[place];
        if (!connection->handle || strcmp(connection->path, path)) continue;
        sqlite3_file *file = 0;
        void volatile *index = 0;
        sqlite3_file_control(connection->handle, "main", SQLITE_FCNTL_FILE_POINTER, &file);
        if (file && file->pMethods && file->pMethods->iVersion >= 2
            && file->pMethods->xShmMap(file, 0, index_region, 0, &index) == SQLITE_OK && index)
            memset((void *)index, 0, index_header);
    }
    pthread_mutex_unlock(&lock);
    return idle && !used;
}

int sqlite3_open_v2(const char *path, sqlite3 **out, int flags, const char *vfs) {
    pthread_once(&once, find_once);
    if (!atomic_load(&keepers)) return real_open(path, out, flags, vfs);
    pthread_mutex_lock(&lock);
    int is_ours = (flags & SQLITE_OPEN_READWRITE) && is_kept(path);
    connection_t *free_place = 0;
    for (int place = 0; is_ours && place < most_connections; place++) {
        connection_t *connection = &connections[place];
        if (connection->handle && !connection->is_used && connection->flags == flags && !strcmp(connection->path, path)) {
            connection->is_used = 1;
            *out = connection->handle;
            pthread_mutex_unlock(&lock);
            return SQLITE_OK;
        }
        if (!connection->handle && !free_place) free_place = connection;
    }
    int code = real_open(path, out, flags, vfs);
    if (code == SQLITE_OK && free_place) {
        *free_place = (connection_t){.handle = *out, .path = strdup(path), .flags = flags, .is_used = 1};
        relay_hook_changes(*out, path);
    }
    pthread_mutex_unlock(&lock);
    return code;
}

int sqlite3_close_v2(sqlite3 *handle) {
    pthread_once(&once, find_once);
    if (!atomic_load(&keepers)) return real_close(handle);
    pthread_mutex_lock(&lock);
    connection_t *connection = connection_of(handle);
    if (connection && is_kept(connection->path) && is_made_new(handle)) {
        connection->is_used = 0;
    } else if (connection) {
        end(connection);
    }
    pthread_mutex_unlock(&lock);
    return connection ? SQLITE_OK : real_close(handle);
}

static unsigned long hash_of(const char *text) {
    unsigned long hash = 0xcbf29ce484222325;
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
    return hash;
}

int sqlite3_prepare_v3(
    sqlite3 *handle, const char *text, int size, unsigned flags, sqlite3_stmt **out, const char **tail) {
    pthread_once(&once, find_once);
    // Some pragmas act while they are compiled (sqlite.org/pragma.html).
    if (!atomic_load(&keepers) || size >= 0 || tail || !(flags & SQLITE_PREPARE_PERSISTENT)
        || !strncmp(text, "PRAGMA", 6))
        return real_prepare(handle, text, size, flags, out, tail);
    pthread_mutex_lock(&lock);
    connection_t *connection = connection_of(handle);
    unsigned long hash = connection ? hash_of(text) : 0;
    for (int place = 0; connection && place < connection->count; place++) {
        statement_t *statement = &connection->statements[place];
        if (statement->is_used || statement->hash != hash || strcmp(statement->text, text)) continue;
        statement->is_used = 1;
        *out = statement->handle;
        pthread_mutex_unlock(&lock);
        return SQLITE_OK;
    }
    pthread_mutex_unlock(&lock);
    int code = real_prepare(handle, text, size, flags, out, tail);
    if (!connection || code != SQLITE_OK || !*out) return code;
    pthread_mutex_lock(&lock);
    if ((connection = connection_of(handle))) {
        if (connection->count == connection->room) {
            connection->room = connection->room ? 2 * connection->room : 128;
            connection->statements = realloc(connection->statements, connection->room * sizeof(statement_t));
        }
        connection->statements[connection->count++] =
            (statement_t){.handle = *out, .text = strdup(text), .hash = hash, .is_used = 1};
    }
    pthread_mutex_unlock(&lock);
    return code;
}

int sqlite3_finalize(sqlite3_stmt *handle) {
    pthread_once(&once, find_once);
    if (!handle || !atomic_load(&keepers)) return real_finalize(handle);
    pthread_mutex_lock(&lock);
    connection_t *connection = connection_of(sqlite3_db_handle(handle));
    for (int place = 0; connection && place < connection->count; place++) {
        statement_t *statement = &connection->statements[place];
        if (statement->handle != handle) continue;
        int code = sqlite3_reset(handle);
        sqlite3_clear_bindings(handle);
        statement->is_used = 0;
        pthread_mutex_unlock(&lock);
        return code;
    }
    pthread_mutex_unlock(&lock);
    return real_finalize(handle);
}
