"""dasgd launch, and the example that it starts."""

import os
import re
import subprocess
import sys

import pytest

pytest.importorskip("torch")

DASGD = os.environ["DASGD"]
EXAMPLE = os.path.join(os.path.dirname(__file__), "../../examples/python/fashion_mnist.py")
DATA = "/usr/share/datasets/fashion-mnist"


def launch(*arguments):
    return subprocess.run([DASGD, "launch", *arguments], capture_output=True, text=True, timeout=300)


@pytest.mark.skipif(not os.path.isdir(DATA), reason="needs dataset-fashion-mnist")
def test_one_program_is_one_worker_or_several():
    alone = subprocess.run(
        [sys.executable, EXAMPLE, "--steps", "60"], capture_output=True, text=True, timeout=300
    )
    assert alone.returncode == 0, alone.stderr
    assert alone.stdout.startswith("60 gradients of 1 workers, 0 lost, replicas identical: True")
    two = launch("-n", "2", "--bare", "--", sys.executable, EXAMPLE, "--steps", "60")
    assert two.returncode == 0, two.stderr
    assert two.stdout.startswith("60 gradients of 2 workers, 0 lost, replicas identical: True")
    slow = launch("-n", "2", "--", sys.executable, EXAMPLE, "--steps", "60", "--slow", "10")
    assert slow.returncode == 0, slow.stderr
    assert re.search(r"\[.*0.*\].*60 gradients of 2 workers, 0 lost", slow.stdout)


def test_a_program_that_fails_is_told():
    done = launch("-n", "2", "--", sys.executable, "-c", "import sys; sys.exit(3)")
    assert done.returncode == 3


def test_elastic_workers_that_never_begin_a_run():
    done = launch("-n", "2", "--elastic", "--", "sh", "-c", "echo here")
    assert done.returncode == 0 and sorted(done.stdout.splitlines()) == ["[0] here", "[1] here"]
    done = launch("-n", "2", "--elastic", "--bare", "--", "sh", "-c", "case $DASGD_MEMBER_DIR in *-0) exit 3; esac; sleep 600")
    assert done.returncode == 3
    assert "dasgd: worker 0 ended with status 3; nobody has begun a run" in done.stderr


def test_mistakes_are_one_line():
    for arguments in (
        [],
        ["-n", "0", "--", "true"],
        ["-n", "2"],
        ["--token-file", "no-such-file", "--", "true"],
        ["--join", "127.0.0.1:1", "--token-file", "no-such-file", "--", "true"],
        ["--listen", "127.0.0.1", "--", "true"],
        ["--elastic", "--restarts", "x", "--", "true"],
    ):
        done = launch(*arguments)
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1, done.stderr
        assert "unknown option" not in done.stderr
