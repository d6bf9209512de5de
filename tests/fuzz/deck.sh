#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST args: 600; timeout: 900; label: long
#
# deck.sh SECONDS: libFuzzer on the deck reader, with the address and undefined
# behaviour sanitizers; it starts from the example decks, and knows the keys.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

sanitize=-fsanitize=fuzzer,address,undefined
if ! echo 'int LLVMFuzzerTestOneInput(const char *d, long n);
    int LLVMFuzzerTestOneInput(const char *d, long n) { return d == 0 && n; }' |
    clang $sanitize -x c - -o "$scratch/probe" 2>/dev/null; then
    echo "no clang with libFuzzer"
    exit 77
fi

cd "$root"
build=${STORM_BUILD:-build} # generated headers
clang -std=c11 -D_GNU_SOURCE -g -O1 $sanitize -fno-sanitize-recover=all \
    -Iinclude -Isrc -Isrc/base/host -I"$build/generated" tests/fuzz/deck_fuzzer.c \
    src/deck/deck*.c src/physics/problem_check.c src/mesh/mesh_kinds.c \
    src/base/*.c src/base/host/*.c -lyaml -lm -o "$scratch/deck_fuzzer"

mkdir "$scratch/corpus"
cp examples/decks/*.yaml tests/cli/good.yaml "$scratch/corpus"
sed -n 's/^| `\([^`]*\.\)*\([a-zA-Z_]*\)\(\[\]\)*`.*/"\2: "/p' docs/deck.md |
    sort -u >"$scratch/keys"
clang --version | head -n 1
"$scratch/deck_fuzzer" -max_total_time="${1:-600}" \
    -max_len=16384 -timeout=10 -rss_limit_mb=2048 -dict="$scratch/keys" \
    -artifact_prefix="$scratch/" -print_final_stats=1 "$scratch/corpus" \
    >"$scratch/log" 2>&1 || {
    # The input, so that it can be made a test.
    cat "$scratch/log"
    for input in "$scratch"/crash-* "$scratch"/timeout-* "$scratch"/oom-* \
        "$scratch"/leak-*; do
        [ ! -f "$input" ] || od -c "$input"
    done
    exit 1
}
grep -E '^(#[0-9]+.*(INITED|DONE|pulse)|Done|stat::)' "$scratch/log"
echo "corpus: $(find "$scratch/corpus" -type f | wc -l) inputs at the end"
