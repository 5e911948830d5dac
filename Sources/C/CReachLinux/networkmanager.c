#include "reach_networkmanager.h"

#include "reach_late.h"

#include <errno.h>
#include <sys/types.h>

/* As in systemd/sd-bus.h, whose types are opaque. */
typedef struct sd_bus sd_bus;
typedef struct sd_bus_message sd_bus_message;
typedef struct sd_bus_creds sd_bus_creds;
enum { CREDS_EUID = 1 << 4 };

static int (*open_system)(sd_bus **);
static int (*set_timeout)(sd_bus *, uint64_t);
static int (*get_name_creds)(sd_bus *, const char *, uint64_t, sd_bus_creds **);
static int (*creds_euid)(sd_bus_creds *, uid_t *);
static sd_bus_creds *(*creds_unref)(sd_bus_creds *);
static int (*call_method)(
    sd_bus *, const char *, const char *, const char *, const char *, void *, sd_bus_message **, const char *, ...);
static int (*message_read)(sd_bus_message *, const char *, ...);
static sd_bus_message *(*message_unref)(sd_bus_message *);
static int (*get_trivial)(
    sd_bus *, const char *, const char *, const char *, const char *, void *, char, void *);
static sd_bus *(*flush_close)(sd_bus *);

static char missing[256];

static void load(void) {
    static const char library[] = "libsystemd.so.0";
    const struct reach_late_function functions[] = {
        {library, "sd_bus_open_system", &open_system},
        {library, "sd_bus_set_method_call_timeout", &set_timeout},
        {library, "sd_bus_get_name_creds", &get_name_creds},
        {library, "sd_bus_creds_get_euid", &creds_euid},
        {library, "sd_bus_creds_unref", &creds_unref},
        {library, "sd_bus_call_method", &call_method},
        {library, "sd_bus_message_read", &message_read},
        {library, "sd_bus_message_unref", &message_unref},
        {library, "sd_bus_get_property_trivial", &get_trivial},
        {library, "sd_bus_flush_close_unref", &flush_close},
    };
    reach_bind_late(functions, sizeof functions / sizeof *functions, missing, sizeof missing);
}

static const char service[] = "org.freedesktop.NetworkManager";

/* Whether root owns NetworkManager's name: reach-desktop, which offers the same, does not run as root. */
static int check_owner(sd_bus *bus) {
    sd_bus_creds *creds = NULL;
    int result = get_name_creds(bus, service, CREDS_EUID, &creds);
    if (result < 0) return result == -ENXIO ? -ENOENT : result;
    uid_t owner = 1;
    result = creds_euid(creds, &owner);
    creds_unref(creds);
    return result < 0 ? result : owner == 0 ? 0 : -ENOENT;
}

static int ask(sd_bus *bus, const char *interface) {
    sd_bus_message *reply = NULL;
    const char *device = NULL;
    uint32_t metered = 0;
    int result = call_method(
        bus, service, "/org/freedesktop/NetworkManager", service, "GetDeviceByIpIface", NULL, &reply, "s", interface);
    if (result >= 0) result = message_read(reply, "o", &device);
    if (result >= 0)
        result = get_trivial(
            bus, service, device, "org.freedesktop.NetworkManager.Device", "Metered", NULL, 'u', &metered);
    if (reply != NULL) message_unref(reply);
    return result < 0 ? result : metered > 4 ? -EINVAL : (int)metered;
}

int reach_networkmanager_metered(const char *interface, uint64_t patience_us) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    if (missing[0] != '\0') return -ENOSYS;
    sd_bus *bus = NULL;
    int result = open_system(&bus);
    if (result < 0) return result;
    set_timeout(bus, patience_us);
    result = check_owner(bus);
    if (result == 0) result = ask(bus, interface);
    flush_close(bus);
    return result;
}
