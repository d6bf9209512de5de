#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 60; label: mpi slow-asan slow-mpich
#
# storm points: a set that mesh.points_file reads, the same for the same command;
# what is wrong with its options is said, and nothing is written then.
set -u
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$(dirname "$0")/cli.sh"

run points --shape cylinder --radius 1 --length 2 --part quarter --sides 3 \
    --spacing r=0.3,z=0.5 --graded r=0.5+:0.01:1.5 --graded z=1:0.02:1.5 \
    --out "$scratch/pipe.txt"
[ "$status" -eq 0 ] || fail "points: $(cat "$scratch/err")"
sed 1d "$scratch/out" | tr '\n' ' ' >"$scratch/mesh"
n=$(grep -vc '^#' "$scratch/pipe.txt")
grep -q ": $n points\$" "$scratch/out" || fail "not $n points"

# What it prints is the mesh of a deck.
cat >"$scratch/pipe.yaml" <<END
title: Pipe
$(cat "$scratch/mesh")
materials:
  - {name: gas, absorption: {coef: 1}, heat_capacity: {coef: 1e14}, temperature: 0.1}
  - {name: wall, absorption: {coef: 100}, heat_capacity: {coef: 1e15}, temperature: 0.1}
regions:
  - {material: wall}
  - {material: gas, shape: cylinder, axis: z, radius: [0, 0.5]}
  - {material: outside, shape: cylinder, axis: z, radius: [1, 9]}
boundaries: {x_lo: {kind: reflect}, y_lo: {kind: reflect}}
time: {dt: 1e-11, steps: 2}
END
run run "$scratch/pipe.yaml" --quiet --json - --out "$scratch/pipe" -n 2
[ "$status" -eq 0 ] || fail "run: $(cat "$scratch/err")"
grep -q "\"cells\": $n" "$scratch/out" || fail "not $n cells"
# A prism of twelve sides around r = 0.5: 0.2009619 cm2 a quarter.
volume=$(sed -n '/"name": "gas"/,/}/s/.*"volume": \([0-9.e-]*\).*/\1/p' "$scratch/out")
awk "BEGIN { v = $volume / 2 / 0.200961894; exit !(v > 0.999999 && v < 1.000001) }" ||
    fail "gas has a volume of $volume"

# Files of a deck are in its folder; those that are not there or damaged are a
# fault of the deck, also under a launcher of the user's, and nothing is written.
sed -i "s|points_file: [^,]*|points_file: pipe.txt|" "$scratch/pipe.yaml"
run check "$scratch/pipe.yaml"
[ "$status" -eq 0 ] || fail "a file in the folder: $(cat "$scratch/err")"
printf "1 1 1\n1 2\n" >"$scratch/cut.txt"
echo "x,y,z" >"$scratch/empty.txt"
for case in "none.txt: No such file" "cut.txt.*expected" \
    "empty.txt: has no points"; do
    file=${case%%.txt*}.txt
    for command in check run; do
        run "$command" "$scratch/pipe.yaml" --set mesh.points_file="$file"
        [ "$status" -eq 2 ] || fail "$command $file: exit status $status"
        grep -q "error: .*$case" "$scratch/err" ||
            fail "$command $file: $(cat "$scratch/err")"
    done
    [ -z "${STORM_MPIEXEC:-}" ] && continue
    status=0
    "$STORM_MPIEXEC" -n 2 "$STORM_BIN" run "$scratch/pipe.yaml" \
        --set mesh.points_file="$file" --out "$scratch/bad" \
        >"$scratch/out" 2>"$scratch/err" || status=$?
    [ "$status" -eq 2 ] || fail "launched, $file: exit status $status"
    [ "$(grep -c "error: .*$case" "$scratch/err")" -eq 1 ] ||
        fail "launched, $file: $(cat "$scratch/err")"
done
[ -z "$(ls -A "$scratch/cwd")" ] && [ ! -e "$scratch/bad" ] || fail "a bad file left files"

# The same again; with a shift, the seed matters.
set -- --shape box --hi 1,1,1 --spacing 0.3 --jitter 0.5 --quiet
for file in a b; do
    run points "$@" --seed 3 --out "$scratch/$file"
    [ "$status" -eq 0 ] && [ ! -s "$scratch/out" ] || fail "points: $status"
done
run points "$@" --seed 4 --out "$scratch/c"
sed -i '/^#/d' "$scratch/a" "$scratch/b" "$scratch/c"
cmp -s "$scratch/a" "$scratch/b" || fail "the same seed gives other points"
cmp -s "$scratch/a" "$scratch/c" && fail "another seed gives the same points"

# refuse PATTERN ARGS...
refuse() {
    pattern=$1
    shift
    run points "$@" --out "$scratch/none"
    [ "$status" -eq 2 ] || fail "$*: exit status $status"
    grep -q -e "$pattern" "$scratch/err" || fail "$*: $(cat "$scratch/err")"
    [ ! -e "$scratch/none" ] || fail "$*: a file"
}
refuse 'shape is required' --spacing 1
refuse 'spacing is required' --shape box --hi 1,1,1
refuse 'hi is required' --shape box --spacing 1
refuse 'length is required' --shape cylinder --radius 1 --spacing 1
refuse 'does not go with shape sphere' --shape sphere --radius 1 --length 1 --spacing 1
refuse 'expected 3 numbers' --shape box --hi 1,1 --spacing 1
refuse 'one of r or z' --shape cylinder --radius 1 --length 1 --spacing 1 \
    --graded x=1:1:1
refuse 'expected C=X:D:G' --shape box --hi 1,1,1 --spacing 1 --graded x=1:1
refuse 'surface x = 2 is not within' --shape box --hi 1,1,1 --spacing 1 \
    --graded x=2:0.1:1.4
refuse 'spacing of y is 0' --shape box --hi 1,1,1 --spacing x=1,z=1

finish
