// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A SQLite VFS (sqlite.org/vfs.html) between SQLite and the real one that fails by script, as SQLite's own tests do
/// (sqlite.org/testing.html, 3.2 "I/O Error Testing"). It becomes the default VFS of the process and leaves every file alone
/// whose path nobody watches.
///
/// All functions may be called from any thread.

/// What can fail, as bits.
enum {
    FAULTY_READ = 1,      // xRead
    FAULTY_WRITE = 2,     // xWrite; half of the bytes arrive, as when a disk fills up
    FAULTY_SYNC = 4,      // xSync
    FAULTY_TRUNCATE = 8,  // xTruncate
    FAULTY_MAP = 16,      // xShmMap
    FAULTY_OPEN = 32,     // xOpen
    FAULTY_LOCK = 64,     // xShmLock, the writer's
};

/// Watches the files whose path begins with `prefix`, from their next opening on; `is_alone` where no other process opens them.
/// Returns a number for the other functions, or -1 when there is no room for another.
int faulty_vfs_watch(const char *_Nonnull prefix, int is_alone);

/// Nothing of these files fails any more, and the number is another's once they are closed.
void faulty_vfs_unwatch(int watch);

/// Of the calls of `operations`, those from the `first` (1 is the next one) fail, `count` of them, with the SQLite result
/// `code` and, as xGetLastError tells it, `system_error`.
void faulty_vfs_arm(int watch, int operations, long first, long count, int code, int system_error);

/// Nothing fails any more.
void faulty_vfs_disarm(int watch);

/// How many calls have failed since `arm`.
long faulty_vfs_failures(int watch);

/// How many calls of the armed operations have been made since `arm`, failed or not.
long faulty_vfs_calls(int watch);

/// What `julianday('now')` and its kin read on this thread from now on, in milliseconds since 1970; 0: the system's clock.
void faulty_vfs_set_time(long long milliseconds);

/// Connections to the file `path` that are closed from now on stay open in secret, with what SQLite has made of the schema and of
/// the statements, and are what the next `sqlite3_open_v2` of it gets; with 0 those that are left are closed, and what is in the
/// log stays there. For who opens one file again and again.
void faulty_vfs_keep(const char *_Nonnull path, int is_kept);

/// The bytes of a file whose connections are kept are about to be exchanged for others with the same schema, and its log to be
/// emptied: no connection will believe what it knows of the pages, as after a writing by another process. Returns 0, and the
/// connections must be closed first, where one is in use or none is kept.
int faulty_vfs_exchange(const char *_Nonnull path);

/// How often anything was written to the files of a watch, whatever came of it.
long faulty_vfs_writes(int watch);

/// Where the number is that `faulty_vfs_changes` tells.
enum {
    FAULTY_ROW_ITSELF = -1,  // the row's own
    FAULTY_ANY_ROW = -2,     // each row is of all numbers
};

/// Kept connections to the file `path` that are made from now on note whose rows of a table they write: the number is in its column
/// `column`, counted from 0. For one table after the other, before the first connection.
void faulty_vfs_note_changes(const char *_Nonnull path, const char *_Nonnull table, int column);

/// They count what they write to the rows of a table, too. Before the first connection. Returns 0 where there is no room for another table.
int faulty_vfs_count_changes(const char *_Nonnull path, const char *_Nonnull table);

/// How often a row of a table that is counted was written since the first of the connections was made, whether it was committed or not:
/// where that is as before, so are the tables. -1: it is not known.
long long faulty_vfs_counted_changes(const char *_Nonnull path);

/// Nothing is noted any more. After the last of the connections is closed.
void faulty_vfs_forget_changes(const char *_Nonnull path);

/// The numbers of what was written since the last call, whether it was committed or not, at most `room` of them. Returns how many they are;
/// -1: any may have been. One thread at a time may use the file.
int faulty_vfs_changes(const char *_Nonnull path, long long *_Nonnull numbers, int room);
