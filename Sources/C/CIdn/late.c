#include "CIdn.h"

#include "reach_late.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

/* The declarations of idn2.h. The header is not included, since these are all that is used of libidn2, and its package for
 * development would be needed for them alone. */
static struct {
    int (*idn2_lookup_u8)(const uint8_t *, uint8_t **, int);
    void (*idn2_free)(void *);
    const char *(*idn2_strerror)(int);
} late;

enum {
    NFC_INPUT = 1,
    TRANSITIONAL = 4,
    NONTRANSITIONAL = 8,
    DISALLOWED = -304,
};

#define FUNCTION(name) {library, #name, &late.name}

static const char library[] = "libidn2.so.0";
static const struct reach_late_function functions[] = {
    FUNCTION(idn2_lookup_u8),
    FUNCTION(idn2_free),
    FUNCTION(idn2_strerror),
};

static char missing[256];

static void load(void)
{
    reach_bind_late(functions, sizeof functions / sizeof functions[0], missing, sizeof missing);
}

/* Whether UTS 46 maps a character of the name to something else if its processing is transitional: the sharp s, the final
 * sigma and the joiners. */
static int has_deviation(const char *name)
{
    static const char *const deviations[] = {"\u00df", "\u1e9e", "\u03c2", "\u200c", "\u200d"};
    for (size_t i = 0; i < sizeof deviations / sizeof deviations[0]; i++) {
        if (strstr(name, deviations[i]) != NULL)
            return 1;
    }
    return 0;
}

int reach_idn_ascii(const char *name, char *buffer, size_t size, const char **reason)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    if (missing[0] != '\0') {
        *reason = missing;
        return REACH_IDN_MISSING;
    }
    uint8_t *found = NULL;
    int code = late.idn2_lookup_u8((const uint8_t *)name, &found, NFC_INPUT | NONTRANSITIONAL);
    /* IDNA 2008 has no symbols, but browsers and curl know names with emoji. libidn2 leaves this test out only where its
     * processing is transitional; of these names the other processing makes the same. */
    if (code == DISALLOWED && !has_deviation(name))
        code = late.idn2_lookup_u8((const uint8_t *)name, &found, NFC_INPUT | TRANSITIONAL);
    if (code != 0) {
        *reason = late.idn2_strerror(code);
        return REACH_IDN_REFUSED;
    }
    size_t length = strlen((const char *)found);
    if (length < size)
        memcpy(buffer, found, length + 1);
    late.idn2_free(found);
    if (length < size)
        return REACH_IDN_DONE;
    *reason = "domain name is too long";
    return REACH_IDN_REFUSED;
}
