#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 60; label: mpi slow-mpich
#
# storm plot of history, probes and tallies: curves are the energies of the
# bins over their widths (TALLYCHART-1), bins without a place are mentioned
# (TALLYCHART-2), means of replicas have bands unless bins are added up (TALLYCHART-3),
# times after the end of the run are not drawn (TALLYCHART-4).
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$here/cli.sh"
need_python

cat >"$scratch/ball.yaml" <<'YAML'
title: ball
mesh: {box: {lo: [-1, -1, -1], hi: [1, 1, 1]}, cells: [4, 4, 4]}
materials:
  - {name: star, absorption: {coef: 30, E_exp: -1}, heat_capacity: {coef: 1e14}, temperature: 1}
  - {name: space}
regions:
  - {material: space, shape: all}
  - {material: star, shape: sphere, centre: [0.3, 0, 0], radius: [0, 0.7]}
groups: {count: 6, min: 0.1, max: 30}
time: {dt: 1e-11, growth: 1.2, steps: 10}
packets: {emit_per_cell: 20, min_per_cell: 2, max_per_cell: 20}
output:
  every: 0
  probes: [[0.3, 0, 0], [-0.9, 0, 0]]
  tallies:
    - {name: light, by: [time, wall], time_bins: 7, to: 1e-10}
    - {name: both, by: [time, group], time_bins: 40, to: 1e-9}
    - {name: sky, by: [direction], mu_edges: [0, 0.5, 1]}
    - {name: walls, by: [wall]}
    - {name: core, where: surface, by: [time, side], time_bins: 4, to: 2e-10, shape: sphere, radius: [0, 0.9]}
YAML
run run "$scratch/ball.yaml" -n 2 --quiet --out "$scratch/ball" --replicas 2
[ "$status" -eq 0 ] || fail "ball: $(cat "$scratch/err")"
run plot "$scratch/ball" --out "$scratch/p"
[ "$status" -eq 0 ] || fail "plot: $(cat "$scratch/err")"
for name in history-power history-escaped history-energy history-packets \
    history-dt history-imbalance history-seconds traffic probes-material_temperature probes-radiation_temperature \
    tally-light-time-wall tally-both-time tally-both-group-time tally-sky-mu \
    tally-walls-wall tally-core-time-side; do
    grep -q "/$name.svg\$" "$scratch/out" || fail "no $name.svg"
done

# texts PICTURE TEXT...: it has these texts.
texts() {
    picture=$scratch/p/$1.svg
    shift
    for text in "$@"; do
        grep -q ">[^<]*$text[^<]*<" "$picture" || fail "$picture: no $text"
    done
}
# bands PICTURE N: it has so many.
bands() {
    n=$(grep -c 'fill-opacity' "$scratch/p/$1.svg")
    [ "$n" -ge "$2" ] || fail "$1: $n bands, not $2"
    [ "$2" -gt 0 ] || [ "$n" -eq 0 ] || fail "$1: $n bands"
}
texts history-power 'energy per time (10.* erg/s)' 'time (ps)' 'created: emission' \
    'absorbed: star' 'mean of 2 replicas'
texts history-packets 'at the end' escaped
texts history-dt 'time step (ps)'
texts history-imbalance 'max / mean of events'
texts traffic 'to rank' 'from rank' packets none
texts probes-radiation_temperature '(0.3, 0, 0) cm' 'radiation temperature (keV)'
texts tally-light-time-wall x_lo z_hi 'not on this axis' 'bars: 95 %'
texts tally-core-time-side 'band: 95 %'
texts tally-both-group-time 'photon energy (keV)' 'energy per photon energy (erg/keV)' \
    'sums of bins: no band'
texts tally-sky-mu 'cosine of direction' 'energy per unit of'
texts tally-walls-wall 'x_hi (± '
texts tally-core-time-side outwards inwards 'through the surface'
# Bands of more than three stairs would hide each other.
bands tally-light-time-wall 0
bands tally-core-time-side 2
bands tally-both-time 0
bands history-energy 1
# Space has no temperature of its own, and radiation of the start no power.
texts probes-material_temperature '(0.3, 0, 0) cm'
grep -q '0.9, 0, 0' "$scratch/p/probes-material_temperature.svg" &&
    fail "a temperature of space"
grep -q 'initial' "$scratch/p/history-power.svg" && fail "a power of the start"

# All that ranks have sent is in the matrix, a number in each square of it.
python3 - "$scratch" <<'PYTHON' || fail "traffic is not that of the summary"
import json, re, sys

sent = json.load(open(sys.argv[1] + "/ball/summary.json"))["traffic"]
svg = open(sys.argv[1] + "/p/traffic.svg").read()
numbers = re.findall(r'<g fill="#[0f]*"><text [^>]*>([^<]*)</text>', svg)
assert len(numbers) == len(sent) == 2, (numbers, sent)
for number, entry in zip(numbers, sorted(sent, key=lambda e: e["from"])):
    mantissa, _, power = number.partition("×10")
    power = int(power.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")) or 0)
    assert abs(float(mantissa) * 10**power / entry["packets"] - 1) < 0.01, number
PYTHON

# Heights on a linear axis are energies over widths, area and all.
run plot "$scratch/ball" --out "$scratch/p" --field tally-core --scale linear
python3 - "$scratch" <<'PYTHON' || fail "curves are not the tally"
import csv, re, sys

rows = [r for r in open(sys.argv[1] + "/ball/tally-core.csv") if r[0] != "#"]
want = {"1": [], "-1": []}
for r in csv.DictReader(rows):
    if -1e299 < float(r["time_from"]) and float(r["time_to"]) < 1e299:
        want[r["side"]].append(float(r["energy"]) /
                               (float(r["time_to"]) - float(r["time_from"])))
svg = open(sys.argv[1] + "/p/tally-core-time-side.svg").read()
curves = [re.findall(r"[ML][-\d.]+ ([-\d.]+)H", d)
          for d in re.findall(r'<path d="(M[^"]*)" fill="none" stroke="#', svg)]
curves = [[float(y) for y in c] for c in curves if c]
assert [len(c) for c in curves] == [4, 4], curves
values = want["1"] + want["-1"]
places = curves[0] + curves[1]
lo, hi = values.index(min(values)), values.index(max(values))
slope = (places[hi] - places[lo]) / (values[hi] - values[lo])
assert slope < 0
for v, y in zip(values, places):
    assert abs(places[lo] + slope * (v - values[lo]) - y) < 0.03, (v, y)
PYTHON

# The run ends at 259.6 ps, in the 11th bin of 25 ps, which ends there.
python3 - "$scratch" <<'PYTHON' || fail "times after the end of the run"
import csv, re, sys

rows = [r for r in open(sys.argv[1] + "/ball/tally-both.csv") if r[0] != "#"]
want = [0.0] * 40
for r in csv.DictReader(rows):
    if -1e299 < float(r["time_from"]) and float(r["time_to"]) < 1e299:
        want[round(float(r["time_from"]) / 2.5e-11)] += float(r["energy"])
assert want[10] > 0 and not any(want[11:]), want
end = sum(1e-11 * 1.2**i for i in range(10))
svg = open(sys.argv[1] + "/p/tally-both-time.svg").read()
[path] = [d for d in re.findall(r'<path d="(M[^"]*)" fill="none" stroke="#', svg)
          if "H" in d]
stairs = [tuple(map(float, s))
          for s in re.findall(r"[ML]([-\d.]+) ([-\d.]+)H([-\d.]+)", path)]
assert len(stairs) == 11, stairs
pixels = stairs[0][2] - stairs[0][0]
assert abs((stairs[10][2] - stairs[10][0]) / pixels - (end / 2.5e-11 - 10)) < 0.01
PYTHON

# Space has no temperature of its own, in no table.
python3 - "$scratch/ball" <<'PYTHON' || fail "a temperature of space"
import csv, sys

def rows(name):
    with open(sys.argv[1] + "/" + name) as text:
        return list(csv.DictReader(r for r in text if r[0] != "#"))

for r in rows("probes.csv"):
    space = r["probe"] == "1"
    for column in "material_temperature", "material_energy":
        assert (r[column] == "nan") == space, r
    assert float(r["radiation_energy"]) >= 0, r
for r in rows("profile-0.csv"):
    assert r["material_temperature_space"] == "nan", r
PYTHON

# What is not there is listed, and what is damaged is named.
run plot "$scratch/ball" --field tally-none
[ "$status" -eq 2 ] || fail "no tally: exit status $status"
grep -q "there are: .*history, probes, tally-light, .*tally-core" \
    "$scratch/err" || fail "no list: $(cat "$scratch/err")"
run report "$scratch/ball" --quiet
for text in 'Packets, all replicas' 'Energy, mean of the replicas' \
    '<th>seeds</th><td>1 to 2<'; do
    grep -q "$text" "$scratch/ball/report.html" || fail "report: no $text"
done
run plot "$scratch/ball" --field probes --out "$scratch/p"
[ "$(wc -l <"$scratch/out")" -eq 4 ] || fail "probes: $(cat "$scratch/out")"
cp "$scratch/ball/history.csv" "$scratch/history.csv"
: >"$scratch/ball/history.csv"
run plot "$scratch/ball" --out "$scratch/p"
[ "$status" -eq 1 ] || fail "an empty history: exit status $status"
grep -q "history.csv has no column time" "$scratch/err" || fail "$(cat "$scratch/err")"
cp "$scratch/history.csv" "$scratch/ball/history.csv"
sed -i '$d' "$scratch/ball/tally-light.csv"
run plot "$scratch/ball" --field tally-light --out "$scratch/p"
[ "$status" -eq 1 ] || fail "damaged: exit status $status"
grep -q "tally-light.csv is not the table of a tally" "$scratch/err" ||
    fail "damaged: $(cat "$scratch/err")"

finish
