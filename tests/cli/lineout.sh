#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 60; label: mpi slow-asan slow-mpich
#
# Line-outs: the values of the cells at the points of a line, the same bytes on
# any number of ranks, with errors of replicas; along a line of cells they are
# the profile. storm plot draws them, and with --line the same from dumps.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$here/cli.sh"
need_python

# Three materials, one without heat capacity, and a corner that is outside.
cat >"$scratch/layers.yaml" <<'END'
title: Layers
mesh: {edges: {x: [0, 0.25, 0.5, 2], z: [-1, 0, 1]}}
materials:
  - {name: warm, absorption: {coef: 1}, heat_capacity: {coef: 1e14}, temperature: 0.5}
  - {name: cold, absorption: {coef: 1}, heat_capacity: {coef: 1e14}, temperature: 0.25}
  - {name: space}
regions:
  - {material: space, shape: all}
  - {material: warm, shape: box, lo: [0, 0, -1], hi: [0.5, 1, 0]}
  - {material: cold, shape: box, lo: [0, 0, 0], hi: [0.5, 1, 1]}
  - {material: outside, shape: box, lo: [0.5, 0, -1], hi: [2, 1, 0]}
time: {dt: 1e-12, steps: 2}
output:
  lineouts:
    - {name: across-1, from: [0.125, 0.5, -0.75], to: [2.625, 0.5, 0.5], points: 6}
END
cat >"$scratch/want" <<'END'
distance,x,y,z,cell,material,material_temperature
0,0.125,0.5,-0.75,0,0,0.5
0.5590169943749475,0.625,0.5,-0.5,4,-1,nan
1.118033988749895,1.125,0.5,-0.25,4,-1,nan
1.6770509831248424,1.625,0.5,0,5,2,nan
2.23606797749979,2.125,0.5,0.25,-1,-1,nan
2.7950849718747373,2.625,0.5,0.5,-1,-1,nan
END
for n in 1 2 3; do
    run run "$scratch/layers.yaml" --quiet --out "$scratch/on-$n" -n $n
    [ "$status" -eq 0 ] || fail "on $n: $(cat "$scratch/err")"
    for step in 0 2; do
        cmp "$scratch/on-1/lineout-across-1-$step.csv" \
            "$scratch/on-$n/lineout-across-1-$step.csv" || fail "on $n ranks"
    done
done
file=$scratch/on-1/lineout-across-1-0.csv
sed 1d "$file" | cut -d, -f1-7 | diff - "$scratch/want" || fail "values"
head -n 1 "$file" | grep -q "^# time 0 from 0 s; values of the cells along \
the line; distance, x, y, z cm, temperatures keV" || fail "first line: $(head -n 1 "$file")"
sed -n 6p "$file" | cut -d, -f8-10 | grep -qx '0,0,nan' || fail "radiation of space"
sed -n 7p "$file" | cut -d, -f8-10 | grep -qx 'nan,nan,nan' || fail "beyond the mesh"

# Polyhedra on any number of ranks, through many cells, with moments.
for n in 1 3; do
    run run "$here/good.yaml" --quiet --out "$scratch/cells-$n" -n $n \
        --set mesh.kind=voronoi --set mesh.points=200 --set mesh.lloyd=1 \
        --set output.moments='[flux, pressure]' --set \
        'output.lineouts=[{name: a, from: [0, 0, 0], to: [1, 1, 1]}]'
    [ "$status" -eq 0 ] || fail "cells on $n: $(cat "$scratch/err")"
done
last=$(cd "$scratch/cells-1" && ls lineout-a-*.csv | sort -t- -k3 -n | tail -n 1)
cmp "$scratch/cells-1/$last" "$scratch/cells-3/$last" || fail "polyhedra"
sed -n 2p "$scratch/cells-1/$last" |
    grep -q 'material_energy,flux_x,flux_y,flux_z,pressure_xx' || fail "moments"

# Along the middles of the cells of a line it is the profile, errors included.
run run "$here/good.yaml" --quiet --out "$scratch/line" -n 2 --replicas 2 \
    --set mesh.cells='[8,1,1]' --set output.profile.bins=cells --set \
    'output.lineouts=[{name: x, from: [0.0625, 0.5, 0.5], to: [0.9375, 0.5, 0.5], points: 8}]'
[ "$status" -eq 0 ] || fail "a line: $(cat "$scratch/err")"
cat >"$scratch/same.py" <<'PYTHON'
import csv, glob, math, re, sys

def read(path):
    rows = [r for r in csv.reader(open(path)) if not r[0].startswith("#")]
    return [dict(zip(rows[0], map(float, r))) for r in rows[1:]]

files = glob.glob(sys.argv[1] + "/profile-*.csv")
assert len(files) > 1
for path in files:
    profile, line = read(path), read(path.replace("profile", "lineout-x"))
    assert len(profile) == len(line) == 8
    assert "replicas 2" in open(path.replace("profile", "lineout-x")).readline()
    for a, b in zip(profile, line):
        assert math.isclose(a["position"], b["x"], rel_tol=1e-12)
        for name in ("material_temperature", "radiation_energy",
                     "radiation_temperature", "material_energy"):
            for k in (name, name + "_error"):
                assert math.isclose(a[k], b[k], rel_tol=1e-9,
                                    abs_tol=1e-9 * abs(a[name])), (path, k)
    assert not any(k in ("x_error", "cell_error") for k in line[0])
PYTHON
python3 "$scratch/same.py" "$scratch/line" || fail "not the profile"

# Charts of it.
run plot "$scratch/line" --out "$scratch/p"
for name in lineout-x-material_temperature lineout-x-radiation_temperature; do
    grep -q "/$name.svg\$" "$scratch/out" || fail "no $name.svg"
done
sed 's/<[^>]*>/ /g' "$scratch/p/lineout-x-material_temperature.svg" |
    tr -s ' \n' '  ' |
    grep -q 'along the line x from (0.0625, 0.5, 0.5) to (0.9375, 0.5, 0.5) cm' ||
    fail "which line"
run plot "$scratch/line" --out "$scratch/p" --field lineout-x
[ "$(wc -l <"$scratch/out")" -eq 4 ] || fail "lineout-x: $(cat "$scratch/out")"

# The same from dumps: as many stairs as cells, as high as the profile.
run plot "$scratch/line" --out "$scratch/p" --line 0,0.3,0.3,1,0.3,0.3 \
    --field radiation_energy --scale linear
[ "$status" -eq 0 ] || fail "--line: $(cat "$scratch/err")"
cat >"$scratch/stairs.py" <<'PYTHON'
import csv, glob, re, sys

steps = sorted(glob.glob(sys.argv[1] + "/profile-*.csv"),
               key=lambda p: int(re.findall(r"(\d+)\.csv", p)[0]))
values = []
for path in (steps[0], steps[-1]):
    rows = [r for r in csv.reader(open(path)) if not r[0].startswith("#")]
    column = rows[0].index("radiation_energy")
    values += [float(r[column]) for r in rows[1:]]
svg = open(sys.argv[2]).read()
curves = [re.findall(r"[ML][-\d.]+ ([-\d.]+)H", d)
          for d in re.findall(r'<path d="(M[^"]*)" fill="none" stroke="#', svg)]
curves = [list(map(float, c)) for c in curves if c]
assert [len(c) for c in curves] == [8] * len(curves) and len(curves) > 1
places = curves[0] + curves[-1]
lo, hi = values.index(min(values)), values.index(max(values))
slope = (places[hi] - places[lo]) / (values[hi] - values[lo])
for v, y in zip(values, places):
    assert abs(places[lo] + slope * (v - values[lo]) - y) < 0.03, (v, y)
PYTHON
python3 "$scratch/stairs.py" "$scratch/line" "$scratch/p/line-radiation_energy.svg" ||
    fail "stairs are not the cells"
# Along the common edges of four cells, and beyond the box.
run plot "$scratch/on-1" --out "$scratch/p" --line -1,0.5,0,3,0.5,0
[ "$status" -eq 0 ] || fail "along a face: $(cat "$scratch/err")"

# bad TEXT ARGS...: exit 2 with that text.
bad() {
    text=$1
    shift
    run "$@"
    [ "$status" -eq 2 ] || fail "$*: exit status $status"
    grep -qF -e "$text" "$scratch/err" || fail "$*: $(cat "$scratch/err")"
}
bad "expected six numbers, X,Y,Z,X,Y,Z, got '1,2,3'" \
    plot "$scratch/line" --line 1,2,3
bad "two different places" plot "$scratch/line" --line 1,2,3,1,2,3
bad "meets no cell" plot "$scratch/line" --line 0,2,0,1,2,0
bad "no line of 'material'" plot "$scratch/line" --line 0,0,0,1,0,0 --field material
deck="$scratch/layers.yaml"
bad "output.lineouts.0.name: expected at most 100 letters" check "$deck" \
    --set 'output.lineouts=[{name: a/b, from: [0, 0, 0], to: [1, 0, 0]}]'
bad "output.lineouts.1.name: expected another name" check "$deck" --set \
    'output.lineouts=[{name: a, from: [0, 0, 0], to: [1, 0, 0]}, {name: a, from: [0, 0, 0], to: [1, 0, 0]}]'
bad "output.lineouts.0.to: expected another place than" check "$deck" \
    --set 'output.lineouts=[{name: a, from: [0, 0, 0], to: [0, 0, 0]}]'
bad "output.lineouts.0.to: is required" check "$deck" \
    --set 'output.lineouts=[{name: a, from: [0, 0, 0]}]'

# They belong to the run: the next one in the same place removes them.
run run "$deck" --quiet --out "$scratch/on-1" --overwrite --set 'output.lineouts=[]'
[ ! -e "$file" ] || fail "a line-out of another run"

finish
