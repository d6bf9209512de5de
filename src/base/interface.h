/* SPDX-License-Identifier: BSD-3-Clause */
/* Which address of this machine other nodes may know. */
#ifndef STORM_BASE_INTERFACE_H
#define STORM_BASE_INTERFACE_H

#include <stdint.h>

/*
 * The IPv4 address, in network order, of the interface called `name`; 0 if
 * there is no such interface, or it is down or has no such address.
 *
 * Without a name ("") the first interface that is up and running, and neither
 * the loopback nor a bridge: bridges connect the containers of one machine, and
 * often have the same address on every node. The loopback if there is none.
 */
uint32_t storm_interface_address(const char *name);

#endif /* STORM_BASE_INTERFACE_H */
