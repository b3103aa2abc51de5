#!/bin/sh
# Runs a pytest command. Up to three tests that fail run once more, and count by how that ends: other work on the machine
# fails a test once, a fault of the code twice. Those that pass only then are named: such a test wants to be mended.
# usage: tests/again.sh PYTHON -m pytest [ARGUMENTS]
set -u
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
"$@" -o cache_dir="$cache"
code=$?
[ $code = 1 ] || exit $code

named='import json, sys; print(*json.load(open(sys.argv[1])), sep="\n")'
failed=$("$1" -c "$named" "$cache/v/cache/lastfailed") || exit 1
if [ "$(printf '%s\n' "$failed" | wc -l)" -gt 3 ]; then exit 1; fi
printf 'again.sh: once more:\n%s\n' "$failed"
"$@" -o cache_dir="$cache" --last-failed || exit $?
printf 'again.sh: passed only the second time:\n%s\n' "$failed" >&2
