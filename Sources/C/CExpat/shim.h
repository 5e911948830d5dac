#ifndef REACH_CEXPAT_SHIM_H
#define REACH_CEXPAT_SHIM_H

/* Debian builds expat with it; without it the header hides the limits on what entities may come to. */
#define XML_DTD 1
#if !__has_include(<expat.h>)
#error "expat is missing: install libexpat1-dev (Debian), expat-devel (Fedora) or expat (Arch)"
#endif
#include <expat.h>

#endif
