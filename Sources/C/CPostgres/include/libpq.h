// SPDX-License-Identifier: Apache-2.0
// The part of libpq that the store calls, found at run time: nothing of PostgreSQL is needed to build the relay, nor to run it
// on SQLite. Names, types and numbers are those of libpq-fe.h, which keeps them as long as the library is libpq.so.5.
#pragma once
#include <stddef.h>

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;
typedef struct pg_cancel PGcancel;

/// As in libpq-fe.h, with its order of fields.
typedef struct {
    char *_Nullable keyword, *_Nullable envvar, *_Nullable compiled, *_Nullable val, *_Nullable label, *_Nullable dispchar;
    int dispsize;
} PQconninfoOption;

/// As in libpq-fe.h, without the private fields at the end.
typedef struct {
    char *_Nonnull relname;
    int be_pid;
    char *_Nonnull extra;
} PGnotify;

typedef void (*PQnoticeReceiver)(void *_Nullable argument, const PGresult *_Nullable notice);

enum { CONNECTION_OK = 0 };
enum { PGRES_POLLING_FAILED = 0, PGRES_POLLING_READING = 1, PGRES_POLLING_WRITING = 2, PGRES_POLLING_OK = 3 };
enum { PGRES_EMPTY_QUERY = 0, PGRES_COMMAND_OK = 1, PGRES_TUPLES_OK = 2, PGRES_COPY_IN = 4 };
enum { PQTRANS_IDLE = 0 };
enum { PQERRORS_VERBOSE = 2 };
enum {
    PG_DIAG_SQLSTATE = 'C',
    PG_DIAG_MESSAGE_PRIMARY = 'M',
    PG_DIAG_TABLE_NAME = 't',
    PG_DIAG_CONSTRAINT_NAME = 'n'
};

/// Each function: its return type, its name, its parameters, and their names.
#define RELAY_LIBPQ(FUNCTION) \
    FUNCTION(int, PQlibVersion, (void), ()) \
    FUNCTION(PQconninfoOption *_Nullable, PQconninfoParse, (const char *_Nonnull text, char *_Nullable *_Nonnull message), \
             (text, message)) \
    FUNCTION(void, PQconninfoFree, (PQconninfoOption *_Nonnull options), (options)) \
    FUNCTION(PGconn *_Nullable, PQconnectStartParams, \
             (const char *_Nullable const *_Nonnull keywords, const char *_Nullable const *_Nonnull values, int expand), \
             (keywords, values, expand)) \
    FUNCTION(int, PQconnectPoll, (PGconn *_Nonnull c), (c)) \
    FUNCTION(void, PQfinish, (PGconn *_Nonnull c), (c)) \
    FUNCTION(int, PQstatus, (const PGconn *_Nonnull c), (c)) \
    FUNCTION(int, PQtransactionStatus, (const PGconn *_Nonnull c), (c)) \
    FUNCTION(int, PQserverVersion, (const PGconn *_Nonnull c), (c)) \
    FUNCTION(char *_Nullable, PQerrorMessage, (const PGconn *_Nonnull c), (c)) \
    FUNCTION(int, PQsocket, (const PGconn *_Nonnull c), (c)) \
    FUNCTION(int, PQbackendPID, (const PGconn *_Nonnull c), (c)) \
    FUNCTION(int, PQsslInUse, (PGconn *_Nonnull c), (c)) \
    FUNCTION(int, PQsetnonblocking, (PGconn *_Nonnull c, int isOn), (c, isOn)) \
    FUNCTION(int, PQsetErrorVerbosity, (PGconn *_Nonnull c, int verbosity), (c, verbosity)) \
    FUNCTION(PQnoticeReceiver _Nullable, PQsetNoticeReceiver, \
             (PGconn *_Nonnull c, PQnoticeReceiver _Nullable receiver, void *_Nullable argument), (c, receiver, argument)) \
    FUNCTION(PGcancel *_Nullable, PQgetCancel, (PGconn *_Nonnull c), (c)) \
    FUNCTION(int, PQcancel, (PGcancel *_Nonnull cancel, char *_Nonnull message, int size), (cancel, message, size)) \
    FUNCTION(void, PQfreeCancel, (PGcancel *_Nonnull cancel), (cancel)) \
    FUNCTION(int, PQsendQuery, (PGconn *_Nonnull c, const char *_Nonnull text), (c, text)) \
    FUNCTION(int, PQsendQueryParams, \
             (PGconn *_Nonnull c, const char *_Nonnull text, int count, const unsigned *_Nullable types, \
              const char *_Nullable const *_Nullable values, const int *_Nullable lengths, const int *_Nullable formats, \
              int isBinary), \
             (c, text, count, types, values, lengths, formats, isBinary)) \
    FUNCTION(int, PQsendPrepare, \
             (PGconn *_Nonnull c, const char *_Nonnull name, const char *_Nonnull text, int count, \
              const unsigned *_Nullable types), \
             (c, name, text, count, types)) \
    FUNCTION(int, PQsendQueryPrepared, \
             (PGconn *_Nonnull c, const char *_Nonnull name, int count, const char *_Nullable const *_Nullable values, \
              const int *_Nullable lengths, const int *_Nullable formats, int isBinary), \
             (c, name, count, values, lengths, formats, isBinary)) \
    FUNCTION(int, PQsendDescribePrepared, (PGconn *_Nonnull c, const char *_Nonnull name), (c, name)) \
    FUNCTION(int, PQflush, (PGconn *_Nonnull c), (c)) \
    FUNCTION(int, PQconsumeInput, (PGconn *_Nonnull c), (c)) \
    FUNCTION(int, PQisBusy, (PGconn *_Nonnull c), (c)) \
    FUNCTION(PGresult *_Nullable, PQgetResult, (PGconn *_Nonnull c), (c)) \
    FUNCTION(int, PQputCopyData, (PGconn *_Nonnull c, const char *_Nonnull bytes, int count), (c, bytes, count)) \
    FUNCTION(int, PQputCopyEnd, (PGconn *_Nonnull c, const char *_Nullable refusal), (c, refusal)) \
    FUNCTION(PGnotify *_Nullable, PQnotifies, (PGconn *_Nonnull c), (c)) \
    FUNCTION(void, PQfreemem, (void *_Nullable memory), (memory)) \
    FUNCTION(int, PQresultStatus, (const PGresult *_Nonnull r), (r)) \
    FUNCTION(char *_Nullable, PQresultErrorField, (const PGresult *_Nonnull r, int field), (r, field)) \
    FUNCTION(int, PQnparams, (const PGresult *_Nonnull r), (r)) \
    FUNCTION(unsigned, PQparamtype, (const PGresult *_Nonnull r, int parameter), (r, parameter)) \
    FUNCTION(unsigned, PQftype, (const PGresult *_Nonnull r, int column), (r, column)) \
    FUNCTION(int, PQntuples, (const PGresult *_Nonnull r), (r)) \
    FUNCTION(int, PQnfields, (const PGresult *_Nonnull r), (r)) \
    FUNCTION(char *_Nonnull, PQgetvalue, (const PGresult *_Nonnull r, int row, int column), (r, row, column)) \
    FUNCTION(int, PQgetlength, (const PGresult *_Nonnull r, int row, int column), (r, row, column)) \
    FUNCTION(int, PQgetisnull, (const PGresult *_Nonnull r, int row, int column), (r, row, column)) \
    FUNCTION(char *_Nonnull, PQcmdTuples, (PGresult *_Nonnull r), (r)) \
    FUNCTION(void, PQclear, (PGresult *_Nullable r), (r))

struct relay_libpq {
#define RELAY_FIELD(returns, name, parameters, names) returns(*_Null_unspecified name) parameters;
    RELAY_LIBPQ(RELAY_FIELD)
#undef RELAY_FIELD
};

/// Empty until `relay_libpq_bind` has filled it.
extern struct relay_libpq relay_libpq;

/// Fills the table from a library that dlopen(3) has opened. Called once, before any of the functions below.
///
/// - Returns: NULL, or the first function that the library does not have; then the table stays as it was.
const char *_Nullable relay_libpq_bind(void *_Nonnull library);

// relay_PQfinish and so on: the functions as Swift calls them. A field of the table would be an optional there.
#define RELAY_CALL(returns, name, parameters, names) \
    static inline returns relay_##name parameters { return relay_libpq.name names; }
RELAY_LIBPQ(RELAY_CALL)
#undef RELAY_CALL
