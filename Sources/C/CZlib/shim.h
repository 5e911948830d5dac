#ifndef REACH_CZLIB_SHIM_H
#define REACH_CZLIB_SHIM_H

#if !__has_include(<zlib.h>)
#error "zlib is missing: install zlib1g-dev (Debian), zlib-devel (Fedora) or zlib (Arch)"
#endif
#include <zlib.h>

#endif
