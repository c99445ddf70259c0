#!/bin/sh
# Stores small runs of a release, which every later version must read (tests/app/releases_test.cpp).
#   store.sh DASGD    writes tests/releases/VERSION
set -eu
dasgd=$(realpath "$1")
version=$("$dasgd" --version | sed -n '1s/dasgd //p')
cd "$(dirname "$0")"
mkdir "$version"
cd "$version"
awk 'BEGIN { for (i = 0; i < 60; i++) print (i * 7 % 11) "," (i * 5 % 13) "," (i * 7 % 11 + i * 5 % 13 > 10 ? "big" : "small") }' >rows.csv
"$dasgd" train --model quadratic --workers 2 --topology ring --lr 0.002 --gradients 40 --trace --no-report --quiet --out threads
"$dasgd" train --model softmax --data rows.csv --workers 2 --batch 4 --total-gradients 40 --rule momentum --no-report --quiet --out softmax
"$dasgd" simulate --model quadratic --workers 4 --topology ring --slow 3:5 --lr 0.002 --gradients 10 --trace --no-report --quiet --out simulated
rm -f -- */*.lock */.lock
for run in threads softmax; do # the last checkpoint is enough
  ls "$run"/checkpoints/* | sort | head -n -1 | xargs -r rm
done
sed -i "s|\"[^\"]*/rows.csv\"|\"rows.csv\"|" softmax/config.toml
find . -type f | xargs ls -l
