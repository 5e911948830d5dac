/* toml++ for Swift: what a text in TOML 1.0 holds, and where each piece of it stands. */
#ifndef REACH_TOML_H
#define REACH_TOML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Values within values; toml++ refuses what is deeper. It sets no limit to the parts of a key: the caller does. */
#define REACH_TOML_NESTING_LIMIT 64

typedef struct reach_toml_document reach_toml_document;
/* Lives as long as its document. */
typedef struct reach_toml_node reach_toml_node;

typedef enum {
    REACH_TOML_STRING,
    REACH_TOML_INTEGER,
    REACH_TOML_FLOAT,
    REACH_TOML_BOOLEAN,
    /* A date, a time, or both. */
    REACH_TOML_MOMENT,
    REACH_TOML_ARRAY,
    REACH_TOML_TABLE,
    /* An array that [[headers]] make. */
    REACH_TOML_TABLES,
} reach_toml_kind;

/* UTF-8, without a zero at its end. */
typedef struct {
    const char *bytes;
    size_t count;
} reach_toml_text;

/* Both count from 1. */
typedef struct {
    uint32_t line;
    uint32_t column;
} reach_toml_place;

typedef void (*reach_toml_visitor)(
    void *context, reach_toml_text key, reach_toml_place place_of_key, const reach_toml_node *value);

/* Never NULL: a text with a mistake gives a document that holds the mistake. The bytes have to be UTF-8. */
reach_toml_document *reach_toml_parse(const char *bytes, size_t count);
void reach_toml_free(reach_toml_document *document);

/* The first mistake, after which toml++ reads no further; bytes is NULL where there is none. */
reach_toml_text reach_toml_mistake(const reach_toml_document *document, reach_toml_place *place);
/* Without a mistake, the table of all. */
const reach_toml_node *reach_toml_root(const reach_toml_document *document);

reach_toml_kind reach_toml_kind_of(const reach_toml_node *node);
reach_toml_place reach_toml_place_of(const reach_toml_node *node);

/* Each is for its own kind, and gives nothing or zero for another. */
reach_toml_text reach_toml_string(const reach_toml_node *node);
int64_t reach_toml_integer(const reach_toml_node *node);
double reach_toml_float(const reach_toml_node *node);
bool reach_toml_boolean(const reach_toml_node *node);
/* Calls visit with each entry of a table, in the order of their keys' bytes. */
void reach_toml_each_entry(const reach_toml_node *node, void *context, reach_toml_visitor visit);
/* Calls visit with each element of an array, in order, and with an empty key. */
void reach_toml_each_element(const reach_toml_node *node, void *context, reach_toml_visitor visit);

#ifdef __cplusplus
}
#endif

#endif
