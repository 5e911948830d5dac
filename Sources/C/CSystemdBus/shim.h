#ifndef REACH_CSYSTEMDBUS_SHIM_H
#define REACH_CSYSTEMDBUS_SHIM_H

#if !__has_include(<systemd/sd-bus.h>)
#error "libsystemd is missing: install libsystemd-dev (Debian), systemd-devel (Fedora) or systemd-libs (Arch)"
#endif
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>

#endif
