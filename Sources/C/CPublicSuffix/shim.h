#ifndef REACH_CPUBLICSUFFIX_SHIM_H
#define REACH_CPUBLICSUFFIX_SHIM_H

#if !__has_include(<libpsl.h>)
#error "libpsl is missing: install libpsl-dev (Debian), libpsl-devel (Fedora) or libpsl (Arch)"
#endif
#include <libpsl.h>

/* PSL_TYPE_ANY: the section of the list for domains of registries, and the one for domains of companies that rent out
 * names below theirs. */
static inline int reach_psl_is_suffix(const psl_ctx_t *list, const char *domain)
{
    return psl_is_public_suffix2(list, domain, PSL_TYPE_ANY);
}

#endif
