#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 120; label: mpi slow-asan slow-mpich
# TEST args: all; timeout: 600; label: long mpi slow-asan slow-mpich
#
# Matter that moves through meshes that move, grey and in groups, with packets
# that are remapped in every step: the state is the same on 1, 2, 3, 5 and 8
# ranks, over every backend, with any balance of work, with a partition of the
# host's after every step, and after a restart on other ranks. Energy balances
# and momentum closes in every step. A mesh that loses its volume is an error
# on all ranks.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$here/cli.sh"
all=${1:-}

cat >"$scratch/drop.yaml" <<END
title: drop
mesh:
  kind: voronoi
  box: {lo: [0, 0, 0], hi: [1, 1, 0.25]}
  points: 160
  lloyd: 1
  motion: {kind: vortex, axis: z, rate: 3e9}
materials:
  - name: gas
    absorption: {coef: 0.5}
    scattering: {coef: 1}
    heat_capacity: {coef: 1e14}
    temperature: 0.3
    velocity: [0, 6e9, -3e9]
  - name: drop
    absorption: {coef: 8, E_exp: -1}
    scattering: {coef: 5}
    heat_capacity: {coef: 1e14}
    temperature: 0.6
    velocity: [9e9, 0, 0]
groups: {count: 8, min: 0.1, max: 20}
regions:
  - {material: gas, shape: all}
  - {material: drop, shape: cylinder, axis: z, centre: [0.6, 0.5], radius: [0, 0.3]}
boundaries:
  x_lo: {kind: blackbody, temperature: 1, packets: 100}
  y_lo: {kind: reflect}
  y_hi: {kind: reflect}
  z_lo: {kind: periodic}
  z_hi: {kind: periodic}
time: {dt: 2e-11, steps: 6}
packets: {emit_per_cell: 3, min_per_cell: 1, max_per_cell: 8}
output: {every: 0, profile: {bins: 0}}
END
sed '/^groups/d; s/, E_exp: -1//' "$scratch/drop.yaml" >"$scratch/grey.yaml"

# look NAME DIR: the last run did well and every step of it balances, in energy
# and in momentum; its state is that of the first run.
look() {
    [ "$status" -eq 0 ] || fail "$1: exit status $status: $(cat "$scratch/err")"
    hash=$(hash_of)
    : "${right:=$hash}"
    [ "${hash:-none}" = "$right" ] || fail "$1: state $hash, not $right"
    awk -F, '/^#/ { next }
        !last { for (i = 1; i <= NF; i++) if ($i == "balance") last = i
                next }
        { n++; if ($last > 1e-13 || $last < -1e-13) bad = 1 }
        END { exit bad || n != 6 }' "$2/history.csv" ||
        fail "$1: does not balance: $(cat "$2/history.csv")"
    awk -F'[:,]' '/"momentum_balance"/ { n++; bad = !($2 <= 1e-15) }
        END { exit bad || n != 1 }' "$scratch/out" ||
        fail "$1: momentum does not close: $(cat "$scratch/out")"
}

# same ARGS...: of $deck with $sets
same() {
    rm -rf "$scratch/new"
    # shellcheck disable=SC2086
    run run "$deck" --quiet --json - --out "$scratch/new" $sets "$@"
    look "$deck $sets $*" "$scratch/new"
}

# check DECK SETS: the state of one rank; stopped after four steps on two ranks,
# continued on other ones.
check() {
    deck=$scratch/$1.yaml sets=$2 right=
    same -n 1
    same -n 3 --backend p2p --set balance.host=cells --set balance.every=1 \
        --set balance.threshold=1
    rm -rf "$scratch/part"
    # shellcheck disable=SC2086
    run run "$deck" --quiet --out "$scratch/part" -n 2 $sets \
        --set time.steps=4 --set output.checkpoint.every=4 \
        --set balance.host=cells
    [ "$status" -eq 0 ] || fail "4 steps: $(cat "$scratch/err")"
    run run --restart "$scratch/part" --quiet --json - -n 5 \
        --set time.steps=6 --set balance.every=1
    look "$1 $2 restarted" "$scratch/part"
    [ -z "$all" ] && return
    same -n 2 --batch 7 --set balance.weight=none
    same -n 5 --set balance.every=2 --set balance.threshold=1
    same -n 8 --set balance.host=cells
    same -n 3 --backend mpirma --no-shm --set balance.every=1
    if "$STORM_BIN" info | grep -q '^  ofi .* works$' &&
        ! "$STORM_BIN" info | grep -q '^  MPI  *MPICH'; then
        same -n 3 --backend ofi --no-shm --provider 'tcp;ofi_rxm'
        same -n 2 --backend ofi --no-shm --provider shm --ring-slots 1 --batch 1
    fi
}

check grey ""
grey=$right
check drop ""
[ "$right" != "$grey" ] || fail "groups do not matter"
if [ -n "$all" ]; then
    move="--set mesh.motion.kind"
    for name in grey drop; do
        check "$name" "$move=translate --set mesh.motion.velocity=[0,0,2e9]"
        check "$name" "$move=none --set mesh.kind=cartesian
            --set mesh.cells=[9,9,2]"
        # In vacuum; what a box leaves behind has escaped, with its momentum.
        sed '/^boundaries/,/z_hi/d' "$scratch/$name.yaml" \
            >"$scratch/$name-out.yaml"
        check "$name-out" "$move=expand --set mesh.motion.rate=2e9"
        check "$name-out" "$move=expand --set mesh.motion.rate=-2e9"
    done
fi

# A box that contracts more in each step, until nothing would be left of it.
run run "$scratch/drop.yaml" --out "$scratch/bad" -n 3 --quiet \
    --set 'mesh.motion={kind: expand, rate: -1e10}' --set time.growth=2 \
    --set 'boundaries={}'
[ "$status" -eq 1 ] || fail "no volume: exit status $status"
[ "$(grep -c 'the box would have no volume' "$scratch/err")" -eq 1 ] ||
    fail "no volume: $(cat "$scratch/err")"

finish
