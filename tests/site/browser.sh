#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 900; label: long
#
# The whole site, headers included, and the report of a run in a browser: on a
# phone and on a screen, light and dark. Skipped without pandoc, Doxygen or Chromium.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
for tool in pandoc doxygen chromium; do
    command -v $tool >/dev/null 2>&1 || {
        echo "$tool is not there"
        exit 77
    }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
ln -s "$STORM_BIN" "$scratch/storm"
"$root/tools/dev/docs" "$scratch/storm" || exit 1

# A page that is too wide, and one that is always light, must be noticed.
mkdir "$scratch/bad"
echo '<body style="background: #fff; color: #000"><p>always light' \
    >"$scratch/bad/light.html"
echo '<meta name="color-scheme" content="light dark"><body>
<div style="width: 2000px">wide</div><script>oops()</script>' \
    >"$scratch/bad/wide.html"
if "$root/tools/dev/site_browser" "$scratch/bad" >"$scratch/out" 2>&1; then
    echo "FAIL: a bad site is good" >&2
    exit 1
fi
for text in 'light.html (390 px, dark): not dark' \
    'wide.html (390 px, light): 2.* pixels wide' 'wide.html .*Uncaught'; do
    grep -q "$text" "$scratch/out" || {
        echo "FAIL: not noticed: $text: $(cat "$scratch/out")" >&2
        exit 1
    }
done
mkdir "$scratch/report"
"$STORM_BIN" run "$root/examples/decks/crooked-pipe.yaml" -n 1 --quiet \
    --set time.steps=2 --set output.every=1 --out "$scratch/run" &&
    "$STORM_BIN" report "$scratch/run" --quiet \
        --out "$scratch/report/report.html" || exit 1
"$root/tools/dev/site_browser" "$scratch/report" || exit 1
exec "$root/tools/dev/site_browser" "$scratch/docs/html"
