"""dasgd launch, and the example that it starts."""

import os
import re
import signal
import subprocess
import sys

import pytest

pytest.importorskip("torch")

DASGD = os.environ["DASGD"]
EXAMPLE = os.path.join(os.path.dirname(__file__), "../../examples/python/fashion_mnist.py")
DATA = "/usr/share/datasets/fashion-mnist"


def launch(*arguments):
    return subprocess.run([DASGD, "launch", *arguments], capture_output=True, text=True, timeout=300)


# Packages take long to load on a busy machine; who has them waits for the others here.
TOGETHER = """
import os, runpy, sys, time
import numpy, torch, dasgd.torch
place = sys.argv.pop(1)
open(f"{place}/{os.getpid()}", "w").close()
until = time.monotonic() + 100
while len(os.listdir(place)) < 2 and time.monotonic() < until: time.sleep(0.01)
runpy.run_path(sys.argv.pop(1), run_name="__main__")
"""

WORDS = r"(\d+) gradients of {} workers, 0 lost, replicas identical: True"


@pytest.mark.skipif(not os.path.isdir(DATA), reason="needs dataset-fashion-mnist")
def test_one_program_is_one_worker_or_several(tmp_path):
    alone = subprocess.run(
        [sys.executable, EXAMPLE, "--steps", "60"], capture_output=True, text=True, timeout=300
    )
    assert alone.returncode == 0, alone.stderr
    assert alone.stdout.startswith("60 gradients of 1 workers, 0 lost, replicas identical: True")
    # A member of an elastic run may come late, and takes no part when the run is over.
    for how, begin, steps in (["--bare"], "^", 60), ([], r"^\[0\] ", 60), (["--elastic"], r"^\[[01]\] ", 600):
        place = tmp_path / f"place{len(how)}{steps}"
        place.mkdir()
        program = [sys.executable, *(["-c", TOGETHER, str(place)] if steps > 60 else []), EXAMPLE]
        done = launch("-n", "2", *how, "--", *program, "--steps", str(steps), "--slow", "10")
        assert done.returncode == 0, done.stderr
        found = re.search(begin + WORDS.format(2), done.stdout, re.MULTILINE)
        assert found and steps <= int(found[1]) < steps + 20, done.stdout  # what was under way comes on top


TALK = """
import os, sys, time
rank = os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ["DASGD_MEMBER_DIR"][-1]
def f(depth):
    if depth == 0: raise RuntimeError(f"rank {rank} is ill " + "x" * 5000)
    f(depth - 1)
print("one", end=""); sys.stdout.flush(); print(" line")
f(5)
"""


@pytest.mark.parametrize("how", [[], ["--elastic"]])
def test_lines_are_marked_and_tracebacks_stay_together(tmp_path, how):
    program = tmp_path / "talk.py"
    program.write_text(TALK)
    done = launch("-n", "3", *how, "--", sys.executable, str(program))
    assert done.returncode == 1
    said = [line for line in done.stdout.splitlines() if line]
    # The first to fail ends the others, in the middle of a line perhaps.
    assert any(line.endswith("one line") for line in said)
    assert all(any(f"[{k}] one line".startswith(line) for k in range(3)) for line in said), said
    lines = [line for line in done.stderr.splitlines() if re.match(r"\[\d\] ", line)]
    begins = [k for k, line in enumerate(lines) if "Traceback (most recent call last)" in line]
    ends = [k for k, line in enumerate(lines) if "is ill" in line and "Error" in line]
    assert begins and ends
    for end in ends:
        mark = lines[end][:4]
        begin = max(k for k in begins if k < end)
        assert all(line.startswith(mark) for line in lines[begin : end + 1]), done.stderr


@pytest.mark.parametrize("how", [[], ["--elastic"]])
def test_an_interrupt_reaches_workers_whose_lines_are_marked(how):
    program = "import time; print('here'); time.sleep(600)"
    launched = subprocess.Popen([DASGD, "launch", "-n", "2", *how, "--", sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert sorted(launched.stdout.readline() for _ in range(2)) == ["[0] here\n", "[1] here\n"]
    launched.send_signal(signal.SIGINT)
    assert launched.wait(timeout=120) == 130
    launched.stdout.close()


def test_a_program_that_fails_is_reported():
    done = launch("-n", "2", "--", sys.executable, "-c", "import sys; sys.exit(3)")
    assert done.returncode == 3


def test_elastic_workers_that_never_begin_a_run():
    done = launch("-n", "2", "--elastic", "--", "sh", "-c", "echo here")
    assert done.returncode == 0 and sorted(done.stdout.splitlines()) == ["[0] here", "[1] here"]
    done = launch("-n", "2", "--elastic", "--bare", "--", "sh", "-c", "case $DASGD_MEMBER_DIR in *-0) exit 3; esac; sleep 600")
    assert done.returncode == 3
    assert "dasgd: worker 0 ended with status 3; no run has begun" in done.stderr


def test_elastic_workers_are_advertised_and_given_time():
    show = ["--bare", "--", "sh", "-c", "echo $DASGD_ADVERTISE $DASGD_GONE_AFTER"]
    done = launch("-n", "2", "--listen", "127.0.0.1:0", "--advertise", "here.example:7070", "--gone-after", "30s", *show)
    assert sorted(done.stdout.split()) == ["30000000000"] * 2 + ["here.example:0", "here.example:7070"]
    done = launch("--elastic", "--gone-after", "1s", "--", "true")
    assert done.returncode == 2 and done.stderr == "dasgd: --gone-after 1s: must be at least 2s\n"
    done = launch("--advertise", "here.example:7070", "--", "true")
    assert done.returncode == 2 and "belong to elastic runs" in done.stderr


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
