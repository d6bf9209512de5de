#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 180; label: mpi
#
# The binding for C++ on 1, 2 and 3 ranks, if this build has a compiler for it.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=../cli/cli.sh
. "$here/../cli/cli.sh"
# shellcheck source-path=SCRIPTDIR source=bindings.sh
. "$here/bindings.sh"

for program in cxx_host cxx_statuses; do
    path=$STORM_BUILD/tests/bindings/$program
    [ -x "$path" ] || skip "this build has no compiler for C++"
    for ranks in 1 2 3; do
        "$STORM_MPIEXEC" -n "$ranks" "$path" || fail "$program on $ranks ranks"
    done
done
[ $failures -eq 0 ] || exit 1
