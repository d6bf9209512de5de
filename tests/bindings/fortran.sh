#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 180; label: mpi
#
# The binding for Fortran on 1, 2 and 3 ranks, if this build has a compiler for it.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=../cli/cli.sh
. "$here/../cli/cli.sh"
# shellcheck source-path=SCRIPTDIR source=bindings.sh
. "$here/bindings.sh"

program=$STORM_BUILD/tests/bindings/fortran_host
[ -x "$program" ] || skip "this build has no compiler for Fortran"
for ranks in 1 2 3; do
    "$STORM_MPIEXEC" -n "$ranks" "$program" || fail "on $ranks ranks"
done
[ $failures -eq 0 ] || exit 1
