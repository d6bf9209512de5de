#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 20
#
# The tables of base/math.h are those that tests/reference/math_tables.py
# computes.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
command -v python3 >/dev/null || exit 77
python3 "$root/tests/reference/math_tables.py" --check
