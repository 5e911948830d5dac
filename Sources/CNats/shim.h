#ifndef REACH_CNATS_SHIM_H
#define REACH_CNATS_SHIM_H

#include <nats/nats.h>

#endif
