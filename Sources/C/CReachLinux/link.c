#include "reach_link.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Linux 5.5; older headers lack them. */
enum { alternative_name = 53, longest_name = 128 };

/* Returns the interface of the answer to a question for a link, or -errno. */
static int answer(int socket)
{
    union {
        struct nlmsghdr header;
        char bytes[16 << 10];
    } buffer;
    ssize_t count = recv(socket, &buffer, sizeof buffer, 0);
    if (count < 0) return -errno;
    if (!NLMSG_OK(&buffer.header, (size_t)count)) return -EBADMSG;
    if (buffer.header.nlmsg_type == NLMSG_ERROR) {
        struct nlmsgerr error;
        memcpy(&error, NLMSG_DATA(&buffer.header), sizeof error);
        return error.error < 0 ? error.error : -EBADMSG;
    }
    struct ifinfomsg link;
    memcpy(&link, NLMSG_DATA(&buffer.header), sizeof link);
    return buffer.header.nlmsg_type == RTM_NEWLINK ? link.ifi_index : -EBADMSG;
}

static int ask(const char *name, size_t length)
{
    struct {
        struct nlmsghdr header;
        struct ifinfomsg link;
        struct rtattr attribute;
        char name[longest_name];
    } question = {.header = {.nlmsg_type = RTM_GETLINK, .nlmsg_flags = NLM_F_REQUEST}};
    question.attribute.rta_type = alternative_name;
    question.attribute.rta_len = (unsigned short)RTA_LENGTH(length + 1);
    memcpy(question.name, name, length);
    question.header.nlmsg_len = (unsigned)(NLMSG_LENGTH(sizeof question.link) + RTA_ALIGN(question.attribute.rta_len));
    int made = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (made < 0) return -errno;
    int result = send(made, &question, question.header.nlmsg_len, 0) < 0 ? -errno : answer(made);
    close(made);
    return result;
}

unsigned reach_link_index(const char *name)
{
    size_t length = strlen(name);
    if (length < IF_NAMESIZE) return if_nametoindex(name);
    if (length >= longest_name) return 0;
    int result = ask(name, length);
    return result > 0 ? (unsigned)result : 0;
}
