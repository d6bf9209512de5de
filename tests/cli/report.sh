#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 60; label: mpi slow-mpich
#
# storm report: one well-formed page that needs no other file, whatever the
# title is; also of a run that has not ended.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$here/cli.sh"
need_python

cat >"$scratch/look.py" <<'PYTHON'
import sys
import xml.etree.ElementTree as tree

text = open(sys.argv[1], encoding="utf-8").read()
root = tree.fromstring(text.split("\n", 1)[1])  # without the DOCTYPE
html, svg = "{http://www.w3.org/1999/xhtml}", "{http://www.w3.org/2000/svg}"
assert root.find(html + "head/" + html + "title").text == 'a <b> & "c"'
assert len(list(root.iter(svg + "svg"))) == int(sys.argv[2]), text.count("<svg")
for element in root.iter():
    for name, value in element.attrib.items():
        assert name.split("}")[-1] not in ("src", "href"), element.tag
        assert "url(" not in value
deck = "".join(root.find(".//" + html + "pre").itertext())
assert deck == open(sys.argv[3], encoding="utf-8").read()
rows = {r[0].text: r[1].text for r in root.iter(html + "tr")}
for word in sys.argv[4:]:
    assert word in rows, (word, rows)
PYTHON

run run "$here/good.yaml" -n 2 --quiet --out "$scratch/run" \
    --set title='a <b> & "c"' --set mesh.cells='[4,2,1]'
[ "$status" -eq 0 ] || fail "good.yaml: $(cat "$scratch/err")"
run report "$scratch/run"
[ "$status" -eq 0 ] || fail "report: $(cat "$scratch/err")"
[ "$(cat "$scratch/out")" = "$scratch/run/report.html" ] || fail "no name"
# time, two profiles, four slices, four of the history, two moments
python3 "$scratch/look.py" "$scratch/run/report.html" 13 \
    "$scratch/run/deck.yaml" created "state hash" "time steps" ||
    fail "the page"

# What the run has warned of is there, and in the summary.
grep -q '<li>region 2, of material wall, is a layer' \
    "$scratch/run/report.html" || fail "no warnings in the report"
grep -q '"warnings": \[' "$scratch/run/summary.json" || fail "no warnings"

# The moments are on one scale, and of a line there are none.
python3 - "$scratch/run/report.html" <<'PYTHON' || fail "scales of moments"
import re, sys

moments = open(sys.argv[1], encoding="utf-8").read().split("Earlier times")[1]
texts = [re.findall(r'<text [^>]*>([^<]*)<', figure)
         for figure in moments.split("<figure")[1:]]
assert len(texts) == 2 and texts[0][1] != texts[1][1], texts
assert texts[0][2:] == texts[1][2:], texts
PYTHON
run run "$here/good.yaml" -n 2 --quiet --out "$scratch/line" \
    --set title='a <b> & "c"'
run report "$scratch/line"
# time, two profiles, owners, four of the history
python3 "$scratch/look.py" "$scratch/line/report.html" 8 \
    "$scratch/line/deck.yaml" || fail "the page of a line"

rm "$scratch/run/summary.json"
run report "$scratch/run" --quiet --out "$scratch/new/page.html"
[ "$status" -eq 0 ] || fail "no summary: $(cat "$scratch/err")"
[ ! -s "$scratch/out" ] || fail "--quiet talks"
grep -q "the run has not ended" "$scratch/new/page.html" || fail "no word"
python3 "$scratch/look.py" "$scratch/new/page.html" 12 \
    "$scratch/run/deck.yaml" || fail "no summary"

run report "$scratch/cwd"
[ "$status" -eq 2 ] || fail "no run: exit status $status"
grep -q "is not the directory of a run" "$scratch/err" || fail "no run"
run report
[ "$status" -eq 2 ] || fail "no directory: exit status $status"
run report "$scratch/run" --reference "$scratch/none.csv"
[ "$status" -eq 2 ] || fail "no reference: exit status $status"
run report "$scratch/run" --out /dev/null/x
[ "$status" -eq 1 ] || fail "no place: exit status $status"

finish
