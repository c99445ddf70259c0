#!/bin/sh
# Runs a program and compares what it prints with its golden output.
"$1" | diff -u "$2" -
