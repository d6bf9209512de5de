#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 600; label: mpi slow-asan slow-mpich
#
# The examples of hosts and of other particles: the same hash on 1 and 5 ranks
# (neutrons.c: 1 and 3, host_shock.c: 1, 2 and 3), what is printed as conserved
# is, host_moving.c continues from a checkpoint on another number of ranks, and
# the flux that neutrons.c compares with is the published one.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$here/cli.sh"
: "${STORM_MPIEXEC:?}" "${STORM_BUILD:?}"

for host in host host_given host_moving host_shock neutrons neutrinos; do
    all="1 5"
    [ "$host" != neutrons ] || all="1 3" # it takes seconds
    [ "$host" != host_moving ] || all="1 2 3 5"
    [ "$host" != host_shock ] || all="1 2 3"
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

# host_moving fails if energy or momentum do not close to 1e-13. What it prints
# is the same on any number of ranks, adds up to its digits, and radiation, gas
# and walls have exchanged a tenth of the energy and some momentum.
for ranks in 2 3 5; do
    cmp "$scratch/host_moving.1" "$scratch/host_moving.$ranks" ||
        fail "host_moving: another table on $ranks ranks"
done
awk '/^ *[0-9]+ / {
        energy = $4 + $5 + $6
        momentum = $8 + $9 + $10 + $11
        size = ($8 ^ 2 + $9 ^ 2 + $10 ^ 2 + $11 ^ 2) ^ 0.5
        if (!n++) { mass = $3; first = energy; start = momentum; gas = $4 }
        if ($3 != mass || (energy - first) ^ 2 > (3e-6 * first) ^ 2 ||
            (momentum - start) ^ 2 > (3e-6 * size) ^ 2) bad = 1
        moved = $4 - gas > 0.05 * first && $6 > 0.01 * first &&
            $8 > 1e6 && $10 < -1e5 && $11 < -1e6
    }
    END { exit bad || n != 13 || !moved }' "$scratch/host_moving.1" ||
    fail "host_moving: sums change: $(cat "$scratch/host_moving.1")"

# A checkpoint of three ranks, on two and on five.
"$STORM_MPIEXEC" -n 3 "$STORM_BUILD/examples/host_moving" steps=5 \
    save="$scratch/checkpoint" every=5 >/dev/null || fail "host_moving: save"
for ranks in 2 5; do
    "$STORM_MPIEXEC" -n "$ranks" "$STORM_BUILD/examples/host_moving" \
        load="$scratch/checkpoint-5" >"$scratch/again" ||
        fail "host_moving: load on $ranks ranks"
    [ "$(tail -n 7 "$scratch/host_moving.1" | head -n 6)" = \
        "$(tail -n 7 "$scratch/again" | head -n 6)" ] ||
        fail "host_moving: another table after a restart on $ranks ranks"
    [ "$(grep -o 'hash.*' "$scratch/host_moving.1")" = \
        "$(grep -o 'hash.*' "$scratch/again")" ] ||
        fail "host_moving: another hash after a restart on $ranks ranks"
done

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
