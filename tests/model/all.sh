#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 1200; label: long
#
# All models, the largest included.
exec "$(dirname "$0")/run" -j 1
