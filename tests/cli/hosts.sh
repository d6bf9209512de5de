#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 120; label: mpi slow-asan slow-mpich
#
# The examples of hosts: the same hash on one rank and on three, and what is
# printed as conserved is. (They run on 1, 2 and 5 as tests of their own.)
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$here/cli.sh"
: "${STORM_MPIEXEC:?}" "${STORM_BUILD:?}"

for host in host_given host_moving; do
    for ranks in 1 3; do
        "$STORM_MPIEXEC" -n $ranks "$STORM_BUILD/examples/$host" \
            >"$scratch/$host.$ranks" 2>"$scratch/err" ||
            fail "$host on $ranks ranks: $(cat "$scratch/err")"
        grep -q 'hash' "$scratch/$host.$ranks" || fail "$host: no hash"
        [ "$(grep 'hash' "$scratch/$host.$ranks")" = \
            "$(grep 'hash' "$scratch/$host.1")" ] ||
            fail "$host: another hash on $ranks ranks"
    done
done

# The gas of host_moving at the first and the last step; its packets.
mass() { sed -n "s/^ *$1  mass \([0-9.]*\)  gas \([0-9.]*\) .*/\1 \2/p" \
    "$scratch/host_moving.3"; }
[ -n "$(mass 1)" ] || fail "host_moving: no sums: $(cat "$scratch/host_moving.3")"
[ "$(mass 1 | cut -c 1-14)" = "$(mass 20 | cut -c 1-14)" ] ||
    fail "host_moving: mass $(mass 1), $(mass 20)"
[ "$(mass 1 | cut -d ' ' -f 2 | cut -c 1-11)" = \
    "$(mass 20 | cut -d ' ' -f 2 | cut -c 1-11)" ] ||
    fail "host_moving: energy $(mass 1), $(mass 20)"
grep -q '  20 .* packets 80000 with 20\.0000000000' "$scratch/host_moving.3" ||
    fail "host_moving: packets are lost"
finish
