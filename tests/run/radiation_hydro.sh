#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 1200; label: long mpi slow-asan slow-mpich
#
# Radiation hydrodynamics with examples/host_shock.c, coarser and shorter than on the
# pages of examples/problems: radiative shocks of Mach 2 (from the profile, and from a
# step) and Mach 5, and the tube that radiation pressure holds. Means of density and
# temperatures, and the jumps, are within 2 % of what the scripts of tests/reference
# compute; those agree with themselves and with published jumps.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=../cli/cli.sh
. "$here/../cli/cli.sh"
: "${STORM_MPIEXEC:?}" "${STORM_BUILD:?}"
need_python
reference=$here/../reference

# script COMMAND...: a script of tests/reference with exit status 0.
script() {
    name=$1
    shift
    checks=$((checks + 1))
    python3 "$reference/$name" "$@" || fail "$name $*"
}

# solve NAME CELLS PACKETS TIME SETTLE: from $scratch/NAME.csv.
solve() {
    name=$1
    shift
    checks=$((checks + 1))
    "$STORM_MPIEXEC" -n 1 "$STORM_BUILD/examples/host_shock" \
        "$scratch/$name.csv" "$@" "$scratch/$name-mean.csv" \
        >"$scratch/$name.log" 2>&1 ||
        fail "$name: $(tail -3 "$scratch/$name.log")"
    echo "$name:"
}

script radiative_shock.py check
script radiation_tube.py check

# shock NAME MACH "OPTIONS" CELLS PACKETS TIME SETTLE
shock() {
    title=$1 mach=$2 options=$3
    shift 3
    # shellcheck disable=SC2086
    python3 "$reference/radiative_shock.py" "$mach" $options \
        >"$scratch/$title.csv" || fail "radiative_shock.py $mach"
    solve "$title" "$@"
    script radiative_shock.py "$mach" --compare "$scratch/$title-mean.csv"
}

shock mach-2 2 "--from -0.01 --to 0.01" 100 10 0.03 0.01
shock mach-2-step 2 "--from -0.01 --to 0.01 --step" 100 10 0.04 0.02
shock mach-5 5 "--from -0.04 --to 0.015" 120 10 0.03 0.01

python3 "$reference/radiation_tube.py" >"$scratch/tube.csv" ||
    fail "radiation_tube.py"
solve tube 60 10 4.8e-6 1.6e-6
script radiation_tube.py --compare "$scratch/tube-mean.csv"
finish
