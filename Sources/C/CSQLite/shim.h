#ifndef REACH_CSQLITE_SHIM_H
#define REACH_CSQLITE_SHIM_H

#if !__has_include(<sqlite3.h>)
#error "SQLite is missing: install libsqlite3-dev (Debian), sqlite-devel (Fedora) or sqlite (Arch)"
#endif
#include <sqlite3.h>

/* SQLITE_TRANSIENT is a cast of -1 to a function pointer, which Swift cannot import: these copy what they are given. */
static inline int reach_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, int count) {
    return sqlite3_bind_text(statement, index, text, count, SQLITE_TRANSIENT);
}

/* Before SQLite is used. It would count the bytes of its memory under a lock, which no one asks for. */
static inline int reach_sqlite_count_no_memory(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

static inline int reach_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    /* A null pointer would bind NULL instead of nothing. */
    return count == 0 ? sqlite3_bind_zeroblob(statement, index, 0)
                      : sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}

#endif
