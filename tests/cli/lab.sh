#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 30
#
# storm lab: says where the simulator comes from if it is not there; runs each
# point once, goes on with those that are missing, computes efficiencies, and
# refuses backends that end in different states. The simulator here is a script;
# the real one is tested by tests/lab.
set -u
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$(dirname "$0")/cli.sh"

cp "$STORM_BIN" "$scratch/storm"
STORM_BIN=$scratch/storm
run lab scaling --ranks 4
[ "$status" -eq 1 ] || fail "no simulator: exit status $status"
grep -q "make lab" "$scratch/err" || fail "no simulator: $(cat "$scratch/err")"

mkdir "$scratch/lab"
: >"$scratch/lab/storm-sim"
cat >"$scratch/lab/smpiexec" <<'FAKE'
#!/bin/sh
ranks=$2
costs=
for word in "$@"; do
    case $word in
    cost-*) costs="$costs ${word#cost-}" ;;
    json=*) json=${word#json=} ;;
    transport.backend=*) backend=${word#*=} ;;
    crossings=*) crossings=${word#*=} ;;
    esac
done
while [ "${1#json=}" = "$1" ]; do shift; done
shift
folder=$(dirname "$0")
echo "$ranks $backend $crossings" >>"$folder/log"
echo "$costs" >"$folder/costs"
[ ! -e "$folder/fail-$ranks-$backend" ] || exit 3
hash=12
[ ! -e "$folder/odd-$ranks-$backend" ] || hash=13
seconds=2.0
[ "$backend" = sim ] || seconds=3.0
[ "$ranks" = 4 ] || seconds=2.5
printf '{\n  "seconds": %s,\n  "timed_cycles": 2,\n  "waves": 3,\n' $seconds >"$json"
printf '  "physics": 1.5,\n  "state_hash": "%s",\n' $hash >>"$json"
printf '  "cells_per_rank": 7.0,\n  "crossings": %s,\n' "$crossings" >>"$json"
printf '  "arguments": "%s"\n}\n' "$*" >>"$json"
FAKE
chmod +x "$scratch/lab/storm-sim" "$scratch/lab/smpiexec"
count() { wc -l <"$scratch/lab/log"; }

printf '# a source\nweak,4,ofi,10\nweak,8,ofi,20\nstrong,4,ofi,1\n' \
    >"$scratch/published.csv"
scaling() {
    run lab scaling --ranks 4,8 --mode weak --event-ns 100 \
        --out "$scratch/points" --published "$scratch/published.csv" "$@"
}
touch "$scratch/lab/fail-8-p2p"
scaling
[ "$status" -eq 1 ] || fail "a point fails: exit status $status"
grep -q "8 ranks over p2p failed" "$scratch/err" || fail "which point failed?"
[ "$(count)" -eq 4 ] || fail "$(count) points instead of 4"
rm "$scratch/lab/fail-8-p2p"
scaling --json "$scratch/out.json"
[ "$status" -eq 0 ] || fail "it does not go on: $(cat "$scratch/err")"
[ "$(count)" -eq 5 ] || fail "it does not go on where it stopped"
scaling --json "$scratch/out.json"
[ "$(count)" -eq 5 ] || fail "points are run again"

# 2.0 s on 4 ranks, 2.5 s on 8, over sim; the published ones are 10 s and 20 s.
grep -q '"efficiency": 0.8,' "$scratch/out.json" || fail "efficiency of sim"
grep -q '"efficiency": 1.2,' "$scratch/out.json" || fail "efficiency of p2p"
grep -q '"speedup_over_p2p": 1.5,' "$scratch/out.json" || fail "over p2p"
grep -q '"efficiency": 0.5$' "$scratch/out.json" || fail "published efficiency"
grep -q '"published_source": "a source"' "$scratch/out.json" || fail "no source"
for chart in time efficiency breakdown; do
    grep -q '^<svg' "$scratch/points/$chart.svg" || fail "no $chart.svg"
    grep -q 'two-sided' "$scratch/points/$chart.svg" || fail "$chart: no names"
done

# A point belongs to both modes if as many cells are crossed.
scaling --mode strong --crossings 30 --json "$scratch/out.json"
grep -q '"crossings": 15' "$scratch/points/uniform-8-sim-15.json" ||
    fail "strong: $(ls "$scratch/points")"
[ "$(count)" -eq 7 ] || fail "a point of weak scaling is run again for strong"

# Costs of a file, which those of the command line override.
printf '# a machine\ntest_s=1e-8 # a test\n\n  send_s=2e-8\nlatency_s=1e-6' \
    >"$scratch/costs"
scaling --ranks 4 --backends sim --costs "$scratch/costs" --cost send_s=3e-8
[ "$(cat "$scratch/lab/costs")" = " send_s=3e-8 test_s=1e-8 latency_s=1e-6" ] ||
    fail "costs: $(cat "$scratch/lab/costs") $(cat "$scratch/err")"
echo wrong >"$scratch/costs"
scaling --costs "$scratch/costs"
[ "$status" -eq 2 ] || fail "a wrong cost: exit status $status"
: >"$scratch/lab/log"
scaling --json "$scratch/out.json"
: >"$scratch/lab/log"

# Published times are of another size: they begin where the simulated ones do.
grep -q 'scaled alike' "$scratch/points/time.svg" || fail "times are not scaled"

# Other arguments make other points; strong scaling crosses fewer cells.
scaling --batch 16
[ "$(count)" -eq 4 ] || fail "points of another batch are taken"
scaling --mode strong
grep -q '^8 sim 7.5$' "$scratch/lab/log" || fail "strong: $(cat "$scratch/lab/log")"

touch "$scratch/lab/odd-8-sim"
scaling --batch 8
[ "$status" -eq 1 ] || fail "different states: exit status $status"
grep -q "different states" "$scratch/err" || fail "different states: no message"
for wrong in "--ranks 8,4" "--backends shm" "--timed 9" "--uneven 11"; do
    # shellcheck disable=SC2086 # words
    scaling $wrong
    [ "$status" -eq 2 ] || fail "$wrong: exit status $status"
done

finish
