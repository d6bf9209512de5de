#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 300; label: mpi slow-asan slow-mpich
#
# The examples of hosts and of other particles: the same hash on 1 and 5 ranks
# (neutrons.c: 1 and 3), what is printed as conserved is, and the flux that
# neutrons.c compares with is the published one.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$here/cli.sh"
: "${STORM_MPIEXEC:?}" "${STORM_BUILD:?}"

for host in host host_given host_moving neutrons neutrinos; do
    all="1 5"
    [ "$host" != neutrons ] || all="1 3" # it takes seconds
    for ranks in $all; do
        "$STORM_MPIEXEC" -n "$ranks" "$STORM_BUILD/examples/$host" \
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
    "$scratch/host_moving.5"; }
[ -n "$(mass 1)" ] || fail "host_moving: no sums: $(cat "$scratch/host_moving.5")"
[ "$(mass 1 | cut -c 1-14)" = "$(mass 20 | cut -c 1-14)" ] ||
    fail "host_moving: mass $(mass 1), $(mass 20)"
[ "$(mass 1 | cut -d ' ' -f 2 | cut -c 1-11)" = \
    "$(mass 20 | cut -d ' ' -f 2 | cut -c 1-11)" ] ||
    fail "host_moving: energy $(mass 1), $(mass 20)"
grep -q '  20 .* packets 80000 with 20\.0000000000' "$scratch/host_moving.5" ||
    fail "host_moving: packets are lost"

# Column 4 of the table is printed for the first cube, column 5 for the second.
table=$here/../reference/kobayashi_1.csv
n=0
while IFS=, read -r x y z absorber scatterer _; do
    case $x in [0-9]*) ;; *) continue ;; esac
    n=$((n + 1))
    for flux in "$absorber" "$scatterer"; do
        grep -E "^ +$x +$y +$z " "$scratch/neutrons.3" |
            grep -qF "published $flux," ||
            fail "neutrons: $flux at $x, $y, $z is not in its table"
    done
done <"$table"
[ "$n" -eq 23 ] || fail "$table: $n points"
finish
