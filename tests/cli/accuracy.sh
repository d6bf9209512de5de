#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 300; label: mpi slow-asan
#
# time.control: accuracy. A Marshak wave begins with a tiny step, which grows by
# `growth` until energies change by the target; times of dumps are hit; bits do
# not depend on ranks, a restart changes nothing (ACCURACY-1), replicas have
# steps of their own, and steps that overshoot are reported (ACCURACY-2).
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$here/cli.sh"
deck=$here/../../examples/decks/marshak-accuracy.yaml
short="--set time.stop=1e-12 --set output.times=[3.3e-13] --json -"

# column NAME FILE: its values, a line each.
column() {
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i }
        NR > 1 { print $c }' "$2"
}

for ranks in 1 3; do
    # shellcheck disable=SC2086
    run run "$deck" $short -n $ranks --out "$scratch/on-$ranks"
    [ "$status" -eq 0 ] || fail "on $ranks: $(cat "$scratch/err")"
    till_balance "$scratch/on-$ranks/history.csv" >"$scratch/history-$ranks"
    [ "$ranks" -ne 1 ] || right=$(hash_of)
    [ "$(hash_of)" = "$right" ] || fail "on $ranks: other bits"
    cmp -s "$scratch/history-1" "$scratch/history-$ranks" ||
        fail "on $ranks: history.csv differs"
done
whole=$scratch/on-1

# The first steps grow by 1.2; later ones change energies by about the target.
column dt "$whole/history.csv" | awk '
    NR > 1 && NR <= 10 && ($1 < 1.19 * last || $1 > 1.21 * last) { bad = 1 }
    { if ($1 > longest) longest = $1; last = $1 }
    END { exit bad || NR < 60 || longest < 5e3 * 1e-17 }' ||
    fail "steps: $(column dt "$whole/history.csv" | tr '\n' ' ')"
column change_matter "$whole/history.csv" | awk '
    NR > 30 { sum += $1; n++ } END { exit !(sum / n > 0.03 && sum / n < 0.13) }' ||
    fail "changes: $(column change_matter "$whole/history.csv" | tr '\n' ' ')"

# A step that is shortened does not shorten those after it (DECKRUN-1).
grep -q '^# time 3.3e-13 ' "$whole"/profile-*.csv || fail "3.3e-13 is not hit"
grep -q '^# time 1e-12 ' "$whole"/profile-*.csv || fail "1e-12 is not hit"
awk -F, 'NR > 1 { if (hit && $3 < 0.5 * before) bad = 1
        hit = $2 == 3.3e-13; if (!hit) before = $3; seen += hit }
    END { exit bad || seen != 1 }' "$whole/history.csv" ||
    fail "steps after 3.3e-13: $(cut -d, -f2,3 "$whole/history.csv")"

# Stopped, and continued on other ranks. The report counts from there.
part=$scratch/part
# shellcheck disable=SC2086
run run "$deck" $short --set output.checkpoint.every=10 --set time.steps=35 \
    --out "$part" -n 3
run run --restart "$part" --set time.steps=0 --quiet --json - -n 2
[ "$(hash_of)" = "$right" ] || fail "restart: other bits: $(cat "$scratch/err")"
till_balance "$part/history.csv" >"$scratch/history-part"
cmp -s "$scratch/history-1" "$scratch/history-part" ||
    fail "restart: history.csv differs"

# shellcheck disable=SC2086
run run "$deck" $short --replicas 2 --out "$scratch/two" -n 2
[ "$status" -eq 0 ] || fail "replicas: $(cat "$scratch/err")"
till_balance "$scratch/two/history-1.csv" >"$scratch/first"
cmp -s "$scratch/history-1" "$scratch/first" || fail "replica 1: other steps"
column dt "$scratch/two/history-1.csv" >"$scratch/dt-1"
column dt "$scratch/two/history-2.csv" >"$scratch/dt-2"
cmp -s "$scratch/dt-1" "$scratch/dt-2" && fail "replicas: the same steps"
[ -s "$scratch/two/profile-1.csv" ] && [ -s "$scratch/two/profile-2.csv" ] ||
    fail "replicas: dumps are not numbered by times"
head -n 1 "$scratch/two/profile-1.csv" | grep -q "^# time 3.3e-13 .*replicas 2" ||
    fail "replicas: $(head -n 1 "$scratch/two/profile-1.csv")"
# shellcheck disable=SC2086
run run "$deck" $short --set output.every=5 --replicas 2 --out "$scratch/no" -n 2
[ "$status" -eq 2 ] && grep -q "set output.every: 0" "$scratch/err" ||
    fail "replicas, output.every: $status: $(cat "$scratch/err")"
# Dumps have numbers that are not those of steps; there are no means over steps.
run plot "$scratch/two" --out "$scratch/p"
[ "$status" -eq 0 ] || fail "plot of replicas: $(cat "$scratch/err")"
grep -q '>t = 330 fs' "$scratch"/p/profile-*.svg || fail "replicas: no time"
grep -l '(step ' "$scratch"/p/*.svg && fail "replicas: steps in pictures"
run plot "$scratch/two" --field history
grep -q "no means of 'history': .*--field history-1" "$scratch/err" ||
    fail "means of history: $(cat "$scratch/err")"
run plot "$scratch/two" --field history-2 --out "$scratch/p"
grep -q 'replica 2' "$scratch/p/history-2-dt.svg" || fail "history of replica 2"
head -n 1 "$scratch/dt-2" | grep -q '^1e-17$' || fail "replica 2: first step"

# A first step that is too long: reported in all places, and steps shrink.
# shellcheck disable=SC2086
run run "$deck" $short --set time.dt=1e-13 --set time.steps=20 -n 2 \
    --out "$scratch/long"
[ "$(grep -c "warning: step 1 of 1e-13 s overshoots" "$scratch/err")" -eq 1 ] ||
    fail "overshoot: $(cat "$scratch/err")"
n=$(column overshoot "$scratch/long/history.csv" | grep -c 1)
[ "$(grep -c overshoots "$scratch/err")" -le 2 ] || fail "too many warnings"
grep -q "\"overshoots\": $n," "$scratch/out" || fail "summary: not $n overshoot"
column dt "$scratch/long/history.csv" | sed -n 2p | grep -q '^5e-14$' ||
    fail "the second step does not shrink"

# Limits of lengths; `fixed` knows nothing of all this.
# shellcheck disable=SC2086
run run "$deck" $short --set time.dt_max=1e-15 --set time.dt_min=1e-17 \
    --set time.steps=40 --out "$scratch/limits" -n 1
column dt "$scratch/limits/history.csv" |
    awk '$1 > 1e-15 { bad = 1 } $1 == 1e-15 { at++ } END { exit bad || at < 2 }' ||
    fail "limits: $(column dt "$scratch/limits/history.csv")"
# shellcheck disable=SC2086
run run "$deck" $short --set time.control=fixed --set time.steps=2 \
    --out "$scratch/fixed" -n 1
grep -q change_matter "$scratch/fixed/history.csv" && fail "fixed: changes"
grep -q time_control "$scratch/out" && fail "fixed: summary"
run check "$deck"
[ "$status" -eq 0 ] || fail "check: $(cat "$scratch/err")"
finish
