#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 60; label: mpi slow-asan slow-mpich
#
# LOAD-1, LOAD-2: there are new partitions only above the threshold, they lower
# the load as predicted, and a partition of the host between the steps changes
# no result. What packets did about it is in the summary.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$here/cli.sh"
need_python
deck=$here/../../examples/decks/hohlraum.yaml

# good CONDITION ARGS...: a condition on b (balance), r (remap) and top; the same
# state every time.
reference=
good() {
    condition=$1
    shift
    run run "$deck" --set mesh.kind=cartesian --set mesh.cells=[14,9,9] \
        --set time.steps=7 --set time.dt=2e-11 --quiet --json - \
        --set boundaries.x_lo.1.packets=2000 --set output.profile.bins=0 \
        --out "$scratch/out.d" --overwrite "$@"
    [ "$status" -eq 0 ] ||
        fail "$*: exit status $status: $(cat "$scratch/err")"
    hash=$(hash_of)
    : "${reference:=$hash}"
    [ "${hash:-none}" = "$reference" ] || fail "$*: $hash, not $reference"
    python3 - "$scratch/out" "$condition" <<'PYTHON' || fail "$*: $condition"
import json, sys

top = json.load(open(sys.argv[1]))
b, r = top["balance"], top.get("remap")
good = eval("(" + sys.argv[2] + ")")
if not good:
    print(b, r, file=sys.stderr)
sys.exit(not good)
PYTHON
}

good 'b["max"] == 1 and b["cuts"] == 0 and r is None' -n 1
good 'b["last"] > 1.5 and b["looks"] == 0 and r is None' -n 3 \
    --set balance.every=0
good 'b["looks"] == 3 and b["cuts"] == 0 and r is None' -n 3 \
    --set balance.every=2 --set balance.threshold=50
good 'b["cuts"] > 0 and b["last"] < 1.2 and r["moved"] > 0 and
    b["last_cut"]["predicted"] < 0.95 * b["last_cut"]["before"] and
    b["last_cut"]["predicted"] <= b["last_cut"]["measured"] < 1.3' -n 3 \
    --set balance.every=2 --set balance.threshold=1
# No partition is better by a twentieth than the same numbers of cells.
good 'b["looks"] == 6 and b["cuts"] == 0' -n 3 --set balance.every=1 \
    --set balance.weight=cells --set balance.threshold=1
good 'r["changes"] >= 12 and r["moved"] > 0 and r["outside"] == 0 and
    r["longest"] == 0' -n 5 --set balance.every=1 --set balance.host=cells
finish
