#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 240; label: mpi
#
# The Python package. storm.Host: arrays in place, errors as exceptions, meshes of
# every kind, on 1 and 2 ranks. storm.Run: what a run has written.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=../cli/cli.sh
. "$here/../cli/cli.sh"
# shellcheck source-path=SCRIPTDIR source=bindings.sh
. "$here/bindings.sh"

cat >"$scratch/cwd/d.yaml" <<'END'
title: cubes
constants: {c: 1, a: 1}
mesh: {box: {lo: [0, 0, 0], hi: [1, 1, 1]}, cells: [6, 2, 1]}
materials:
  - {name: gas, absorption: {coef: 1}, heat_capacity: {coef: 2}, temperature: 1}
regions: [{material: gas}]
time: {dt: 0.1, steps: 4}
packets: {emit_per_cell: 5, min_per_cell: 2, max_per_cell: 20}
output: {every: 2, profile: {axis: x}, checkpoint: {every: 4}}
END
did=0
if python_with numpy h5py; then
    run run d.yaml --out "$scratch/out.run" -n 2
    [ "$status" = 0 ] || fail "the run: $(cat "$scratch/err")"
    PYTHONPATH=$root/bindings/python "$python" "$here/run.py" "$scratch/out.run" ||
        fail "storm.Run"
    did=1
else
    echo "storm.Run is not tested: no python3 with numpy and h5py" >&2
fi

why=$(why_not_host)
if [ -z "$why" ]; then
    python_with numpy mpi4py
    for ranks in 1 2; do
        STORM_LIBRARY=$library PYTHONPATH=$root/bindings/python \
            "$STORM_MPIEXEC" -n "$ranks" "$python" "$here/host.py" ||
            fail "storm.Host on $ranks ranks"
    done
    did=1
else
    echo "storm.Host is not tested: $why" >&2
fi
[ $did = 1 ] || exit 77
[ $failures -eq 0 ] || exit 1
