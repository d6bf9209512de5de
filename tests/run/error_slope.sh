#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 900; label: long mpi slow-asan slow-mpich
#
# The error of three problems of examples/problems falls with the square root of the
# number of packets: slope -0.5 within 0.05, over a factor of 16, from 16 replicas.
# The step and the shadow against their answers; the sphere about its mean, since
# its cells are not points.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=../cli/cli.sh
. "$here/../cli/cli.sh"
need_python
reference=$here/../reference

# sweep NAME KEY FILE "PACKETS..." ARGS...: leaves PACKETS:FILE pairs in $runs.
sweep() {
    name=$1 key=$2 file=$3 counts=$4
    shift 4
    runs=
    for packets in $counts; do
        out=$scratch/$name-$packets
        run run "$here/../../examples/problems/$name.yaml" --out "$out" -n 2 \
            --replicas 16 --set "$key=$packets" "$@"
        [ "$status" -eq 0 ] || fail "$name: $(tail -3 "$scratch/err")"
        # shellcheck disable=SC2086
        runs="$runs $packets:$(ls -t "$out"/$file | head -n 1)"
    done
}

# slope OPTIONS...: of $runs.
slope() {
    echo "$name:"
    # shellcheck disable=SC2086
    python3 "$reference/error_slope.py" radiation_energy $runs "$@" ||
        fail "$name: not -0.5"
}

sweep diffusing-step packets.max_per_cell 'profile-20.csv' '25 100 400' \
    --set time.stop=1e-10 --set output.times=[]
python3 "$reference/diffusing_step.py" 1e-10 >"$scratch/step.csv" ||
    fail "diffusing_step.py"
slope --reference "$scratch/step.csv" --y radiation_erg_cm3 --to 0.55

sweep shadow boundaries.x_lo.packets 'profile-60.csv' '1000 4000 16000'
slope --reference "$reference/shadow.csv" --x position --y radiation_energy

sweep homogeneous-sphere packets.emit_per_cell 'probes.csv' '10 40 160' \
    --set mesh.points=4000
slope
finish
