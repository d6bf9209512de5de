#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 1800; label: long
#
# A test fails for every mutant in tests/mutation/cases.
exec "$(dirname "$0")/run"
