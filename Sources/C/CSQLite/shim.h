// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sqlite3.h>

/// SQLITE_TRANSIENT is a cast of -1 to a function pointer, which Swift does not import.
static inline int relay_sqlite3_bind_text_copied(
    sqlite3_stmt *_Nonnull statement, int index, const void *_Nonnull text, int length) {
    return sqlite3_bind_text(statement, index, (const char *)text, length, SQLITE_TRANSIENT);
}

/// As above, for blobs.
static inline int relay_sqlite3_bind_blob_copied(
    sqlite3_stmt *_Nonnull statement, int index, const void *_Nonnull bytes, int length) {
    return sqlite3_bind_blob(statement, index, bytes, length, SQLITE_TRANSIENT);
}

/// An empty text has no address in Swift, and a null pointer would bind NULL; a literal is static by nature.
static inline int relay_sqlite3_bind_empty_text(sqlite3_stmt *_Nonnull statement, int index) {
    return sqlite3_bind_text(statement, index, "", 0, SQLITE_STATIC);
}

/// The same for an empty blob.
static inline int relay_sqlite3_bind_empty_blob(sqlite3_stmt *_Nonnull statement, int index) {
    return sqlite3_bind_zeroblob(statement, index, 0);
}

/// sqlite3_db_config is variadic. With this set, closing the last connection leaves the log where it is, so that a
/// store that is only read stays byte for byte as it was.
static inline int relay_sqlite3_keep_log_on_close(sqlite3 *_Nonnull database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

/// As above. "This option is used to enable or disable the enforcement of foreign key constraints"
/// (sqlite.org/c3ref/c_dbconfig_defensive.html). The pragma foreign_keys makes SQLite compile every statement of the
/// connection again, even where it changes nothing.
static inline int relay_sqlite3_enforce_foreign_keys(sqlite3 *_Nonnull database, int isOn) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_FKEY, isOn, (int *)0);
}

/// As above. Copied rows are restored as they are: triggers would repeat their effects. Dropping them would change the schema.
static inline int relay_sqlite3_enforce_triggers(sqlite3 *_Nonnull database, int isOn) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, isOn, (int *)0);
}

/// sqlite3_config is variadic. "When memory allocation statistics are disabled, [...] sqlite3_memory_used()" and the like do
/// not work (sqlite.org/c3ref/c_config_covering_index_scan.html); the relay does not use them.
static inline int relay_sqlite3_config_memory_statistics(int isOn) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, isOn);
}
