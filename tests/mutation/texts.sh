#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 60
#
# The texts that tests/mutation/cases replaces are all in the source.
exec "$(dirname "$0")/run" --match
