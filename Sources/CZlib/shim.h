#ifndef REACH_CZLIB_SHIM_H
#define REACH_CZLIB_SHIM_H

#include <zlib.h>

#endif
