# What the commands of a page expect to be there: setup.sh PAGE, in the directory where they will run.
case $1 in
  data.md)
    awk 'BEGIN { print "height,girth,kind"; for (i = 0; i < 90; i++) print i % 9 + 3 * (i % 3) "," i % 7 "," (i % 3 ? i % 3 > 1 ? "yew" : "pine" : "oak") }' >trees.csv
    cp trees.csv later.csv
    cp trees.csv new.csv
    ;;
  reports.md)
    for run in first a b; do dasgd simulate --model quadratic --workers 2 --gradients 50 --lr 0.002 --no-report --out "runs/$run"; done
    ;;
esac
