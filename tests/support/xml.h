/* SPDX-License-Identifier: BSD-3-Clause */
/* Is a text well-formed XML, as far as our pictures use it? */
#ifndef STORM_TEST_XML_H
#define STORM_TEST_XML_H

#include <stdbool.h>

/* Tags that open are closed in order, attributes are quoted, and & begins an
 * entity. Tells on standard error where it is not. */
bool test_xml_well_formed(const char *text);

#endif /* STORM_TEST_XML_H */
