#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 300; label: mpi slow-asan slow-mpich
#
# JOB-1 to JOB-4, MEANS-1 to MEANS-5: replicas are the runs with the next seeds,
# files have their means and standard errors, the same bytes on any number of
# ranks, also of a job that was stopped, or killed, and went on.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$here/cli.sh"
need_python
cd "$scratch/cwd" || exit 1
decks=$scratch/decks
mkdir "$decks"
cp "$here/../../examples/decks/expand.yaml" "$decks"
cat "$here/../../examples/decks/marshak.yaml" - >"$decks/marshak.yaml" <<'END'
  tallies: [{name: out, where: escape, by: [wall, direction], mu_bins: 3}]
END

# job OUT RANKS ARGS...
job() {
    out=$1
    ranks=$2
    shift 2
    run run "$@" --quiet --json - --out "$out" -n "$ranks"
    [ "$status" -eq 0 ] || fail "$out: exit status $status: $(cat "$scratch/err")"
}

# same A B: the files of two jobs.
same() {
    for file in "$1"/*; do
        case $file in
        *summary.json | *partition.csv | *status.json | *replicas.csv) continue ;;
        *history*)
            till_balance "$file" >"$scratch/a"
            till_balance "$2/${file##*/}" >"$scratch/b"
            cmp -s "$scratch/a" "$scratch/b" || fail "$2: ${file##*/} differs"
            continue
            ;;
        esac
        cmp -s "$file" "$2/${file##*/}" || fail "$2: ${file##*/} differs"
    done
    # Names are the same, too, and so are results; times are not.
    (cd "$1" && ls) >"$scratch/a"
    (cd "$2" && ls) >"$scratch/b"
    cmp -s "$scratch/a" "$scratch/b" || fail "$2: other files"
    cut -d, -f1,2,4,5,7-10,12- "$1/replicas.csv" >"$scratch/a"
    cut -d, -f1,2,4,5,7-10,12- "$2/replicas.csv" >"$scratch/b"
    cmp -s "$scratch/a" "$scratch/b" || fail "$2: other replicas"
}

# check RANKS NAME SETS...: a job of three, and one of two that gets a third.
check() {
    ranks=$1
    name=$2
    shift 2
    job "$name-1" 1 "$decks/$name.yaml" "$@" --replicas 3 --seed 5
    hash_of >"$scratch/job"
    [ "$(wc -l <"$scratch/job")" -eq 4 ] || fail "$name: no hashes"
    job "$name-many" "$ranks" "$decks/$name.yaml" "$@" --replicas 2 --seed 5
    run run --restart "$name-many" --replicas 3 --quiet --json - -n 3
    [ "$status" -eq 0 ] || fail "$name, one more: $(cat "$scratch/err")"
    hash_of >"$scratch/other"
    cmp -s "$scratch/job" "$scratch/other" || fail "$name: hashes on $ranks"
    same "$name-1" "$name-many"
    for seed in $seeds; do
        job "$name-seed$seed" 1 "$decks/$name.yaml" "$@" --seed "$seed"
        hash_of
    done >"$scratch/single"
    tail -n "$(wc -l <"$scratch/single")" "$scratch/job" |
        cmp -s - "$scratch/single" || fail "$name: JOB-1"
}

marshak="--set mesh.cells=[20,2,1] --set output.every=4 --set time.steps=9"
marshak="$marshak --set output.probes=[[0.005,0.5,0.5],[0.1,0.5,0.5]]"
seeds="5 6 7"
# shellcheck disable=SC2086
check 3 marshak $marshak
seeds=7
check 2 expand --set mesh.points=150 --set time.steps=4 --set output.every=2 \
    --set balance.every=1 --set balance.threshold=1.0

python3 - <<'END' || fail "means and errors"
import csv, json, statistics
def read(path):
    rows = [r for r in csv.reader(open(path)) if not r[0].startswith("#")]
    return rows[0], [[float(x) for x in r] for r in rows[1:]]
same = ("position", "volume", "step", "time", "dt", "probe", "x", "y", "z",
        "cell", "material", "wall", "mu_from", "mu_to")
for name, file in (("marshak", "profile-8"), ("marshak", "profile-9"),
                   ("marshak", "probes"),
                   ("marshak", "history"), ("marshak", "tally-out")):
    parts = [read(f"{name}-seed{s}/{file}.csv") for s in (5, 6, 7)]
    names, rows = read(f"{name}-1/{file}.csv")
    first = parts[0][0]
    assert names[:len(first)] == first
    assert names[len(first):] == [n + "_error" for n in first
                                  if n not in same], names
    first = first[:first.index("balance")] if "balance" in first else first
    for i, row in enumerate(rows):
        for k, column in enumerate(first):
            x = [p[1][i][k] for p in parts]
            mean, error = statistics.fmean(x), statistics.stdev(x) / 3 ** 0.5
            assert abs(row[k] - mean) <= 1e-14 * abs(mean), (column, row[k])
            if column + "_error" in names:
                got = row[names.index(column + "_error")]
                assert abs(got - error) <= 1e-10 * error + 1e-14 * abs(mean), (
                    file, column, x, got, error)
    errors = [k for k, n in enumerate(names) if n.endswith("_error")]
    assert any(r[k] > 0 for r in rows for k in errors)
    assert open(f"{name}-1/{file}.csv").readline().endswith(" replicas 3\n")
j = json.load(open("marshak-1/summary.json"))
assert [r["seed"] for r in j["replicas"]] == [5, 6, 7] and j["seed"] == 5
e = j["errors"]
assert e["replicas"] == 3 and abs(e["student_t"] - 4.302652730) < 1e-8
for name, got in e["energy"].items():
    x = [r["energy"][name] for r in j["replicas"]]
    mean, error = statistics.fmean(x), statistics.stdev(x) / 3 ** 0.5
    assert abs(got["mean"] / mean - 1) < 1e-14 and j["energy"][name] == got["mean"]
    assert abs(got["error"] / error - 1) < 1e-10
    assert abs(got["high"] - got["mean"] - e["student_t"] * error) < 1e-8 * error
    fom = 1 / ((error / mean) ** 2 * e["seconds"])
    assert abs(got["figure_of_merit"] / fom - 1) < 1e-9
END
grep -q 'radiation_energy_error.*fields-8.h5:/radiation_energy_error' \
    marshak-1/fields.xdmf || fail "fields.xdmf has no errors"

# Bands around profiles, and slices of the relative error.
run plot marshak-many --quiet
[ "$status" -eq 0 ] || fail "plot: $(cat "$scratch/err")"
grep -q "mean of 3 replicas, band: 95 % interval" \
    marshak-many/plots/profile-radiation_temperature.svg &&
    grep -q 'fill-opacity="0.12"' \
        marshak-many/plots/profile-radiation_temperature.svg ||
    fail "plot: no bands"
grep -q "relative error of the radiation energy" \
    marshak-many/plots/slice-z-radiation_energy_relative_error-9.svg ||
    fail "plot: no relative error"
run plot marshak-seed5 --quiet --field radiation_energy_relative_error
[ "$status" -eq 2 ] || fail "plot: errors without replicas"
run report marshak-many --quiet
[ "$status" -eq 0 ] || fail "report: $(cat "$scratch/err")"
grep -q "escaped: figure of merit" marshak-many/report.html || fail "report: errors"
rm -r marshak-many/plots marshak-many/report.html

# Stopped in the second replica and killed in the third, when some of its dumps
# are written.
slow="--set mesh.cells=[20,2,1] --set output.every=10 --set time.steps=120"
slow="$decks/marshak.yaml $slow --set time.growth=1 --replicas 3"
# shellcheck disable=SC2086
job whole 3 $slow

# begin REPLICA ARGS...: in the background, until this replica has dumped.
begin() {
    replica=$1
    shift
    "$STORM_BIN" run "$@" --quiet --json - -n 2 </dev/null \
        >"$scratch/out" 2>"$scratch/err" &
    pid=$!
    for _ in $(seq 300); do
        grep -qs "replicas $replica" stopped/profile-20.csv && break
        sleep 0.05
    done
}

# shellcheck disable=SC2086
begin 2 $slow --out stopped
kill -TERM $pid
wait $pid
status=$?
[ $status -eq 3 ] || fail "stopped: exit status $status: $(cat "$scratch/err")"
grep -q "stopped at step [0-9]* of replica [0-9]*; go on: storm run --restart stopped" "$scratch/err" ||
    fail "stopped: $(cat "$scratch/err")"
begin 3 --restart stopped --set output.checkpoint.every=7
kill -KILL "$(sed -n 's/.*"pid": \([0-9]*\).*/\1/p' stopped/status.json)"
wait $pid
status=$?
[ $status -eq 1 ] || fail "killed: exit status $status: $(cat "$scratch/err")"
run run --restart stopped --set output.checkpoint.every=0 --quiet --json - -n 1
[ "$status" -eq 0 ] || fail "killed: $(cat "$scratch/err")"
cp whole/deck.yaml stopped/deck.yaml # it has the number of checkpoints
same whole stopped

# A job that is complete stays as it is.
run run --restart marshak-many --json - -n 1
[ "$status" -eq 0 ] || fail "complete: $(cat "$scratch/err")"
grep -q "complete, its files stay" "$scratch/err" || fail "complete: no warning"

# A list with a number that cannot be, or with more rows than that, is damaged.
for number in 0 1 99999999999; do
    cp -r marshak-many damaged
    sed "1s/replicas 3/replicas $number/" marshak-many/replicas.csv \
        >damaged/replicas.csv
    run run --restart damaged --quiet -n 1
    [ "$status" -ne 0 ] && grep -q "replicas.csv is damaged" "$scratch/err" ||
        fail "replicas $number: $status, $(cat "$scratch/err")"
    rm -r damaged
done

# One replica is a run without, but for the list. SCARCE-2: it has packets
# enough.
# shellcheck disable=SC2086
run run "$decks/marshak.yaml" $marshak --json - --out one -n 1 --replicas 1 \
    --seed 5
[ "$status" -eq 0 ] || fail "one: $(cat "$scratch/err")"
! grep -q "rest on fewer" "$scratch/err" || fail "SCARCE-2: without reason"
for file in marshak-seed5/[fm]*.h5 marshak-seed5/pro*.csv \
    marshak-seed5/tally*.csv marshak-seed5/*.xdmf; do
    cmp -s "$file" "one/${file##*/}" || fail "MEANS-4: ${file##*/}"
done

# bad STATUS PATTERN ARGS...: what does not fit is refused and nothing changes.
bad() {
    expected=$1
    pattern=$2
    shift 2
    run "$@"
    [ "$status" -eq "$expected" ] ||
        fail "$*: exit status $status: $(cat "$scratch/err")"
    grep -q -e "$pattern" "$scratch/err" || fail "$*: $(cat "$scratch/err")"
}
for n in 0 1.5 100001; do
    bad 2 "replicas: expected a whole number from 1 to 100000" \
        run "$decks/marshak.yaml" --replicas "$n"
done
more="marshak-many"
bad 1 "3 replicas are done already" run --restart $more --replicas 2 -n 1
bad 1 "began with seed 5, not 9" run --restart $more --seed 9 --replicas 6 -n 1
bad 1 "goes on in its own directory" run --restart $more --out elsewhere -n 1
bad 1 "was started without replicas" \
    run --restart marshak-seed5 --replicas 2 -n 1
bad 1 "made with another deck" \
    run --restart $more --replicas 6 --set packets.emit_per_cell=3 -n 1
bad 1 "made with another deck" \
    run --restart $more --replicas 6 --set output.profile.bins=7 -n 1
same marshak-1 $more
mv $more/profile-4.csv profile-4.bak
run run --restart $more --replicas 4 -n 2
[ "$status" -eq 1 ] || fail "MEANS-5: exit status $status"
grep -q "cannot read $more/profile-4.csv" "$scratch/err" ||
    fail "MEANS-5: $(cat "$scratch/err")"
mv profile-4.bak $more/profile-4.csv
python3 - $more/fields-4.h5 <<'END' || fail "no rows of temperatures in a dump"
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
rows = [all(1e-4 < x < 1e2 for x in struct.unpack_from("<20d", data, at))
        for at in range(0, len(data) - 160, 8)]
data[8 * rows.index(True)] ^= 1
open(sys.argv[1], "wb").write(data)
END
run run --restart $more --replicas 4 -n 2
[ "$status" -eq 1 ] || fail "MEANS-5, damaged: exit status $status"
grep -q "$more/fields-4.h5 .* before replica 4" "$scratch/err" ||
    fail "MEANS-5, damaged: $(cat "$scratch/err")"

# SCARCE-1, SCARCE-2: few packets are warned about, once, with the same numbers
# on any number of ranks.
few="--set mesh.cells=[40,8,1] --set time.steps=4 --set output.every=2"
few="$few --set packets.emit_per_cell=1 --set boundaries.x_lo.packets=20"
for ranks in 1 3; do
    # shellcheck disable=SC2086
    run run "$decks/marshak.yaml" $few --json - --replicas 2 --out few -n $ranks \
        --overwrite
    [ "$(grep -c "rest on fewer than 10 events each" "$scratch/err")" -eq 1 ] ||
        fail "SCARCE-2: $(cat "$scratch/err")"
    sed -n '/"scarce"/,/}/p' "$scratch/out" >"$scratch/few-$ranks"
done
grep -q '"cells": [1-9]' "$scratch/few-1" || fail "SCARCE-1: no cells"
cmp -s "$scratch/few-1" "$scratch/few-3" || fail "SCARCE-1: other numbers"
finish
