#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 240; label: slow-asan slow-mpich
#
# The site is built, from the documents and by the program, without Doxygen: all
# links hold, and each kind of page shows what it is for. Skipped without pandoc.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
for tool in pandoc python3; do
    command -v $tool >/dev/null 2>&1 || {
        echo "$tool is not there"
        exit 77
    }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0
fail() {
    echo "FAIL: $*" >&2
    failures=$((failures + 1))
}

"$root/tools/dev/site" "$scratch" --program "$STORM_BIN" || fail "site: $?"
"$root/tools/dev/site_links" "$scratch" || fail "site_links: $?"

has() { # PAGE TEXT
    grep -q -e "$2" "$scratch/$1" || fail "$1: no '$2'"
}
has index.html 'class="cards"'
has docs/tutorial.html 'aria-current="page">Tutorial<'
has docs/tutorial.html '<aside class="toc">'
has docs/tutorial.html 'class="sourceCode c"'
has docs/tutorial.html '<a rel="next" href="concepts.html">'
has gallery/index.html '<img src="../examples/problems/su-olson.svg"'
has commands/storm-run.html '<h2 id="exit-status">'
has headers/index.html 'storm/engine.h'
has examples/step1.c.html 'download>Download step1.c<'
has bench/results/index.html '<h2 id="files">'
has docs/decisions/index.html '1. Packets stay in slots'
cmp -s "$root/examples/step1.c" "$scratch/examples/step1.c" ||
    fail "step1.c is not the file"
[ "$failures" -eq 0 ]
