#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 120; label: mpi slow-asan slow-mpich
# TEST args: all; timeout: 1800; label: long mpi slow-asan slow-mpich
#
# Matter that moves through meshes that move, in groups, and thick in part so
# that packets diffuse and ride with their cells; packets are remapped in every
# step: the state is the same on other ranks, over other backends, with any
# balance of work, with a partition of the host's after every step, and after a
# restart on other ranks. So it is on an octree and on a mesh from a file.
# Energy balances in every step, and momentum closes. Where packets do not
# diffuse, as matter is fast, that is said once. A mesh that
# loses its volume is an error on all ranks.
#
# With `all`: on 1, 2, 3, 5 and 8 ranks over each backend, also grey and with
# Compton scattering, and restarted on each; on other meshes, with other
# motions, in vacuum, on a few.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$here/cli.sh"
# shellcheck source-path=SCRIPTDIR source=same_bits.sh
. "$here/same_bits.sh"
: "${STORM_BUILD:?}"

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

# Thick in part, and slow: packets diffuse, and ride with cells that move.
sed 's/0, 6e9, -3e9/0, 2e9, -1e9/; s/9e9, 0, 0/2.5e9, 0, 0/
    s/coef: 8/coef: 300/; s/coef: 5/coef: 2000/' "$scratch/grey.yaml" \
    >"$scratch/thick.yaml"
echo 'acceleration: {method: auto}' >>"$scratch/thick.yaml"
# The same of groups, of which some fly.
sed 's/absorption: {coef: 300/&, E_exp: -1/; s/coef: 2000/&, E_exp: -2/' \
    "$scratch/thick.yaml" >"$scratch/mixed.yaml"
echo 'groups: {count: 8, min: 0.1, max: 20}' >>"$scratch/mixed.yaml"
# Scattering changes energies of photons, and is that of electrons at 0.3 c.
sed 's/absorption: {coef: 8/scattering_law: compton\n    &/' \
    "$scratch/drop.yaml" >"$scratch/compton.yaml"

# same ARGS...: of $deck with $sets; momentum closes as well.
same() {
    rm -rf "$scratch/new"
    # shellcheck disable=SC2086
    run run "$deck" --quiet --json - --out "$scratch/new" $sets "$@"
    look "$deck $sets $*" "$scratch/new"
    awk -F'[:,]' '/"momentum_balance"/ { n++; bad = !($2 <= 1e-15) }
        END { exit bad || n != 1 }' "$scratch/out" ||
        fail "$deck $sets $*: momentum does not close: $(cat "$scratch/out")"
}

# on DECK SETS: what follows is of this one.
on() {
    deck=$scratch/$1.yaml sets=$2 right=
}

octree="--set mesh.motion.kind=none --set mesh.kind=octree
    --set mesh.roots=[4,4,1] --set mesh.level=1 --set mesh.refine_levels=1"
move="--set mesh.motion.kind"
if [ "${1:-}" = all ]; then
    for name in grey drop thick mixed compton; do
        on $name ""
        every
        restarted "1 2 3 5 8"
    done
    for name in drop thick mixed; do
        on $name "$octree"
        every
        restarted "1 2 3 5 8"
    done
    for name in grey drop thick mixed; do
        on $name "$move=translate --set mesh.motion.velocity=[0,0,2e9]"
        same -n 1
        some
        restarted 5
        on $name "$move=none --set mesh.kind=cartesian
            --set mesh.cells=[9,9,2]"
        same -n 1
        some
        restarted 5
        # In vacuum; what a box leaves behind has escaped, with its momentum.
        sed '/^boundaries/,/z_hi/d' "$scratch/$name.yaml" \
            >"$scratch/$name-out.yaml"
        for rate in 2e9 -2e9; do
            on $name-out "$move=expand --set mesh.motion.rate=$rate"
            same -n 1
            some
            restarted 5
        done
    done
    finish
fi

for name in thick drop mixed; do
    on $name ""
    same -n 1
    same -n 3 --backend p2p --set balance.host=cells --set balance.every=1 \
        --set balance.threshold=1
    restarted 5
    on $name "$octree"
    same -n 2
    same -n 3 --set balance.every=1 --set balance.threshold=1
done

# Cells of any shape: a bent pipe, at 0.2 c.
"$STORM_BUILD/examples/write_mesh" "$scratch/pipe.h5" >/dev/null ||
    fail "write_mesh"
cp "$here/../../examples/decks/bent-pipe.yaml" "$scratch/pipe.yaml"
on pipe "--set mesh.file=$scratch/pipe.h5 --set time.steps=6
    --set materials.gas.velocity=[4e9,-4e9,1e9]"
same -n 1
same -n 3 --set balance.every=1 --set balance.threshold=1

# warned TEXT DECK SETS...: by a run on three ranks, once.
warned() {
    text=$1 deck=$scratch/$2.yaml
    shift 2
    run run "$deck" --out "$scratch/new" --overwrite -n 3 "$@"
    [ "$status" -eq 0 ] || fail "$text: $(cat "$scratch/err")"
    [ "$(grep -c "packets neither walk nor diffuse.*$text" \
        "$scratch/err")" -eq 1 ] || fail "$text: $(cat "$scratch/err")"
}
for method in ddmc random_walk; do
    warned "in [0-9]* of 160 cells, whose matter is faster than 0.1 c: they fly" \
        thick --set "acceleration.method=$method" \
        --set 'materials.drop.velocity=[3.1e9,0,0]'
done
for name in thick mixed; do
    run run "$scratch/$name.yaml" --out "$scratch/new" --overwrite -n 3 --json -
    grep -q "neither walk nor diffuse" "$scratch/err" && fail "$name: warned"
    sed -n '/"diffused"/,/}/p' "$scratch/out" |
        grep -q '"events": [1-9][0-9][0-9]' ||
        fail "$name: nothing diffuses: $(cat "$scratch/out")"
done

# A box that contracts more in each step, until nothing would be left of it.
run run "$scratch/drop.yaml" --out "$scratch/bad" -n 3 --quiet \
    --set 'mesh.motion={kind: expand, rate: -1e10}' --set time.growth=2 \
    --set 'boundaries={}'
[ "$status" -eq 1 ] || fail "no volume: exit status $status"
[ "$(grep -c 'the box would have no volume' "$scratch/err")" -eq 1 ] ||
    fail "no volume: $(cat "$scratch/err")"

finish
