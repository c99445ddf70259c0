#!/bin/sh
# Kills a training run with SIGKILL every few seconds, resumes it, and compares its end with that of a run that
# was left alone.
#   kill_and_resume.sh [DASGD [SECONDS [softmax|cnn]]]     default: build/release/dasgd, 120 s of killing, softmax
set -eu
dasgd=${1:-build/release/dasgd}
seconds=${2:-120}
model=${3:-softmax}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Gradients are padded so that the run lasts about two thirds of the killing, whatever the machine.
case $model in
  softmax) epochs=10 batch=64 least=1 rule="--rule momentum --lr 0.003" ;;
  cnn) epochs=2 batch=32 least=5 rule="--lr 0.05 --schedule cosine" ;; # its start takes a few seconds
  *) echo "kill_and_resume.sh: $model is neither softmax nor cnn" >&2; exit 2 ;;
esac
gradients=$((epochs * 60000 / 2 / batch))
pad=$((seconds * 2 / 3 * 1000000 / gradients))us
settings="--model $model --data fashion-mnist --workers 2 --batch $batch $rule --epochs $epochs --quiet"

"$dasgd" train $settings --out "$work/whole"

"$dasgd" train $settings --compute "$pad" --checkpoint-every 500ms --trace --out "$work/killed" &
run=$!
kills=0
while [ ! -f "$work/killed/config.toml" ]; do sleep 0.1; done # nothing can be lost before that
end=$(($(date +%s) + seconds))
while [ "$(date +%s)" -lt "$end" ]; do
  sleep "$((least + kills % 4)).$((kills * 7 % 10))"
  kill -9 "$run" 2>/dev/null || break # it has ended by itself
  wait "$run" 2>/dev/null || true
  kills=$((kills + 1))
  "$dasgd" train --resume "$work/killed" --quiet &
  run=$!
done
wait "$run"

value() { sed -n "s/^ *\"$2\": \([^,]*\),*$/\1/p" "$work/$1/summary.json" | head -n 1; }
"$dasgd" check "$work/killed/trace.jsonl" | tail -n 1
echo "killed $kills times"
for key in samples gradients lost duplicated replicas_identical accuracy best_accuracy loss wall_seconds; do
  echo "  $key: left alone $(value whole $key), killed $(value killed $key)"
done
[ "$(value killed samples)" = "$(value whole samples)" ] || { echo "samples differ"; exit 1; }
[ "$(value killed lost)$(value killed duplicated)$(value killed replicas_identical)" = 00true ] ||
  { echo "the audit failed"; exit 1; }
awk "BEGIN { d = $(value killed accuracy) - $(value whole accuracy); exit !(d > -0.01 && d < 0.01) }" ||
  { echo "accuracies differ by more than a point"; exit 1; }
