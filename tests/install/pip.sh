#!/bin/sh
# Installs the package into a fresh environment by pip, without any index, from a tree that is built:
#   pip.sh SOURCE BUILD PYTHON
set -eu
source=$1 build=$2 python=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset PYTHONPATH
"$python" -m venv --system-site-packages "$work/env"
"$work/env/bin/pip" install -q --no-index --disable-pip-version-check "$source" --config-settings "build-dir=$build"
cd "$work"
"$work/env/bin/python" - <<'PYTHON'
import os, sys, dasgd, numpy
assert dasgd.__file__.startswith(sys.prefix), dasgd.__file__
r = dasgd.train(model="quadratic", workers=2, gradients=50, lr=0.005, out="run")
assert r.summary["gradients"] == 100 and r.summary["lost"] == 0 and isinstance(r.model, numpy.ndarray)
assert os.path.exists(os.path.join(os.path.dirname(dasgd.__file__), "py.typed"))
PYTHON
"$work/env/bin/dasgd" train --model quadratic --workers 2 --gradients 50 --lr 0.005 --quiet --out by-program
test -f by-program/summary.json
"$work/env/bin/pip" show -q --disable-pip-version-check dasgd
"$work/env/bin/pip" uninstall -q -y dasgd
! "$work/env/bin/python" -c "import dasgd" 2>/dev/null
echo "installed, used and removed"
