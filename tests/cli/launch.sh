#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 120; label: slow-asan
#
# Starting ranks: by -n, under a launcher of the user's, and what becomes of
# failures and signals.
set -u
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$(dirname "$0")/cli.sh"

ranks_of() {
    sed -n 's/.*"ranks": \([0-9]*\).*/\1/p' "$scratch/out"
}
small="--records 1000 --repeat 1 --json -"

# shellcheck disable=SC2086 # $small is several words
for n in 1 2 3; do
    run bench exchange -n $n $small
    [ "$status" -eq 0 ] || fail "-n $n: $status: $(cat "$scratch/err")"
    [ "$(ranks_of)" = $n ] || fail "-n $n: $(ranks_of) ranks"
done
# By default as many as there are cores for this process: by affinity and by the
# quota of its control group.
cores=$("$STORM_BIN" info | sed -n 's/^  cores  *\([0-9]*\).*/\1/p')
# shellcheck disable=SC2086
run bench exchange $small
[ "$(ranks_of)" = "$cores" ] || fail "default: $(ranks_of) ranks"

if [ -n "${STORM_MPIEXEC:-}" ]; then
    # shellcheck disable=SC2086
    run bench exchange -n 2 --launcher "$STORM_MPIEXEC" $small
    [ "$(ranks_of)" = 2 ] || fail "--launcher: $(cat "$scratch/err")"

    # Two ranks by somebody else; -n may only agree.
    # shellcheck disable=SC2086
    "$STORM_MPIEXEC" -n 2 "$STORM_BIN" bench exchange $small \
        >"$scratch/out" 2>"$scratch/err" || fail "mpiexec: $?"
    [ "$(ranks_of)" = 2 ] || fail "mpiexec: $(ranks_of) ranks"
    # shellcheck disable=SC2086
    "$STORM_MPIEXEC" -n 2 "$STORM_BIN" bench exchange -n 3 $small \
        >"$scratch/out" 2>"$scratch/err" && fail "mpiexec with another -n"
    [ "$(grep -c '^storm: error' "$scratch/err")" -eq 1 ] ||
        fail "mpiexec with another -n: $(cat "$scratch/err")"
fi

# More ranks than cores, and a variable with a mistake in it, are mentioned.
# shellcheck disable=SC2086
STORM_BACKEN=p2p run bench exchange -n $((cores + 1)) $small
[ "$(grep -c "warning: -n $((cores + 1)): there are $cores cores" \
    "$scratch/err")" -eq 1 ] || fail "too many: $(cat "$scratch/err")"
[ "$(grep -c "variable STORM_BACKEN is not used; did you mean STORM_BACKEND?" \
    "$scratch/err")" -eq 1 ] || fail "variable: $(cat "$scratch/err")"
# shellcheck disable=SC2086
STORM_BACKEN=p2p run bench exchange -n $((cores + 1)) $small --quiet
[ ! -s "$scratch/err" ] || fail "--quiet: $(cat "$scratch/err")"

# The deck's check mentions the variable as well.
STORM_BACKEN=p2p run check "$(cd "$(dirname "$0")" && pwd)/good.yaml"
[ "$(grep -c 'did you mean STORM_BACKEND?' "$scratch/err")" -eq 1 ] ||
    fail "check: $(cat "$scratch/err")"

# RELAY-2: output that is lost is an error; a reader that has gone is not.
# shellcheck disable=SC2086
"$STORM_BIN" bench exchange -n 2 $small >/dev/full 2>"$scratch/err" &&
    fail "full: no error"
grep -q 'cannot write to standard output: No space left' "$scratch/err" ||
    fail "full: $(cat "$scratch/err")"
# shellcheck disable=SC2086
("$STORM_BIN" bench exchange -n 2 $small && : >"$scratch/good") | :
[ -e "$scratch/good" ] || fail "a reader that has gone"

# A terminal without escape sequences gets none.
TERM=dumb run bench exchange -n 2 --records 400000 --repeat 2 --progress always
! grep -aq '\[K' "$scratch/err" || fail "dumb: $(cat "$scratch/err")"

# A launcher that fails.
run bench exchange -n 2 --launcher false
[ "$status" -eq 1 ] || fail "launcher that fails: $status"
grep -q "could not start or keep 2 ranks" "$scratch/err" ||
    fail "launcher that fails: $(cat "$scratch/err")"

# A failure of the run is reported once.
run bench exchange -n 3 --records 100000 --max-events 1
[ "$status" -eq 1 ] || fail "failure: exit status $status"
[ "$(grep -c '^storm: error' "$scratch/err")" -eq 1 ] ||
    fail "failure: $(cat "$scratch/err")"
[ ! -s "$scratch/out" ] || fail "failure: wrote to standard output"

# Ended by a signal: soon, with that signal, and no rank stays behind.
(cd "$scratch/cwd" && exec "$STORM_BIN" bench exchange -n 2 --repeat 10000 \
    --records 10000000 --json -) >"$scratch/out" 2>"$scratch/err" &
pid=$!
sleep 2
kill -TERM "$pid" 2>/dev/null || fail "signal: it was not running"
status=0
wait "$pid" || status=$?
[ "$status" -eq 143 ] || fail "signal: exit status $status"

finish
