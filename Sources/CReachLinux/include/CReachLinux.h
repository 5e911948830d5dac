#ifndef REACH_LINUX_H
#define REACH_LINUX_H

/* What Swift's Glibc module lacks: whole headers, and calls that need _GNU_SOURCE, which a public header must not
   define. */

#include "reach_ethtool.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include "reach_ethtool.h"
