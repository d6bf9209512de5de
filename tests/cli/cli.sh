# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2034 # what is set here is used elsewhere
#
# Sourced by the tests of the program. STORM_BIN is the program; STORM_MPIEXEC
# what starts ranks. Nothing is left behind.

: "${STORM_BIN:?is not set: the program to test}"
[ -x "$STORM_BIN" ] || {
    echo "$STORM_BIN is not there" >&2
    exit 77
}
# For tests that call mpiexec themselves: more ranks than cores, as root.
: "${OMPI_ALLOW_RUN_AS_ROOT:=1}" "${OMPI_ALLOW_RUN_AS_ROOT_CONFIRM:=1}"
: "${OMPI_MCA_rmaps_base_oversubscribe:=1}"
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
export OMPI_MCA_rmaps_base_oversubscribe

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
failures=0
checks=0

fail() {
    echo "FAIL: $*" >&2
    failures=$((failures + 1))
}

# run ARGS...: leaves $status, $scratch/out and $scratch/err.
run() {
    status=0
    (cd "$scratch/cwd" && "$STORM_BIN" "$@") >"$scratch/out" \
        2>"$scratch/err" </dev/null || status=$?
    checks=$((checks + 1))
}
mkdir "$scratch/cwd"

need_python() {
    command -v python3 >/dev/null 2>&1 || {
        echo "python3 is not there" >&2
        exit 77
    }
}

# hash_of: the state at the end of the last run, of its summary.
hash_of() {
    sed -n 's/.*"state_hash": "\([0-9a-f]*\)".*/\1/p' "$scratch/out"
}

# till_balance FILE: a history without comments, up to the column `balance`:
# what comes after it (times, traffic) is another in every run.
till_balance() {
    awk -F, '/^#/ { next }
        !last { for (i = 1; i <= NF; i++) if ($i == "balance") last = i }
        !last { exit 1 }
        { line = $1; for (i = 2; i <= last; i++) line = line "," $i; print line }' \
        "$1" || fail "$1: has no column \`balance\`"
}

finish() {
    echo "$checks runs, $failures failures"
    [ "$failures" -eq 0 ] || exit 1
    exit 0
}
