#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 120; label: mpi slow-asan slow-mpich
#
# Scaling and breakdown: all points are there, do the work they should, follow
# from each other, agree on the state, and come with a picture.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$here/cli.sh"
need_python

small="--cells-per-rank 400 --emit 5 --cycles 3 --timed 2 --repeat 2"
small="$small --backends shm,p2p --progress never --quiet --kernel-seconds 0.01"

# scaling MODE RANKS ARGS...
scaling() {
    mode=$1 ranks=$2
    shift 2
    # shellcheck disable=SC2086
    run bench scaling --mode "$mode" --ranks "$ranks" $small --json - \
        --out "$mode" "$@"
    [ "$status" -eq 0 ] ||
        fail "$mode: exit status $status: $(cat "$scratch/err")"
    cores=$(getconf _NPROCESSORS_ONLN)
    python3 - "$scratch" "$mode" "$ranks" "$cores" <<'PYTHON' ||
import json, sys
import xml.etree.ElementTree as tree

scratch, mode, ranks, cores = sys.argv[1:]
ranks = [int(n) for n in ranks.split(",")]
top = json.load(open(scratch + "/out"))
assert top == json.load(open("%s/cwd/%s/summary.json" % (scratch, mode)))
points = top["points"]
by = {(p["ranks"], p["backend"]): p for p in points}
assert sorted(by) == sorted((n, b) for n in ranks for b in ("shm", "p2p"))
assert len(points) == len(by) and top["mode"] == mode
assert top["seconds"] > 0 and top["ranks"] == ranks[-1]
for (n, b), p in by.items():
    first, p2p = by[ranks[0], b], by[n, "p2p"]
    more = n / ranks[0]
    assert p["seconds"] > 0 and p["kernel_ratio"] > 0, p
    assert abs(2 * p["seconds_per_cycle"] / p["seconds"] - 1) < 1e-9, p
    assert p["median_seconds_per_cycle"] >= p["seconds_per_cycle"], p
    # Cells and time step of the definition.
    assert p["cells"] == 400 * n, p
    power = -4 / 3 if mode == "strong" else -1 / 3
    assert abs(p["dt_s"] / first["dt_s"] / more ** power - 1) < 1e-9, p
    # The same steps in all, or on each rank, but for chance and the walls.
    steps = p["steps"] / (1 if mode == "strong" else more)
    assert abs(steps / first["steps"] - 1) < 0.25, (p, first)
    ideal = first["seconds"] / (more if mode == "strong" else 1)
    assert abs(p["efficiency"] * p["seconds"] / ideal - 1) < 1e-9, p
    speedup = p2p["seconds"] / p["seconds"]
    assert abs(p["speedup_over_p2p"] / speedup - 1) < 1e-9, p
    assert p["state_hash"] == p2p["state_hash"], (p, p2p)
    assert p["steps"] == p2p["steps"], (p, p2p)
    assert p["oversubscribed"] == (n > int(cores)), p
    assert p["node_backend"] == "", p
    assert (p["transfers"] > 0) == (n > 1), p
assert top["oversubscribed"] == (ranks[-1] > int(cores))
assert len({p["state_hash"] for p in points}) == len(ranks)
svg = tree.parse("%s/cwd/%s/scaling.svg" % (scratch, mode)).getroot()
words = [t.text for t in svg.findall(".//{*}text")]
for word in ["shm", "p2p", "ideal", "ranks"] + [str(n) for n in ranks]:
    assert word in words, (word, words)
PYTHON
        fail "$mode: results"
}

scaling strong 1,2 --crossings 8
scaling weak 1,2,3 --crossings 4

# A time step instead of crossings, the other mesh, one backend, no p2p to be
# compared with; the table instead of JSON.
run bench scaling --ranks 2 --backend shm --mesh cartesian --dt 1e-10 \
    --cells-per-rank 300 --cycles 1 --repeat 1 --json one.json --progress never
[ "$status" -eq 0 ] || fail "--dt: exit status $status: $(cat "$scratch/err")"
grep -q '"dt_s": 1e-10' "$scratch/cwd/one.json" || fail "--dt: another one"
grep -q '"speedup_over_p2p": null' "$scratch/cwd/one.json" ||
    fail "--dt: a speedup over nothing"
grep -q "^ *2[ *] shm " "$scratch/out" || fail "--dt: no table"

# The breakdown of a deck; --set is for the deck.
run bench breakdown --deck "$here/good.yaml" --set time.steps=4 --ranks 1,3 \
    --backends shm,p2p --repeat 2 --json - --out parts --quiet
[ "$status" -eq 0 ] ||
    fail "breakdown: exit status $status: $(cat "$scratch/err")"
python3 - "$scratch" <<'PYTHON' || fail "breakdown: results"
import json, sys
import xml.etree.ElementTree as tree

scratch = sys.argv[1]
top = json.load(open(scratch + "/out"))
names = "physics progress send_recv termination growth idle".split()
seen = [(p["ranks"], p["backend"]) for p in top["points"]]
assert seen == [(1, "shm"), (1, "p2p"), (3, "shm"), (3, "p2p")], seen
for p in top["points"]:
    assert p["cycles"] == 4, p
    assert list(p["breakdown"]) == names, p
    assert 0 < sum(p["breakdown"].values()) <= 1.01 * p["seconds"], p
    assert p["state_hash"] == top["state_hash"], p
svg = tree.parse(scratch + "/cwd/parts/breakdown.svg").getroot()
words = [t.text for t in svg.findall(".//{*}text")]
for word in names + ["1 rank", "good"]:
    assert word in words, (word, words)
PYTHON

# The same on a device: its kernels and copies are counted, the state is the
# same.
cp "$scratch/out" "$scratch/processors"
run bench breakdown --deck "$here/good.yaml" --set time.steps=4 --ranks 1,3 \
    --backends shm --device emulated --json - --quiet
[ "$status" -eq 0 ] ||
    fail "breakdown on a device: exit status $status: $(cat "$scratch/err")"
python3 - "$scratch" <<'PYTHON' || fail "breakdown on a device: results"
import json, sys

scratch = sys.argv[1]
top = json.load(open(scratch + "/out"))
without = json.load(open(scratch + "/processors"))
assert top["state_hash"] == without["state_hash"], top
assert all("device" not in p for p in without["points"]), without
for p in top["points"]:
    assert p["device"] == "emulated", p
    assert p["device_launches"] >= p["ranks"], p
    assert p["device_kernel_seconds"] > 0 and p["device_kernel_share"] > 0, p
    assert p["device_copy_seconds"] > 0 and p["device_copy_share"] > 0, p
    assert p["device_bytes_put"] > 0 and p["device_bytes_got"] > 0, p
PYTHON

# What cannot be.
bad() {
    words=$1
    shift
    run bench "$@"
    [ "$status" -eq 2 ] || fail "bench $*: exit status $status"
    grep -q "$words" "$scratch/err" ||
        fail "bench $*: $(cat "$scratch/err")"
}
bad "strong or weak" scaling --mode odd
bad "must rise" scaling --ranks 1,3,2
bad "only 2" scaling -n 2 --ranks 1,4
bad "no backend" scaling --backends shm,nix
bad "not a backend" scaling --backends auto
bad "do not go together" scaling --dt 1 --crossings 2
bad "for --mesh voronoi" scaling --mesh cartesian --lloyd 3
bad "no deck" breakdown
bad "No such file" breakdown --deck no/such.yaml
bad "unknown key" breakdown --deck "$here/good.yaml" --set no.such=1

finish
