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
import base64
import struct
import sys
import xml.etree.ElementTree as tree
import zlib


def pixels(uri):
    """Width and pixels of a PNG (PNG-1)"""
    data, at, packed = base64.b64decode(uri.split("base64,")[1]), 8, b""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    while at < len(data):
        n, = struct.unpack(">I", data[at:at + 4])
        chunk = data[at + 4:at + 8 + n]
        assert struct.unpack(">I", data[at + 8 + n:at + 12 + n])[0] == \
            zlib.crc32(chunk)
        if chunk[:4] == b"IHDR":
            width, height = struct.unpack(">II", chunk[4:12])
        packed += chunk[4:] if chunk[:4] == b"IDAT" else b""
        at += 12 + n
    raw = zlib.decompress(packed)
    assert len(raw) == height * (width + 1)
    assert all(raw[i] == 0 for i in range(0, len(raw), width + 1))
    return width, raw


text = open(sys.argv[1], encoding="utf-8").read()
root = tree.fromstring(text.split("\n", 1)[1])  # without the DOCTYPE
html, svg = "{http://www.w3.org/1999/xhtml}", "{http://www.w3.org/2000/svg}"
assert root.find(html + "head/" + html + "title").text == 'a <b> & "c"'
assert len(list(root.iter(svg + "svg"))) == int(sys.argv[2]), text.count("<svg")
for element in root.iter():
    for name, value in element.attrib.items():
        if name.split("}")[-1] in ("src", "href"):
            assert value.startswith("data:image/png;base64,"), element.tag
        assert "url(" not in value
deck = "".join(root.find(".//" + html + "pre").itertext())
assert deck == open(sys.argv[3], encoding="utf-8").read()
# Frames of the film (FILM-1): of one size, the last is in the large picture.
frames = [i.get("src") for i in root.iter(html + "img")]
assert len(frames) == int(sys.argv[4]), len(frames)
assert len({pixels(frame)[0] for frame in frames}) < 2
stage = [i.get("href") for i in root.iter(svg + "image")]
assert stage == frames[-1:], "not the last frame"
assert not frames or frames[0] != frames[-1]
assert len(list(root.iter(html + "script"))) == len(stage)
rows = {r[0].text: r[1].text for r in root.iter(html + "tr")}
for word in sys.argv[5:]:
    assert word in rows, (word, rows)
PYTHON

run run "$here/good.yaml" -n 2 --quiet --out "$scratch/run" \
    --set title='a <b> & "c"' --set mesh.cells='[4,2,1]'
[ "$status" -eq 0 ] || fail "good.yaml: $(cat "$scratch/err")"
run report "$scratch/run"
[ "$status" -eq 0 ] || fail "report: $(cat "$scratch/err")"
[ "$(cat "$scratch/out")" = "$scratch/run/report.html" ] || fail "no name"
# time, a film, two profiles, four slices, six of the history, traffic
python3 "$scratch/look.py" "$scratch/run/report.html" 15 \
    "$scratch/run/deck.yaml" 4 created "state hash" "time steps" ||
    fail "the page"

# What the run has warned of is there, and in the summary.
grep -q '<li>region 2, of material wall, is a layer' \
    "$scratch/run/report.html" || fail "no warnings in the report"
grep -q '"warnings": \[' "$scratch/run/summary.json" || fail "no warnings"

run run "$here/good.yaml" -n 2 --quiet --out "$scratch/line" \
    --set title='a <b> & "c"'
run report "$scratch/line"
# time, two profiles, owners, six of the history
python3 "$scratch/look.py" "$scratch/line/report.html" 10 \
    "$scratch/line/deck.yaml" 0 || fail "the page of a line"

rm "$scratch/run/summary.json"
run report "$scratch/run" --quiet --out "$scratch/new/page.html"
[ "$status" -eq 0 ] || fail "no summary: $(cat "$scratch/err")"
[ ! -s "$scratch/out" ] || fail "--quiet talks"
grep -q "the run has not ended" "$scratch/new/page.html" || fail "no word"
python3 "$scratch/look.py" "$scratch/new/page.html" 13 \
    "$scratch/run/deck.yaml" 4 || fail "no summary"

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
