#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 240; label: slow-asan
#
# The ring benchmark measures both protocols over fabrics that are networks,
# each beside its limit, and names the provider.
set -u
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$(dirname "$0")/cli.sh"
need_python

# good BACKEND PROVIDER ARGS...
good() {
    backend=$1 provider=$2
    shift 2
    run bench ring -n 2 --batch 8,64 --seconds 0.01 --json - "$@"
    if grep -q "not part of this build\|cannot be used\|no provider" \
        "$scratch/err"; then
        echo "$backend $provider: not here"
        return
    fi
    [ "$status" -eq 0 ] || {
        fail "$backend: exit status $status: $(cat "$scratch/err")"
        return
    }
    python3 - "$scratch/out" "$backend" "$provider" <<'PYTHON' ||
import json, sys

rows = json.load(open(sys.argv[1]))["results"]
seen = [(r["protocol"], r["batch"]) for r in rows]
assert sorted(seen) == [("fast", 8), ("fast", 64), ("paper", 8),
                        ("paper", 64)], seen
for row in rows:
    assert row["backend"] == sys.argv[2], row
    assert row["provider"] == sys.argv[3], row
    for key in """ns_per_batch records_per_second latency_ns
            limit_ns_per_batch limit_ratio best_ns_per_batch
            best_limit_ns_per_batch""".split():
        assert row[key] > 0, (key, row)
    rate = 1e9 * row["batch"] / row["ns_per_batch"]
    assert abs(row["records_per_second"] / rate - 1) < 1e-9, row
    ratio = row["limit_ns_per_batch"] / row["ns_per_batch"]
    assert abs(row["limit_ratio"] / ratio - 1) < 1e-9, row
    assert row["best_ns_per_batch"] <= row["ns_per_batch"], row
    assert row["best_limit_ns_per_batch"] <= row["limit_ns_per_batch"], row
PYTHON
        fail "$backend: results"
}

good ofi "tcp;ofi_rxm" --backends ofi --provider "tcp;ofi_rxm"
good mpirma "" --backend mpirma

# One protocol, if one is asked for.
run bench ring -n 2 --backends shm --protocol fast --batch 8 --seconds 0.01 \
    --json -
[ "$status" -eq 0 ] || fail "--protocol: exit status $status"
grep -q '"protocol": "paper"' "$scratch/out" && fail "--protocol: paper, too"
grep -q '"protocol": "fast"' "$scratch/out" || fail "--protocol: no fast"

finish
