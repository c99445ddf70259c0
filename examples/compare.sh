#!/bin/sh
# Runs a program and compares what it prints with its golden output. A failing program fails.
out=$("$1") || exit 1
printf '%s\n' "$out" | diff -u "$2" -
