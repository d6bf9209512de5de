/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/interface.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* By its driver: /sys may show the interfaces of another name space. */
static bool is_bridge(const char *name)
{
    struct ethtool_drvinfo driver = {.cmd = ETHTOOL_GDRVINFO};
    struct ifreq request = {.ifr_data = (char *)&driver};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    strncpy(request.ifr_name, name, sizeof request.ifr_name - 1);
    bool known = ioctl(fd, SIOCETHTOOL, &request) == 0;
    close(fd);
    return known && strncmp(driver.driver, "bridge", sizeof driver.driver) == 0;
}

static bool may_take(const struct ifaddrs *at, const char *name)
{
    const unsigned works = IFF_UP | IFF_RUNNING;
    if (!at->ifa_addr || at->ifa_addr->sa_family != AF_INET ||
        (at->ifa_flags & works) != works)
        return false;
    if (*name)
        return strcmp(at->ifa_name, name) == 0;
    return !(at->ifa_flags & IFF_LOOPBACK) && !is_bridge(at->ifa_name);
}

uint32_t storm_interface_address(const char *name)
{
    struct ifaddrs *list = NULL;
    uint32_t address = *name ? 0 : htonl(INADDR_LOOPBACK);
    if (getifaddrs(&list) != 0)
        return address;
    const struct ifaddrs *at = list;
    while (at && !may_take(at, name))
        at = at->ifa_next;
    if (at) {
        struct sockaddr_in in;
        memcpy(&in, at->ifa_addr, sizeof in);
        address = in.sin_addr.s_addr;
    }
    freeifaddrs(list);
    return address;
}
