#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 20; label: slow-asan slow-mpich
#
# tools/dev/site_links finds each fault that a site may have, and nothing in a
# good one.
set -u
here=$(cd "$(dirname "$0")" && pwd)
links=$here/../../tools/dev/site_links
command -v python3 >/dev/null 2>&1 || {
    echo "python3 is not there"
    exit 77
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

# verdict STATUS TEXT BODY: of a site of two pages, one of which is BODY.
verdict() {
    rm -rf "$scratch/site"
    mkdir -p "$scratch/site/part"
    echo '<h1 id="one">1</h1><a href="part/b.html#two">b</a>' \
        >"$scratch/site/a.html"
    echo "<h1 id='two'>2</h1>$3" >"$scratch/site/part/b.html"
    status=0
    "$links" "$scratch/site" >"$scratch/out" 2>&1 || status=$?
    if [ "$status" -ne "$1" ] || ! grep -q "$2" "$scratch/out"; then
        echo "FAIL: $3: $status, $(cat "$scratch/out")" >&2
        failures=$((failures + 1))
    fi
}

verdict 0 '2 pages, 2 links' '<a href="../a.html#one">a</a>'
verdict 0 '2 pages, 2 links' '<a href="#two">2</a>'
verdict 0 '2 pages, 1 links' '<a href="https://example.org/">elsewhere</a>'
verdict 1 'b.html: leads nowhere: c.html' '<a href="c.html">c</a>'
verdict 1 'b.html: leads nowhere: ../../x' '<a href="../../x">outside</a>'
verdict 1 'leads nowhere: p.svg' '<img src="p.svg">'
verdict 1 'no such anchor: ../a.html#two' '<a href="../a.html#two">2</a>'
verdict 1 'no such anchor: #one' '<a href="#one">1</a>'
verdict 1 'not of the site: https://e.org/p.png' '<img src="https://e.org/p.png">'
verdict 1 'not of the site: //e.org/s.css' '<link href="//e.org/s.css">'
verdict 1 'a script' '<script>1</script>'
verdict 1 'a script: onclick' '<b onclick="1">b</b>'
[ "$failures" -eq 0 ]
