#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST ranks: 1 2 3; timeout: 180; label: slow-mpich
#
# examples/host.c, host.cc, host.f90 and host.py are the same program: the hash
# of host.c on one rank. A language that is not there is named and left out.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=../cli/cli.sh
. "$here/../cli/cli.sh"
# shellcheck source-path=SCRIPTDIR source=bindings.sh
. "$here/bindings.sh"

: "${STORM_RANKS:?}"

# run_host RANKS COMMAND...: sets $hash.
run_host() {
    ranks=$1
    shift
    "$STORM_MPIEXEC" -n "$ranks" "$@" >"$scratch/out" 2>"$scratch/err" ||
        fail "$* on $ranks ranks: $(cat "$scratch/err")"
    hash=$(sed -n 's/^hash //p' "$scratch/out")
    [ -n "$hash" ] || fail "$* on $ranks ranks: no hash"
}

# same_hash LANGUAGE COMMAND...
same_hash() {
    language=$1
    shift
    run_host "$STORM_RANKS" "$@"
    [ "$hash" = "$wanted" ] ||
        fail "$language on $STORM_RANKS ranks: hash $hash, and $wanted in C"
    echo "$language: $hash"
}

left_out() {
    echo "left out: $*"
}

run_host 1 "$STORM_BUILD/examples/host"
wanted=$hash
same_hash C "$STORM_BUILD/examples/host"
for language in "C++ host_cc" "Fortran host_f90"; do
    program=$STORM_BUILD/examples/${language#* }
    if [ -x "$program" ]; then
        same_hash "${language% *}" "$program"
    else
        left_out "${language% *}: this build has no compiler for it"
    fi
done
why=$(why_not_host)
if [ -z "$why" ]; then
    python_with numpy mpi4py
    PYTHONPATH=$root/bindings/python STORM_LIBRARY=$library
    export PYTHONPATH STORM_LIBRARY
    same_hash Python "$python" "$root/examples/host.py"
else
    left_out "Python: $why"
fi
[ $failures -eq 0 ] || exit 1
