// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "faulty_vfs.h"

#include "changed_rows.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

// Which rows of a store were written since somebody asked last, as SQLite's own hook tells it (sqlite.org/c3ref/preupdate_blobwrite.html):
// for tables without a rowid, too, and for what triggers write. A SQLite that was built without it knows nothing: then all may have changed.

enum { most_stores = 64, most_tables = 16, most_numbers = 32, no_number = -3 };

typedef struct {
    char name[32];
    int column, is_counted;
} table_t;

typedef struct {
    char *path;
    table_t tables[most_tables];
    int table_count, is_hooked, are_all;
    int count;
    long long numbers[most_numbers];
    /// How many rows of the tables that are counted were written.
    long long rows;
} notes_t;

static notes_t stores[most_stores];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
typedef void (*hook_t)(void *, sqlite3 *, int, char const *, char const *, sqlite3_int64, sqlite3_int64);
static void *(*set_hook)(sqlite3 *, hook_t, void *);
static int (*old_value)(sqlite3 *, int, sqlite3_value **);
static int (*new_value)(sqlite3 *, int, sqlite3_value **);

static void find_once(void) {
    set_hook = dlsym(RTLD_DEFAULT, "sqlite3_preupdate_hook");
    old_value = dlsym(RTLD_DEFAULT, "sqlite3_preupdate_old");
    new_value = dlsym(RTLD_DEFAULT, "sqlite3_preupdate_new");
}

/// Under the lock.
static notes_t *notes_of(const char *path) {
    for (int place = 0; place < most_stores; place++)
        if (stores[place].path && !strcmp(stores[place].path, path)) return &stores[place];
    return 0;
}

static void add(notes_t *notes, long long number) {
    for (int place = 0; place < notes->count; place++)
        if (notes->numbers[place] == number) return;
    if (notes->count == most_numbers) notes->are_all = 1;
    else notes->numbers[notes->count++] = number;
}

static void changes(void *owner, sqlite3 *handle, int operation, char const *schema, char const *name, sqlite3_int64 old_row,
    sqlite3_int64 new_row) {
    notes_t *notes = owner;
    table_t *table = 0;
    for (int place = 0; place < notes->table_count && !table; place++)
        if (!strcmp(notes->tables[place].name, name)) table = &notes->tables[place];
    if (!table) return;
    notes->rows += table->is_counted;
    if (table->column == no_number || notes->are_all) return;
    if (table->column == FAULTY_ANY_ROW) {
        notes->are_all = 1;
    } else if (table->column == FAULTY_ROW_ITSELF) {
        if (operation != SQLITE_INSERT) add(notes, old_row);
        if (operation != SQLITE_DELETE) add(notes, new_row);
    } else {
        sqlite3_value *value = 0;
        if (operation != SQLITE_INSERT && !old_value(handle, table->column, &value)) add(notes, sqlite3_value_int64(value));
        if (operation != SQLITE_DELETE && !new_value(handle, table->column, &value)) add(notes, sqlite3_value_int64(value));
    }
}

void relay_hook_changes(sqlite3 *handle, const char *path) {
    pthread_once(&once, find_once);
    pthread_mutex_lock(&lock);
    notes_t *notes = notes_of(path);
    if (notes && set_hook && old_value && new_value) {
        set_hook(handle, changes, notes);
        notes->is_hooked = 1;
    }
    pthread_mutex_unlock(&lock);
}

/// The place of a table among those of a path, made where there is none; 0: there is no room. Under the lock.
static table_t *table_of(const char *path, const char *name) {
    notes_t *notes = notes_of(path);
    for (int place = 0; !notes && place < most_stores; place++) {
        if (stores[place].path) continue;
        notes = &stores[place];
        *notes = (notes_t){.path = strdup(path)};
    }
    for (int place = 0; notes && place < notes->table_count; place++)
        if (!strcmp(notes->tables[place].name, name)) return &notes->tables[place];
    if (!notes || notes->table_count == most_tables) return 0;
    table_t *table = &notes->tables[notes->table_count++];
    strncpy(table->name, name, sizeof table->name - 1);
    table->column = no_number;
    return table;
}

void faulty_vfs_note_changes(const char *path, const char *name, int column) {
    pthread_mutex_lock(&lock);
    table_t *table = table_of(path, name);
    if (table) table->column = column;
    pthread_mutex_unlock(&lock);
}

int faulty_vfs_count_changes(const char *path, const char *name) {
    pthread_mutex_lock(&lock);
    table_t *table = table_of(path, name);
    if (table) table->is_counted = 1;
    pthread_mutex_unlock(&lock);
    return table != 0;
}

long long faulty_vfs_counted_changes(const char *path) {
    pthread_mutex_lock(&lock);
    notes_t *notes = notes_of(path);
    long long count = notes && notes->is_hooked ? notes->rows : -1;
    pthread_mutex_unlock(&lock);
    return count;
}

void faulty_vfs_forget_changes(const char *path) {
    pthread_mutex_lock(&lock);
    notes_t *notes = notes_of(path);
    if (notes) {
        free(notes->path);
        *notes = (notes_t){0};
    }
    pthread_mutex_unlock(&lock);
}

int faulty_vfs_changes(const char *path, long long *numbers, int room) {
    pthread_mutex_lock(&lock);
    notes_t *notes = notes_of(path);
    int count = notes && notes->is_hooked && !notes->are_all && notes->count <= room ? notes->count : -1;
    for (int place = 0; place < count; place++) numbers[place] = notes->numbers[place];
    if (notes) notes->are_all = notes->count = 0;
    pthread_mutex_unlock(&lock);
    return count;
}
