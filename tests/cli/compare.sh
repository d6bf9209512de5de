#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 60; label: mpi slow-mpich
#
# storm compare: norms of runs are those computed here from their profiles (of
# one cell each) and by hand from tables; the exit status follows the tolerance;
# pictures are well-formed; what cannot be compared is refused with a reason.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$here/cli.sh"
need_python

# make NAME ARGS...: a run of four cells in a row, with a profile of each.
make() {
    name=$1
    shift
    run run "$here/good.yaml" -n 1 --quiet --out "$scratch/$name" "$@"
    [ "$status" -eq 0 ] || fail "$name: $(cat "$scratch/err")"
}
# expect STATUS ARGS...
expect() {
    wanted=$1
    shift
    run compare "$@"
    [ "$status" -eq "$wanted" ] ||
        fail "compare $*: status $status: $(cat "$scratch/err")"
}
make a --replicas 4
make b --replicas 4 --set seed=101
make block --set mesh.cells='[4,3,2]'
make other --set mesh.cells='[4,3,2]' --set seed=2

cat >"$scratch/norms.py" <<'PYTHON'
import csv, json, math, sys

found = json.load(open(sys.argv[1]))
a, b = ([r for r in csv.DictReader(l for l in open(p) if l[0] != "#")]
        for p in sys.argv[2:4])
assert found["within"] is (sys.argv[4] == "within")
fields = {f["field"]: f for f in found["steps"][-1]["fields"]}
assert len(fields) == 4, fields
for name, f in fields.items():
    v = [float(r["volume"]) for r in a]
    d = [float(x[name]) - float(y[name]) for x, y in zip(a, b)]
    e = [math.hypot(float(x[name + "_error"]), float(y[name + "_error"]))
         for x, y in zip(a, b)]
    of_b = sum(w * float(y[name]) ** 2 for w, y in zip(v, b))
    square = sum(w * x * x for w, x in zip(v, d))
    worst = max(range(4), key=lambda i: abs(d[i]))
    wanted = {
        "l1": sum(w * abs(x) for w, x in zip(v, d)) / sum(v),
        "l2": math.sqrt(square / sum(v)),
        "max": abs(d[worst]),
        "relative": math.sqrt(square / of_b),
        "standard_errors": math.sqrt(
            sum((x / y) ** 2 for x, y in zip(d, e) if y > 0) /
            len([y for y in e if y > 0])),
    }
    for key, value in wanted.items():
        # profiles are sums over volume: a rounding more
        assert abs(f[key] - value) <= 1e-9 * value, (name, key, f[key], value)
    assert abs(f["at"][0] - float(a[worst]["position"])) < 1e-12, (name, f)
PYTHON

# Cell by cell, and by profiles.
expect 1 "$scratch/a" "$scratch/b" --json "$scratch/cells.json"
python3 "$scratch/norms.py" "$scratch/cells.json" "$scratch/a/profile-3.csv" \
    "$scratch/b/profile-3.csv" beyond || fail "norms of cells"
expect 1 "$scratch/a" "$scratch/b/profile-1.csv" --json "$scratch/one.json" \
    --field material_temperature,material_energy,radiation_energy,radiation_temperature
python3 "$scratch/norms.py" "$scratch/one.json" "$scratch/a/profile-1.csv" \
    "$scratch/b/profile-1.csv" beyond || fail "norms of profiles"
expect 0 "$scratch/a" "$scratch/b" --tolerance 1
grep -q '^within 1 (relative)$' "$scratch/out" || fail "table: no last line"
expect 0 "$scratch/a" "$scratch/b" --standard-errors 50 --quiet
[ ! -s "$scratch/out" ] || fail "--quiet talks"
expect 1 "$scratch/a" "$scratch/b" --standard-errors 1e-3 --json - --step 0,1,3
python3 -c 'import json, sys; d = json.load(sys.stdin)
assert [s["step_b"] for s in d["steps"]] == [0, 1, 3], d' <"$scratch/out" ||
    fail "steps"

# The same bits have no difference, whatever the ranks were.
make again --replicas 4 -n 2
expect 0 "$scratch/a" "$scratch/again" --out "$scratch/none"
[ ! -e "$scratch/none" ] || fail "draws no difference"

# Tables by hand: B is interpolated, what is beyond it is left out. At 1 and 2
# it is 1 and 3, the differences 1 and -1.
printf 'position,u\n0,9\n1,2\n2,2\n' >"$scratch/a.csv"
printf '# a reference\nposition,u,v\n0.5,0,7\n2,3,7\n' >"$scratch/b.csv"
expect 1 "$scratch/a.csv" "$scratch/b.csv" --json - --tolerance 0.3
python3 -c 'import json, math, sys
f, = json.load(sys.stdin)["steps"][0]["fields"]
assert f["values"] == 2 and f["field"] == "u", f
assert abs(f["max"] - 1.0) < 1e-12 and f["standard_errors"] is None, f
assert abs(f["l1"] - (1.0 + 1.0) / 2) < 1e-12, f
assert abs(f["relative"] - math.sqrt(2.0 / 10.0)) < 1e-12, f' \
    <"$scratch/out" || fail "tables by hand: $(cat "$scratch/out")"
expect 0 "$scratch/a.csv" "$scratch/b.csv" --tolerance 0.45

# Benchmarks: numbers, texts, what one lacks.
echo '{"seconds": 2, "hash": "ab", "list": [{"n": 4}, {"n": 5}], "x": 0}' \
    >"$scratch/a.json"
echo '{"seconds": 2.5, "hash": "ab", "list": [{"n": 4}, {"n": 6}], "x": 0}' \
    >"$scratch/b.json"
expect 1 "$scratch/a.json" "$scratch/b.json" --json - --tolerance 0.17
python3 -c 'import json, sys; d = json.load(sys.stdin)
assert [n["key"] for n in d["numbers"]] == ["seconds", "list.1.n"], d
assert abs(d["numbers"][0]["relative"] - 0.2) < 1e-12 and d["same"] == 3, d' \
    <"$scratch/out" || fail "numbers"
expect 0 "$scratch/a.json" "$scratch/b.json" --tolerance 0.17 --field n,hash
expect 0 "$scratch/a.json" "$scratch/b.json" --tolerance 0.2 --quiet \
    --out "$scratch/bars"
[ -s "$scratch/bars/compare-numbers.svg" ] || fail "no bars"
echo '{"seconds": 2, "hash": "cd"}' >"$scratch/c.json"
expect 1 "$scratch/a.json" "$scratch/c.json" --tolerance 9
grep -q '^hash: ab, cd$' "$scratch/out" || fail "texts"
grep -q '^list: (list), (none)$' "$scratch/out" || fail "in one only"

# Pictures: lines with a band, slices, and slices in standard errors.
expect 1 "$scratch/a" "$scratch/b" --quiet --out "$scratch/lines"
expect 1 "$scratch/block" "$scratch/other" --quiet --out "$scratch/slices"
make r1 --set mesh.cells='[4,3,2]' --replicas 2
make r2 --set mesh.cells='[4,3,2]' --replicas 2 --set seed=9
expect 1 "$scratch/r1" "$scratch/r2" --quiet --out "$scratch/errors" \
    --field radiation_energy --axis x --at 0.3
cat >"$scratch/look.py" <<'PYTHON'
import sys
import xml.etree.ElementTree as tree

for path in sys.argv[1:]:
    root = tree.parse(path).getroot()
    texts = [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]
    assert any("difference of the" in t for t in texts), (path, texts)
    assert "0" in texts, (path, texts)
PYTHON
for wanted in lines/compare-radiation_energy-3 slices/compare-material_energy-3 \
    errors/compare-radiation_energy-3 errors/compare-radiation_energy-errors-3; do
    python3 "$scratch/look.py" "$scratch/$wanted.svg" || fail "$wanted"
done
grep -q 'band: two standard errors' \
    "$scratch/lines/compare-radiation_energy-3.svg" || fail "no band"
[ "$(find "$scratch/slices" -name '*.svg' | wc -l)" -eq 4 ] || fail "not 4"

# bad TEXT ARGS...: exit 2, one line, with that text, nothing written.
bad() {
    text=$1
    shift
    expect 2 "$@" --out "$scratch/none"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "compare $*: not one line"
    grep -q -e "$text" "$scratch/err" || fail "compare $*: $(cat "$scratch/err")"
    [ ! -e "$scratch/none" ] || fail "compare $*: writes"
}
make short --set mesh.cells='[4,3,2]' --set time.dt=2e-12
make shifted --set mesh.cells='[4,3,2]' --set mesh.box.hi='[1,1,1.1]'
bad "compare: no two results" "$scratch/a"
bad "cannot read $scratch/nowhere: No such" "$scratch/a" "$scratch/nowhere"
bad "is not the directory of a run" "$scratch/a" "$scratch"
bad "different meshes: .* has 4 cells, .* has 24;" "$scratch/a" "$scratch/block"
bad "has 24 cells, .* has 24 that are others;" "$scratch/block" \
    "$scratch/shifted"
bad "different times: step 3 of .* is at t = 3e-12, .*; it has 4 from" \
    "$scratch/block" "$scratch/short"
bad "no field 'heat' in both; both have: material_energy," "$scratch/block" \
    "$scratch/other" --field material_energy,heat
bad "no step 7 in .*; there are: 0, 1, 2, 3" "$scratch/a" "$scratch/b" --step 7
bad "different times: .*profile-3.csv is at t = 3e-12, .*; --step takes" \
    "$scratch/a" "$scratch/b/profile-1.csv" --step 3
bad "no column 'w' in both; both have: u" "$scratch/a.csv" "$scratch/b.csv" \
    --field w
printf 'position,u\n1,2\n1,3\n' >"$scratch/bad.csv"
bad "positions do not rise at row 2" "$scratch/bad.csv" "$scratch/b.csv"
bad "expected names, then numbers" "$scratch/a" "$here/good.yaml"
bad "give two directories" "$scratch/a.json" "$scratch/a"
bad "no standard errors" "$scratch/a.json" "$scratch/b.json" \
    --standard-errors 2
bad "no key 'w'" "$scratch/a.json" "$scratch/b.json" --field w
bad "expected a number" "$scratch/a" "$scratch/b" --tolerance much

# Group 10 is after group 9, and in its column.
make groups --set 'groups={count: 11, min: 0.01, max: 10}' --set output.groups=true
run compare "$scratch/groups" "$scratch/groups"
[ "$(awk '/group_/ { print $1; if ($2 != "0.000e+00") exit 1 }' "$scratch/out")" = \
    "$(seq -f 'radiation_energy_group_%g' 0 10)" ] || fail "order: $(cat "$scratch/out")"
[ "$(awk '/^field|e[+]00/ { print index($0, $2) + length($2) }' "$scratch/out" |
    sort -u | wc -l)" -eq 1 ] || fail "columns: $(cat "$scratch/out")"

finish
