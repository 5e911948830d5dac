#ifndef REACH_CEXPAT_SHIM_H
#define REACH_CEXPAT_SHIM_H

/* Debian builds expat with it; without it the header hides the limits on what entities may come to. */
#define XML_DTD 1
#if !__has_include(<expat.h>)
#error "expat is missing: install libexpat1-dev (Debian), expat-devel (Fedora) or expat (Arch)"
#endif
/* expat 2.9 has the positions of a document in 64 bits by functions of other names, and calls the old ones, which older
 * versions have alone, deprecated. */
#include <expat_external.h>
#undef XML_ATTR_DEPRECATED
#define XML_ATTR_DEPRECATED(message)
#include <expat.h>

#endif
