#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 120; label: long
#
# The bundle for machines where nothing can be installed (tools/dev/bundle) works
# where there is nothing but itself: its quick measurements in a root that has no
# file besides.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$here/cli.sh"

skip() {
    echo "$*" >&2
    exit 77
}
[ "$(id -u)" -eq 0 ] || skip "not root: no chroot"
for tool in patchelf xz busybox ompi_info orterun; do
    command -v $tool >/dev/null || skip "$tool is not there"
done
ldd "$STORM_BIN" | grep 'libmpi\.so' >/dev/null || skip "not over Open MPI"
if ldd "$STORM_BIN" | grep 'lib[a-z]*san\.so' >/dev/null; then
    skip "with a sanitizer"
fi

new=$scratch/root
mkdir -p "$new/proc" "$new/dev"
mknod -m 666 "$new/dev/null" c 1 3 2>/dev/null || skip "no device files here"
mount -t proc proc "$new/proc" 2>/dev/null || skip "no mounts here"
trap 'umount "$new/proc"; rm -rf "$scratch"' EXIT

# It checks its own size.
"$here/../../tools/dev/bundle" "$STORM_BIN" "$new/bundle" >"$scratch/log" 2>&1 ||
    fail "no bundle: $(tail -n 3 "$scratch/log")"
cat "$scratch/log"

# measure ARGS...: in there; leaves $status and $scratch/out.
measure() {
    status=0
    rm -rf "$new/results"
    env -i "$(command -v chroot)" "$new" /bundle/busybox sh /bundle/measure "$@" /results \
        >"$scratch/out" 2>&1 || status=$?
    checks=$((checks + 1))
}

measure --quick --ranks 2 --limit 240
cat "$scratch/out"
[ "$status" -eq 0 ] || fail "exit status $status: $(cat "$new/results/log.txt")"
find "$new/tmp" -name 'storm-*' | grep . && fail "left behind in the root's tmp"

# One state for each deck, whatever device and ranks, and that of the program
# that the bundle was made of.
devices=none
"$STORM_BIN" options | grep -q '^transport\.device,' && devices="none emulated"
for name in absorber vortex octree multigroup-slab; do
    for device in $devices; do
        for ranks in 1 2; do
            line=$(grep "^smoke  *$name  *$device  *$ranks " \
                "$new/results/summary.txt")
            case $line in
            *" $ranks       0 "*" state "*) echo "${line##* }" ;;
            *" $ranks    none "*) ;; # no kernel on devices
            *) fail "$name, $device, $ranks ranks: ${line:-nothing}" ;;
            esac
        done
    done >"$scratch/states"
    [ "$(sort -u "$scratch/states" | wc -l)" -eq 1 ] ||
        fail "$name: $(cat "$scratch/states")"
done
run run "$here/../../examples/decks/absorber.yaml" -n 1 --quiet --json -
grep -q " state $(hash_of)\$" "$new/results/summary.txt" ||
    fail "absorber: the program itself has state $(hash_of)"
if command -v python3 >/dev/null; then
    python3 - "$new/results/results.json" <<'PYTHON' || fail "results.json"
import json, sys

got = json.load(open(sys.argv[1]))
assert got["cores"] >= 1 and got["libc"] == "own", got
runs = [r for r in got["results"] if r["part"] == "smoke"]
assert len(runs) >= 10, len(runs)
bad = [r["command"] for r in runs if r["status"] not in ("0", "none")
       or r["json"] and len(r["json"]["state_hash"]) != 16]
assert not bad, bad
PYTHON
fi

# What there is no time for is reported, and is no success.
measure --part smoke --ranks 1 --limit 4
[ "$status" -eq 1 ] || fail "without time: exit status $status"
grep -q '^smoke .* skipped ' "$new/results/summary.txt" ||
    fail "without time: $(cat "$scratch/out")"
measure --part nothing
[ "$status" -eq 2 ] || fail "a part that is not there: exit status $status"

finish
