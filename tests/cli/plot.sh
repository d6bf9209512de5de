#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 120; label: mpi slow-asan slow-mpich
#
# storm plot: pictures exist, are well-formed, and their polygons fill the box;
# an error for what cannot be drawn lists what can.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$here/cli.sh"
need_python
decks=$here/../../examples/decks

# pictures RUN N ARGS...: storm plot names N files, all of them pictures whose
# cells cover the frame.
pictures() {
    dir=$1 n=$2
    shift 2
    rm -rf "$scratch/plots"
    run plot "$dir" --out "$scratch/plots" "$@"
    [ "$status" -eq 0 ] ||
        fail "plot $*: exit status $status: $(cat "$scratch/err")"
    [ "$(wc -l <"$scratch/out")" -eq "$n" ] ||
        fail "plot $*: not $n files: $(cat "$scratch/out")"
    xargs python3 "$scratch/look.py" <"$scratch/out" ||
        fail "plot $*: pictures"
}

cat >"$scratch/look.py" <<'PYTHON'
import re, sys
import xml.etree.ElementTree as tree

svg = "{http://www.w3.org/2000/svg}"

def area(d, unit):
    """Of all polygons of a path: M x y l dx dy ... z"""
    total = 0
    for part in d.split("z"):
        if not part.strip():
            continue
        x, y, steps = re.match(r"\s*M(-?\d+) (-?\d+)l(.*)$", part).groups()
        at, twice = [int(x), int(y)], 0
        steps = [int(s) for s in steps.split()]
        first = list(at)
        for dx, dy in zip(steps[::2], steps[1::2]):
            twice += at[0] * (at[1] + dy) - at[1] * (at[0] + dx)
            at = [at[0] + dx, at[1] + dy]
        twice += at[0] * first[1] - at[1] * first[0]
        total += abs(twice) / 2
    return total * unit * unit

for path in sys.argv[1:]:
    root = tree.parse(path).getroot()
    assert root.tag == svg + "svg", path
    texts = [t.text for t in root.iter(svg + "text")]
    assert texts and all(texts), path
    cells = [g for g in root.iter(svg + "g") if g.get("class") == "cells"]
    if "slice-" not in path and "traffic" not in path:
        assert not cells
        continue
    frames = [r for r in root.iter(svg + "rect") if r.get("class") == "line"]
    for group, frame in zip(cells, frames):  # one, or two panels
        unit = float(re.search(r"scale\(([^)]*)\)", group.get("transform"))[1])
        drawn = sum(area(p.get("d"), unit) for p in group)
        right = float(frame.get("width")) * float(frame.get("height"))
        assert abs(drawn - right) < 2e-3 * right, (path, drawn, right)
    # Labels are off the data.
    top = min(float(f.get("y")) for f in frames[:len(cells)])
    for text in root.iter(svg + "text"):
        assert "temperature" not in text.text or "(" in text.text or \
            float(text.get("y")) < top or len(cells) == 2, text.text
PYTHON

# Boxes and polyhedra; whole sets, single fields, other planes and steps.
run run "$decks/hohlraum.yaml" -n 2 --quiet --out "$scratch/boxes" \
    --set time.steps=4 --set time.dt=5e-11 --set output.every=2 \
    --set mesh.kind=cartesian --set mesh.cells='[28,14,13]' \
    --set boundaries.x_lo.1.packets=500
[ "$status" -eq 0 ] || fail "hohlraum: $(cat "$scratch/err")"
run run "$decks/hohlraum.yaml" -n 3 --quiet --out "$scratch/cells" \
    --set mesh.kind=voronoi --set mesh.points=2000 --set time.steps=2 \
    --set time.dt=5e-11 --set boundaries.x_lo.1.packets=500
[ "$status" -eq 0 ] || fail "hohlraum, voronoi: $(cat "$scratch/err")"
pictures "$scratch/boxes" 15
for name in slice-z-material view-z-solid slice-z-cell_size \
    slice-z-temperatures-4 slice-z-owner profile-material_temperature \
    profile-radiation_temperature; do
    [ -f "$scratch/plots/$name.svg" ] || fail "no $name.svg"
done
grep -q ">rank 1<" "$scratch/plots/slice-z-owner.svg" || fail "no owners"
grep -q ">wall<" "$scratch/plots/slice-z-material.svg" || fail "no materials"
grep -q "t = [0-9.]* ps (step 4)" "$scratch/plots/slice-z-temperatures-4.svg" ||
    fail "no time"
grep -q ">temperature (keV)<" "$scratch/plots/slice-z-temperatures-4.svg" ||
    fail "no unit"
# Temperatures are on a linear scale by default.
grep -q ">10⁻.*</text>" "$scratch/plots/slice-z-temperatures-4.svg" &&
    fail "temperatures on a logarithmic scale"
pictures "$scratch/boxes" 1 --field temperatures --scale log
grep -q ">10⁻.*</text>" "$scratch/plots/slice-z-temperatures-4.svg" ||
    fail "no logarithmic scale"
pictures "$scratch/cells" 14
grep -q ">rank 2<" "$scratch/plots/slice-z-owner.svg" || fail "no owners"
# A balance that is right to the rounding of doubles is a chart if it is asked for.
[ ! -e "$scratch/plots/history-balance.svg" ] || fail "a chart of rounding"
pictures "$scratch/cells" 8 --field history
[ -e "$scratch/plots/history-balance.svg" ] || fail "no history-balance.svg"
pictures "$scratch/cells" 1 --field material --axis x --at 0
pictures "$scratch/cells" 1 --field solid --axis y --at 0.1
pictures "$scratch/cells" 1 --field volume --axis y --at 0.65 --lines always
pictures "$scratch/boxes" 3 --field radiation_energy --step 0,4 --scale log
pictures "$scratch/boxes" 2 --field radiation_energy --axis x --at 0.7

# Steps of one field share a scale: all but the time is written alike.
pictures "$scratch/boxes" 2 --field temperatures --step 2,4
for step in 2 4; do
    grep "<text" "$scratch/plots/slice-z-temperatures-$step.svg" |
        grep -v 'class="sub"' >"$scratch/texts-$step"
done
cmp "$scratch/texts-2" "$scratch/texts-4" || fail "steps on different scales"

# One value everywhere is printed; there is no scale around it.
pictures "$scratch/boxes" 1 --field cell_size
grep -q ">0.07[0-9]* cm</text>" "$scratch/plots/slice-z-cell_size.svg" ||
    fail "no value of what is the same everywhere"
grep -q ">cell size (cm)<" "$scratch/plots/slice-z-cell_size.svg" &&
    fail "a scale of one value"
run run "$decks/su-olson.yaml" -n 1 --quiet --out "$scratch/line" \
    --set time.steps=1
pictures "$scratch/line" 5 --step 0 \
    --field temperatures,material_temperature,material_energy
grep -q ">-[0-9]" "$scratch"/plots/*.svg && fail "less than nothing"
grep -q ">0</text>" "$scratch/plots/slice-z-temperatures-0.svg" || fail "no 0"
# What is its own mirror image has both temperatures in one frame (MIRROR-1).
grep -q ">lower half: material temperature<" \
    "$scratch/plots/slice-z-temperatures-0.svg" || fail "no halves"

# Along a line, profiles show all.
pictures "$scratch/line" 3
[ -f "$scratch/plots/slice-z-owner.svg" ] || fail "no owners of a line"

# A cube of 4 x 4 x 4 cells from three sides: 48 faces; cut open half-way, 8
# from the left, 8 from above and 16 that the plane cuts.
cat >"$scratch/cube.yaml" <<'YAML'
title: cube
mesh: {box: {lo: [0, 0, 0], hi: [1, 1, 1]}, cells: [8, 8, 8]}
materials:
  - {name: gas, absorption: {coef: 1}, heat_capacity: {coef: 1e14}, temperature: 0.1}
  - {name: space}
regions:
  - {material: space}
  - {material: gas, shape: box, lo: [0.25, 0.25, 0.25], hi: [0.75, 0.75, 0.75]}
time: {dt: 1e-12, steps: 1}
YAML
run run "$scratch/cube.yaml" -n 1 --quiet --out "$scratch/cube"
for case in "1 48" "0.5 32"; do
    pictures "$scratch/cube" 1 --field solid --at "${case% *}"
    n=$(grep -c "^<path color" "$scratch/plots/view-z${case% *}-solid.svg")
    [ "$n" -eq "${case#* }" ] || fail "a cube, $case: $n faces"
done

# A mesh that moves has a picture for each step, with the time.
run run "$decks/translate.yaml" -n 2 --quiet --out "$scratch/slab" \
    --set mesh.points=300 --set time.steps=5 --set mesh.lloyd=1
pictures "$scratch/slab" 5 --field material,solid,owner --step 0,5
for name in slice-z-material-0 slice-z-material-5 view-z-solid-5 slice-z-owner
do
    grep -q 'class="sub".*t = .*(step [05])' "$scratch/plots/$name.svg" ||
        fail "no $name.svg, or without the time"
done
cmp -s "$scratch/plots/slice-z-material-0.svg" \
    "$scratch/plots/slice-z-material-5.svg" && fail "the slab has not moved"

run report "$scratch/slab" --quiet
grep -q '>packets home at once<' "$scratch/slab/report.html" ||
    fail "report: no remap"

# A mesh from a file: the frame is that of its cells, which fill 0.585 of it.
run run "$decks/bent-pipe.yaml" -n 1 --quiet --out "$scratch/pipe" \
    --set time.steps=1
run plot "$scratch/pipe" --field material --out "$scratch/plots"
grep -q '>1.8</text>' "$scratch/plots/slice-z-material.svg" ||
    fail "bent-pipe: the frame ends before its cells"
# It has no mirror image: a panel for each temperature.
run plot "$scratch/pipe" --field temperatures --out "$scratch/plots"
[ "$(grep -c 'class="cells"' "$scratch/plots/slice-z-temperatures-1.svg")" \
    -eq 2 ] || fail "bent-pipe: no panels (MIRROR-1)"
run report "$scratch/pipe" --quiet
grep -q '>192 cells from a file, to ' "$scratch/pipe/report.html" ||
    fail "report: $(grep 'class="lead"' "$scratch/pipe/report.html")"

# Profiles against a reference: in the picture of what it has, beside the usual
# ones; it belongs to the last step and says so.
sed 1d "$scratch/boxes/profile-4.csv" | cut -d, -f1,4 >"$scratch/ref.csv"
head -1 "$scratch/ref.csv" | grep -q radiation_energy || fail "wrong column"
pictures "$scratch/boxes" 16 --reference "$scratch/ref.csv"
grep -q ">reference for step 4 (ref.csv)<" \
    "$scratch/plots/profile-radiation_energy.svg" || fail "no reference"
grep -q "ref.csv" "$scratch/plots/profile-radiation_temperature.svg" &&
    fail "a reference without values"
pictures "$scratch/boxes" 16 --reference "$scratch/ref.csv" --step 2
grep -q ">reference (ref.csv)<" \
    "$scratch/plots/profile-radiation_energy.svg" || fail "reference, one step"

# Pictures go to the run's directory by default; --quiet prints nothing.
run plot "$scratch/boxes" --quiet --field owner
[ -f "$scratch/boxes/plots/slice-z-owner.svg" ] || fail "no plots"
[ ! -s "$scratch/out" ] || fail "--quiet talks"

# bad TEXT ARGS...: exit 2, one line, with that text.
bad() {
    text=$1
    shift
    run plot "$@" --out "$scratch/none"
    [ "$status" -eq 2 ] || fail "plot $*: exit status $status"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "plot $*: not one line"
    grep -qF -e "$text" "$scratch/err" || fail "plot $*: $(cat "$scratch/err")"
    [ ! -e "$scratch/none" ] || fail "plot $*: writes"
}
bad "no directory of a run"
bad "is not the directory of a run" "$scratch/nowhere"
bad "is not the directory of a run" "$scratch"
bad "no field 'heat'; there are: history, traffic, material, solid, owner, cell_size, \
volume, temperatures, material_energy, material_temperature, radiation_energy" \
    "$scratch/boxes" --field material,heat
bad "no field ''" "$scratch/boxes" --field ,
bad "no step 3; there are: 0, 2, 4" "$scratch/boxes" --step 0,3
bad "--step: expected whole numbers" "$scratch/boxes" --step 1,,2
# Many steps, more than fit into a short line.
bad "no step 1; there are: 0, 2, 4" "$scratch/boxes" --step "$(seq -s, 1 900)"
bad "--axis: expected x, y or z" "$scratch/boxes" --axis r
bad "z = 0.66 is not in the box" "$scratch/boxes" --at 0.66
bad "--at: expected a number" "$scratch/boxes" --at here
bad "--lines: expected auto, always or never" "$scratch/boxes" --lines no
bad "--scale: expected auto, log or linear" "$scratch/boxes" --scale big
bad "cannot read $scratch/none.csv" "$scratch/boxes" \
    --reference "$scratch/none.csv"
printf 'x,y\n1,2\n' >"$scratch/bad.csv"
bad "expected a column 'position'" "$scratch/boxes" \
    --reference "$scratch/bad.csv"
printf 'position,material_temperature\n1,2\n1\n' >"$scratch/bad.csv"
bad "bad.csv:3: expected" "$scratch/boxes" --reference "$scratch/bad.csv"

# READER-2: damaged files are reported; nothing crashes.
cp -r "$scratch/cells" "$scratch/hurt"
size=$(wc -c <"$scratch/hurt/mesh.h5")
head -c $((size / 2)) "$scratch/cells/mesh.h5" >"$scratch/hurt/mesh.h5"
run plot "$scratch/hurt" --out "$scratch/none"
[ "$status" -eq 2 ] || [ "$status" -eq 1 ] || fail "half a mesh: $status"
cp "$scratch/cells/mesh.h5" "$scratch/hurt/mesh.h5"
rm "$scratch/hurt/partition.csv"
run plot "$scratch/hurt" --field owner --out "$scratch/none"
grep -q "cannot read .*partition.csv" "$scratch/err" || fail "no partition"
printf 'rank,first_cell,cells\n0,0,7\n' >"$scratch/hurt/partition.csv"
run plot "$scratch/hurt" --field owner --out "$scratch/none"
grep -q "partition.csv does not fit" "$scratch/err" || fail "bad partition"

# Nowhere to write.
run plot "$scratch/boxes" --out /dev/null/x
[ "$status" -eq 1 ] || fail "no place for pictures: exit status $status"

finish
