#include "CReachLinux.h"
