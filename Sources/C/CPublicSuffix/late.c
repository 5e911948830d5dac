/* The functions of libpsl that reach uses, bound at their first call, as CCurl/late.c binds libcurl's. The declarations are
 * those of the header; each name is defined by a function of this file, hidden from other libraries. The linker reports a
 * function that is missing here. */

#include "CPublicSuffix.h"

#include "reach_late.h"

/* FUNCTION(result, name, parameters, arguments) */
#define FUNCTIONS                                                                                                      \
    FUNCTION(psl_ctx_t *, psl_latest, (const char *a), (a))                                                            \
    FUNCTION(int, psl_is_public_suffix2, (const psl_ctx_t *a, const char *b, int c), (a, b, c))

static struct {
#define FUNCTION(result, name, parameters, arguments) __typeof__(&name) name;
    FUNCTIONS
#undef FUNCTION
} late;

static const char library_name[] = "libpsl.so.5";

static const struct reach_late_function functions[] = {
#define FUNCTION(result, name, parameters, arguments) {library_name, #name, &late.name},
    FUNCTIONS
#undef FUNCTION
};

static char missing[256];

static void load(void)
{
    reach_bind_late(functions, sizeof functions / sizeof functions[0], missing, sizeof missing);
}

REACH_LATE_DOOR(reach_psl_missing, "libpsl")

/* The functions are hidden: otherwise libcurl, which uses libpsl too, would call these instead of its own. */

#define FUNCTION(result, name, parameters, arguments)                                                                  \
    __attribute__((visibility("hidden"))) result name parameters                                                       \
    {                                                                                                                  \
        need();                                                                                                        \
        return late.name arguments;                                                                                    \
    }
FUNCTIONS
#undef FUNCTION
