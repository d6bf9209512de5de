#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 600; label: mpi slow-asan slow-mpich
#
# DECKRUN-2, H5-2, MATERIALS-1: every deck of examples/decks runs in a small form; its
# state, the sums of its materials and all that it writes are the same, bit for
# bit, on any number of ranks, over any backend, with any batch and any balance of
# work.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$here/cli.sh"
need_python
decks=$here/../../examples/decks

# same NAME "SETS" ARGS...: as the first run of NAME.
same() {
    name=$1 sets=$2
    shift 2
    rm -rf "$scratch/new"
    # shellcheck disable=SC2086
    run run "$decks/$name.yaml" $sets --quiet --json - --out "$scratch/new" "$@"
    [ "$status" -eq 0 ] || {
        fail "$name $*: exit status $status: $(cat "$scratch/err")"
        return
    }
    hash=$(hash_of)
    # Cells and volumes go with the results.
    sed -n '/"materials": /,/^  \]/p' "$scratch/out" >"$scratch/new/materials"
    [ "$(grep -c '"volume"' "$scratch/new/materials")" -gt 0 ] ||
        fail "$name $*: no materials: $(cat "$scratch/out")"
    # The resolved deck says what was overridden; the summary, how long it took;
    # the partition, whose cells are whose; the status, which process it was.
    (cd "$scratch/new" && rm -f summary.json deck.yaml partition.csv status.json)
    # HISTORY-1: up to the balance.
    till_balance "$scratch/new/history.csv" >"$scratch/history"
    mv "$scratch/history" "$scratch/new/history.csv"
    if [ ! -d "$scratch/$name" ]; then
        mv "$scratch/new" "$scratch/$name"
        reference=$hash
        return
    fi
    [ "${hash:-none}" = "$reference" ] ||
        fail "$name $*: $hash, not $reference"
    diff -r -x .lock "$scratch/$name" "$scratch/new" >"$scratch/diff" ||
        fail "$name $*: results differ: $(head -5 "$scratch/diff")"
}

# A wave through several ranks, new cuts of the mesh every second step.
small="--set time.steps=7 --set mesh.cells=[40,2,1]"
small="$small --set time.dt=2e-11 --set output.every=5"
same marshak "$small" -n 1
same marshak "$small" -n 5 --set balance.every=2
same marshak "$small" -n 3 --backend p2p --batch 7 --set balance.weight=none
same marshak "$small" -n 2 --backend mpirma --no-shm --protocol paper \
    --ring-slots 8 --batch 1 --set balance.weight=cells

# Density in the laws, as if it were in the coefficients: powers of two, without
# rounding.
rm -rf "$scratch/marshak"
small="--set time.steps=4 --set mesh.cells=[40,2,1] --set output.every=4"
laws="--set materials.0.density=2 --set materials.0.absorption.rho_exp=1"
laws="$laws --set materials.0.heat_capacity.rho_exp=2"
same marshak "$small $laws" -n 1
laws="--set materials.0.absorption.coef=600"
laws="$laws --set materials.0.heat_capacity.coef=12e15"
# shellcheck disable=SC2086
run run "$decks/marshak.yaml" $small $laws --quiet --out "$scratch/new" -n 2 \
    --overwrite
cmp -s "$scratch/new/profile-4.csv" "$scratch/marshak/profile-4.csv" ||
    fail "marshak: density 2 is not that in the coefficients"

# A cylinder, outside, parts of a wall, empty cells.
small="--set time.steps=4 --set mesh.kind=cartesian --set mesh.cells=[1,9,9]"
small="$small --set mesh.edges.x=[0,0.1,0.15,0.3,0.5,0.8,1.1,1.25,1.35,1.4]"
small="$small --set output.profile.bins=cells"
small="$small --set boundaries.x_lo.1.packets=500 --set time.dt=2e-11"
small="$small --set output.every=3"
same hohlraum "$small" -n 1
same hohlraum "$small" -n 3 --backend p2p --set balance.host=cells \
    --set balance.threshold=1

# Beams, points and shells.
small="--set time.steps=3 --set mesh.cells=[10,5,5] --set output.every=3"
same sources "$small" -n 1
same sources "$small" -n 3 --set balance.every=1

# Corners, parts of a wall.
small="--set time.steps=6 --set mesh.cells=[35,20,1] --set output.every=3"
small="$small --set boundaries.x_lo.1.packets=500"
same crooked-pipe "$small" -n 1
same crooked-pipe "$small" -n 3 --set balance.every=2

# Numbers of packets by error.
rm -rf "$scratch/crooked-pipe"
small="$small --set packets.steer=error"
same crooked-pipe "$small" -n 1
same crooked-pipe "$small" -n 3 --set balance.every=1

# Random walk, also for packets that are absorbed as a whole.
small="--set time.steps=2 --set packets.emit_per_cell=3"
same thick-slab "$small" -n 1
same thick-slab "$small" -n 2 --set balance.every=1

small="--set time.steps=2 --set packets.emit_per_cell=3"
same thick-groups "$small" -n 1
same thick-groups "$small" -n 3 --set balance.every=1

# Groups, also in the dumps, with moments of the radiation.
small="--set time.steps=5 --set mesh.cells=[20,1,1] --set groups.count=8"
small="$small --set boundaries.x_lo.packets=100 --set output.every=3"
small="$small --set output.groups=true"
small="$small --set output.moments=[flux,pressure,momentum,events]"
same multigroup-slab "$small" -n 1
same multigroup-slab "$small" -n 3 --set balance.every=2
for array in radiation_energy_group_0 radiation_energy_group_7 flux_x flux_z \
    pressure_xx pressure_zx momentum_x momentum_z events_crossing \
    events_escape; do
    grep -q "fields-3.h5:/$array<" "$scratch/multigroup-slab/fields.xdmf" ||
        fail "multigroup-slab: no $array"
done
# Profiles have them as well: groups add up to all radiation, which flows in.
awk -F, '/^#/ { next }
    !n { for (i = 1; i <= NF; i++) { name[i] = $i; n++ }; next }
    { all = sum = groups = flux = pressure = 0
      for (i = 1; i <= n; i++) {
          if (name[i] == "radiation_energy") all = $i
          if (name[i] ~ /^radiation_energy_group_/) { sum += $i; groups++ }
          if (name[i] == "flux_x") flux = $i
          if (name[i] ~ /^pressure_(xx|yy|zz)$/) pressure += $i
      }
      if (groups != 8 || NF != n) wrong = 1
      if ((sum - all) ^ 2 > 1e-16 * all ^ 2) wrong = 1
      if ((pressure - all) ^ 2 > 1e-16 * all ^ 2) wrong = 1
      if (rows++ == 0 && !(flux > 0)) wrong = 1 }
    END { exit wrong || rows == 0 }' "$scratch/multigroup-slab/profile-3.csv" ||
    fail "multigroup-slab: groups do not add up in the profile"
# Events by kind add up, in each step and in the summary.
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; next }
    { sum = 0
      for (i = 1; i <= NF; i++)
          if (name[i] == "events") all = $i
          else if (name[i] ~ /^events_/) { sum += $i; n++ }
      if (sum != all || all == 0) wrong = 1 }
    END { exit wrong || n != 5 * 9 }' "$scratch/multigroup-slab/history.csv" ||
    fail "multigroup-slab: events of steps do not add up"
awk -F'[:,]' '/"steps"/ { all = $2 }
    /"events": \{/ { inside = 1; next }
    inside && /}/ { inside = 0 }
    inside { sum += $2 }
    END { exit !(sum > 0 && sum == all) }' "$scratch/out" ||
    fail "multigroup-slab: events do not add up: $(cat "$scratch/out")"

# Sources, periodic walls, no comb.
small="--set time.steps=5 --set mesh.cells=[30,1,1] --set sources.0.packets=300"
small="$small --set packets.emit_per_cell=5"
same su-olson "$small" -n 1
same su-olson "$small" -n 3 --set balance.every=2
small="--set time.steps=5"
same infinite-medium "$small" -n 1
same infinite-medium "$small" -n 2
small="--set time.steps=5 --set mesh.kind=voronoi --set mesh.points=3"
rm -rf "$scratch/infinite-medium"
same infinite-medium "$small" -n 1
same infinite-medium "$small --set balance.every=2" -n 3
small="--set time.steps=5"
same equilibrium "$small" -n 1
same equilibrium "$small" -n 3
equilibrium=$reference
small="--set time.steps=2 --set sources.0.packets=3000"
same uniform-emission "$small" -n 1
same uniform-emission "$small" -n 2
same absorber "" -n 1
same absorber "" -n 2

# An octree, refined where materials meet.
small="--set time.steps=4 --set mesh.level=2"
same octree "$small" -n 1
same octree "$small" -n 3 --set balance.host=cells --set balance.every=2

# Meshes that move, with another partition between the steps and without.
small="--set mesh.points=300 --set mesh.lloyd=1 --set time.steps=5"
same vortex "$small" -n 1
same vortex "$small" -n 3 --set balance.every=1 --set balance.threshold=1
same expand "$small" -n 1
same expand "$small" -n 3 --backend p2p --set balance.host=cells \
    --set balance.every=2
same translate "$small" -n 1
same translate "$small" -n 2 --set balance.host=cells
# All cells, out at one wall of a periodic box and in at the other.
rm -rf "$scratch/vortex"
small="$small --set mesh.motion.kind=translate"
small="$small --set mesh.motion.velocity=[3e9,-1e9,0]"
for wall in x_lo x_hi y_lo y_hi; do
    small="$small --set boundaries.$wall.kind=periodic"
done
same vortex "$small" -n 1
same vortex "$small" -n 3 --set balance.host=cells --set balance.every=2
# MOTION-3: what a box leaves behind has escaped; the balance closes.
rm -rf "$scratch/expand"
small="--set mesh.points=300 --set mesh.lloyd=1 --set time.steps=5"
small="$small --set mesh.motion.rate=-1e9"
same expand "$small" -n 1
same expand "$small" -n 3
[ "$(sed -n 's/.*"outside": \([0-9]*\).*/\1/p' "$scratch/out")" -gt 0 ] ||
    fail "nothing left behind: $(cat "$scratch/out")"
# MOTION-2
run run "$decks/translate.yaml" --set mesh.points=400 --set time.steps=60 -n 2
[ "$status" -eq 1 ] || fail "beyond the wall: exit status $status"
[ "$(grep -c 'comes within a cell of a wall' "$scratch/err")" -eq 1 ] ||
    fail "beyond the wall: $(cat "$scratch/err")"
# A mesh from a file, and restart of it from the folder of its results.
same bent-pipe "" -n 1
same bent-pipe "" -n 3 --backend p2p --set balance.host=cells
run run "$decks/bent-pipe.yaml" -n 2 --set time.steps=7 --out "$scratch/part" \
    --set output.checkpoint.every=7 --quiet
[ "$status" -eq 0 ] || fail "bent-pipe, 7 steps: $(cat "$scratch/err")"
run run --restart "$scratch/part" --set time.steps=16 -n 3 --quiet --json -
hash=$(hash_of)
[ "${hash:-none}" = "$reference" ] ||
    fail "bent-pipe, restarted: $hash, not $reference: $(cat "$scratch/err")"
if [ -x "$STORM_BUILD/examples/write_mesh" ]; then
    "$STORM_BUILD/examples/write_mesh" "$scratch/pipe.h5" >"$scratch/said" ||
        fail "write_mesh: $(cat "$scratch/said")"
    rm -rf "$scratch/bent-pipe"
    same bent-pipe "--set mesh.file=$scratch/pipe.h5" -n 1
    same bent-pipe "--set mesh.file=$scratch/pipe.h5" -n 2
fi
# no_boundary STATUS ARGS...: there is no boundary 9, which is reported once.
no_boundary() {
    right=$1
    shift
    run "$@" "$decks/bent-pipe.yaml" --set 'boundaries.9={kind: reflect}'
    [ "$status" -eq "$right" ] || fail "$*, no boundary 9: status $status"
    [ "$(grep -c ': --set: boundaries.9: expected the number of a boundary of .*(1, 2, 3)' \
        "$scratch/err")" -eq 1 ] ||
        fail "$*, no boundary 9: $(cat "$scratch/err")"
}
no_boundary 2 check
no_boundary 2 run -n 2 --out "$scratch/nothing"
[ ! -e "$scratch/nothing" ] || fail "no boundary 9: there is a directory"
run check "$decks/bent-pipe.yaml" --set mesh.file=nothing.msh
[ "$status" -eq 2 ] || fail "no mesh file: exit status $status"
grep -q 'examples/decks/nothing.msh: No such file' "$scratch/err" ||
    fail "no mesh file: $(cat "$scratch/err")"

# Generators from a file; from the file that the run has written, too.
python3 - >"$scratch/points.csv" <<'PYTHON'
import random
random.seed(1)
print("x,y,z")
for i in range(200):
    x = 1.4 * random.random()
    print(x, *(1.3 * random.random() - 0.65 for d in "yz"), sep=",")
PYTHON
# POINTFILE-1: generators from files, the same mesh on any number of ranks.
small="--set time.steps=2 --set boundaries.x_lo.1.packets=100"
small="$small --set mesh.lloyd=0"
rm -rf "$scratch/hohlraum"
same hohlraum "$small --set mesh.points_file=$scratch/points.csv" -n 1
same hohlraum "$small --set mesh.points_file=$scratch/points.csv" -n 3
same hohlraum "$small --set mesh.points_file=$scratch/hohlraum/mesh.h5" -n 2
run run "$decks/hohlraum.yaml" --set mesh.points_file=nothing.csv -n 2
[ "$status" -eq 2 ] || fail "no points: exit status $status"
[ "$(grep -c 'nothing.csv: No such file' "$scratch/err")" -eq 1 ] ||
    fail "no points: $(cat "$scratch/err")"

# Another seed is another state.
run run "$decks/equilibrium.yaml" --set time.steps=5 --quiet --json - \
    --out "$scratch/new" --overwrite --set seed=2 -n 1
[ "$status" -eq 0 ] && [ "$(hash_of)" != "$equilibrium" ] ||
    fail "the seed does not matter"

# What the summary has; where results go; dumps at the right steps.
run run "$here/good.yaml" -n 2 --set output.times='[1.5e-12]' \
    --set time.growth=2
[ "$status" -eq 0 ] || fail "good.yaml: $(cat "$scratch/err")"
python3 - "$scratch/cwd/out/good" <<'PYTHON' || fail "good.yaml: results"
import json, os, sys

top = json.load(open(sys.argv[1] + "/summary.json"))
for key in """storm_version title backend protocol mpi provider ranks cycles
        cells packets_created packets_finished packets_absorbed packets_escaped
        packets_census steps transfers bytes_sent batches growths iterations
        seconds steps_per_second_per_rank breakdown imbalance energy_balance
        state_hash peak_memory_mb ring_memory_mb pinned_memory_mb time
        energy""".split():
    assert key in top, key
assert top["packets_created"] == top["packets_finished"]
assert abs(top["energy_balance"]) <= 1e-13
assert top["title"] == "good" and top["cycles"] == 3
assert [m["name"] for m in top["materials"]] == ["gas", "wall"]
assert sum(m["cells"] for m in top["materials"]) == top["cells"]
for volume in "volume", "shape_volume":
    assert abs(sum(m[volume] for m in top["materials"]) - 1) < 1e-12, volume
# 1e-12, then 2e-12 cut to 0.5e-12, then 4e-12 as if nothing had been cut
times = []
for step in range(4):
    lines = open("%s/profile-%d.csv" % (sys.argv[1], step)).read().split("\n")
    word = lines[0].split()
    assert word[:2] == ["#", "time"] and word[3] == "from", lines[0]
    times.append((float(word[4]), float(word[2])))
    assert len(lines) == 2 + 4 + 1
    rows = [[float(x) for x in line.split(",")] for line in lines[2:-1]]
    assert [r[0] for r in rows] == [0.125, 0.375, 0.625, 0.875]
    assert abs(sum(r[5] for r in rows) - 1) < 1e-12
    a = 1.3720172e14
    for r in rows:
        assert abs((r[3] / a) ** 0.25 - r[2]) < 1e-9 * (r[2] + 1e-30)
assert times[0] == (0, 0), times
for got, right in zip(times[1:], [(0, 1e-12), (1e-12, 1.5e-12),
                                  (1.5e-12, 5.5e-12)]):
    assert max(abs(g - r) for g, r in zip(got, right)) < 1e-24, times
PYTHON
grep -q '^  materials   gas: [0-9]* cells of [0-9.]* cm3 together, its shapes' \
    "$scratch/out" || fail "good.yaml: no materials: $(cat "$scratch/out")"
grep -q '^              wall: [0-9]* cells of ' "$scratch/out" ||
    fail "good.yaml: one material: $(cat "$scratch/out")"
rm -rf "$scratch/cwd/out"

# A place where nothing can be is reported once.
run run "$here/good.yaml" -n 2 --out /dev/null/x
[ "$status" -eq 1 ] || fail "no place for results: exit status $status"
[ "$(grep -c 'cannot write' "$scratch/err")" -eq 1 ] ||
    fail "no place for results: $(cat "$scratch/err")"

finish
