#include <sys/epoll.h>
#include "reach_ethtool.h"
