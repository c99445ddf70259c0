#!/bin/sh
# Writes what is generated in docs/: command_line.md, from the tables behind --help, and pictures/comparison.svg.
#   update_docs.sh [DASGD]    DASGD is the built program (default: build/release/dasgd)
set -eu
cd "$(dirname "$0")/.."
pages=$(mktemp -d)
trap 'rm -rf "$pages"' EXIT
"${1:-build/release/dasgd}" manual --markdown "$pages"
cp "$pages/command_line.md" docs/command_line.md
scripts/comparison_picture.py
