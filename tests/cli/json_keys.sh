#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 120; label: slow-asan
#
# Every benchmark writes one JSON object with the keys that were promised,
# and nothing else on standard output; the same into a file.
set -u
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$(dirname "$0")/cli.sh"
need_python

# good BENCH OWN_KEYS ARGS...
good() {
    name=$1 keys=$2
    shift 2
    run bench "$name" "$@" --json -
    [ "$status" -eq 0 ] || fail "$name: exit status $status: \
$(cat "$scratch/err")"
    python3 - "$scratch/out" "$keys" <<'PYTHON' || fail "$name: JSON"
import json, sys

text = open(sys.argv[1]).read()
top = json.loads(text)
bad = []


def need(key, kinds, least=None):
    value = top.get(key)
    if not isinstance(value, kinds) or isinstance(value, bool):
        bad.append("%s is %r" % (key, value))
    elif least is not None and not value >= least:
        bad.append("%s is %r, below %r" % (key, value, least))


for key in "storm_version title backend protocol mpi provider device".split():
    need(key, str)
for key in """ranks cycles cells packets_created packets_finished
        packets_absorbed packets_escaped packets_census steps transfers
        bytes_sent batches growths iterations""".split():
    need(key, int, 0)
for key in """seconds steps_per_second_per_rank imbalance peak_memory_mb
        ring_memory_mb pinned_memory_mb""".split():
    need(key, (int, float), 0)
need("energy_balance", (int, float))
need("breakdown", dict)
need("memory_by_label_mb", dict)
sizes = list(top["memory_by_label_mb"].values())
if not sizes or sizes != sorted(sizes, reverse=True) or not sizes[-1] > 0:
    bad.append("memory_by_label_mb is %r" % sizes)
for key in "physics progress send_recv termination growth idle".split():
    if not top["breakdown"].get(key, -1) >= 0:
        bad.append("breakdown." + key)
need("state_hash", str)
if len(top["state_hash"]) != 16:
    bad.append("state_hash")
int(top["state_hash"], 16)
if abs(top["energy_balance"]) > 1e-13:
    bad.append("energy_balance is %g" % top["energy_balance"])
finished = (top["packets_census"] + top["packets_absorbed"]
            + top["packets_escaped"])
if top["packets_finished"] != finished:
    bad.append("packets_finished")
if top["packets_created"] != finished:
    bad.append("packets_created")
if not top["mpi"] or not top["seconds"] > 0:
    bad.append("mpi, seconds")
for key in sys.argv[2].split():
    if key not in top:
        bad.append("no " + key)
    elif (isinstance(top[key], float) and not top[key] > 0
          and not key.endswith("_error")):
        bad.append("%s is %g" % (key, top[key]))
for row in top.get("results", []):
    for key in """backend provider protocol batch ns_per_batch
            records_per_second latency_ns limit_ns_per_batch
            limit_ratio""".split():
        if key not in row:
            bad.append("results: no " + key)
print("\n".join(bad), file=sys.stderr)
sys.exit(1 if bad else 0)
PYTHON
}

good uniform "kernel_steps_per_second kernel_ratio dt_s shape \
    instructions_per_step cycles_per_step" \
    -n 2 --cells 512 --emit 2 --cycles 3 --timed 2 --kernel-seconds 0.01
good uniform "kernel_steps_per_second kernel_ratio dt_s lloyd \
    geometry_bytes_per_cell roof_steps_per_second roof_ratio" \
    -n 2 --mesh voronoi --lloyd 0 --cells 300 --emit 2 --cycles 3 --timed 2 \
    --kernel-seconds 0.01
grep -q '"lloyd": 0' "$scratch/out" || fail "--lloyd 0: is not what was done"
python3 - "$scratch/out" <<'PYTHON' || fail "uniform: no roof of 400 bytes a cell"
import json, sys

top = json.load(open(sys.argv[1]))
assert 160 < top["geometry_bytes_per_cell"] <= 400, top
assert top["roof_steps_per_second"] > 1e5 and top["roof_ratio"] < 2, top
PYTHON
good imc "kernel_steps_per_second kernel_ratio dt_s mesh \
    instructions_per_step cycles_per_step" \
    -n 2 --cells 300 --emit 2 --cycles 3 --timed 2
good imc "kernel_ratio groups" \
    -n 2 --cells 300 --emit 2 --cycles 3 --timed 2 --groups 30
grep -q '"groups": 30' "$scratch/out" || fail "--groups 30: is not what was done"
good voronoi "cells_per_second bytes_per_cell peak_bytes_per_cell \
    faces_per_cell volume_error closure_error geometry_hash ghost_ratio \
    parallel_cost rounds voropp_cells_per_second voropp_ratio limit_ratio" \
    -n 2 --cells 2000 --repeat 1 --distribution clustered
# voro++ is there, or it is not.
if ldd "$STORM_BIN" 2>/dev/null | grep -q 'libvoro++'; then
    grep -q '"voropp_ratio": [0-9]' "$scratch/out" ||
        fail "voronoi: not compared with voro++"
fi
good motion "points oversubscribed" --ranks 1,2 --cells 300 --cycles 2 --speed 1
good exchange "records_per_second records_per_cpu_second limit_ratio
    instructions_per_record cycles_per_record" \
    -n 3 --records 20000 --repeat 3
good termination \
    "seconds_median seconds_max seconds_median_after_10ms limit_ratio" \
    -n 2 --steps 20
good scaling "points mode cells_per_rank repeats oversubscribed" \
    --ranks 1,2 --cells-per-rank 200 --cycles 1 --crossings 3 --repeat 1 \
    --kernel-seconds 0.01
good breakdown "points repeats oversubscribed" --ranks 2 --backends shm \
    --deck "$(cd "$(dirname "$0")" && pwd)/good.yaml"
good ring results --batch 1,8 --seconds 0.01 --backends shm

# Into files; the picture comes with --out, and nothing without.
run bench uniform -n 2 --cells 512 --emit 2 --quiet --json - --out new/place \
    --kernel-seconds 0.01
[ "$status" -eq 0 ] || fail "--out: exit status $status"
python3 - "$scratch" <<'PYTHON' || fail "--out: files"
import json, sys
import xml.etree.ElementTree as tree

scratch = sys.argv[1]
here = json.load(open(scratch + "/cwd/new/place/summary.json"))
assert here == json.load(open(scratch + "/out"))
picture = tree.parse(scratch + "/cwd/new/place/density.svg").getroot()
assert picture.tag.endswith("svg")
assert len(picture.findall(".//{*}rect")) > 64
PYTHON

# Cells on a plane: the same picture whichever rank owns them. A cube of 8 cells
# a side shows a square of them.
for mesh in cartesian octree voronoi; do
    for n in 1 3; do
        run bench uniform -n $n --mesh $mesh --cells 512 --cycles 1 --quiet \
            --json - --out "$mesh-$n" --kernel-seconds 0.01
        [ "$status" -eq 0 ] || fail "--out, $mesh: exit status $status"
    done
    cmp "$scratch/cwd/$mesh-1/density.svg" "$scratch/cwd/$mesh-3/density.svg" ||
        fail "--out, $mesh: pictures differ"
done
[ "$(grep -c 'z$' "$scratch/cwd/cartesian-1/density.svg")" -eq 64 ] ||
    fail "--out, cartesian: not 64 polygons"
[ "$(grep -c 'z$' "$scratch/cwd/octree-1/density.svg")" -eq 64 ] ||
    fail "--out, octree: not 64 polygons"
[ "$(grep -c 'z$' "$scratch/cwd/voronoi-1/density.svg")" -gt 50 ] ||
    fail "--out, voronoi: too few polygons"
run bench exchange -n 2 --records 1000 --repeat 1 --json here.json
[ "$status" -eq 0 ] || fail "--json FILE: exit status $status"
[ -s "$scratch/cwd/here.json" ] || fail "--json FILE: no file"
grep -q "million records per second" "$scratch/out" ||
    fail "--json FILE: no table"
run bench exchange -n 2 --records 1000 --repeat 1 --json no/such/dir/x.json
[ "$status" -eq 2 ] || fail "file that cannot be: exit status $status"
[ "$(grep -c 'cannot write' "$scratch/err")" -eq 1 ] ||
    fail "file that cannot be: $(cat "$scratch/err")"

finish
