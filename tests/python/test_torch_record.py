"""What a loop leaves behind: run directories, figures, traces, the live page."""

import json
import os
import re
import subprocess
import sys
import tomllib

import pytest

torch = pytest.importorskip("torch")  # the package works without it

import dasgd
import dasgd.torch
from loops import loop, network

DASGD = os.environ["DASGD"]


def made(**settings):
    model = network()
    return model, dasgd.torch.Peer(model, **{"lr": 0.1, **settings})



def test_a_run_directory_with_a_trace_and_figures_of_the_loop(tmp_path):
    out = tmp_path / "run"
    model, peer = made(out=out, trace=True)
    assert peer.run_dir == str(out)
    loop(model, peer.step, 20)
    peer.log(accuracy=0.5, lr=0.1)
    peer.log({"lr": torch.tensor(0.05)})
    with pytest.raises(dasgd.InputError, match="log takes numbers"):
        peer.log(name="a")
    summary = peer.finish()
    assert json.loads((out / "summary.json").read_text())["gradients"] == summary["gradients"] == 20
    assert (out / "report.html").exists() and (out / "config.toml").exists() and (out / "model.npy").exists()
    assert dasgd.check(out)["ok"]
    assert any(b"accuracy" in file.read_bytes() for file in (out / "tensorboard").iterdir())
    with pytest.raises(dasgd.InputError):
        (tmp_path / "other").mkdir()
        (tmp_path / "other" / "mine.txt").touch()
        made(out=tmp_path / "other")


def test_figures_of_the_loop_are_in_the_metrics(tmp_path):
    import time

    model, peer = made(out=tmp_path / "run")
    peer.log(accuracy=0.5, rate=0.25)
    until = time.monotonic() + 60
    while time.monotonic() < until:
        peer.step()
        lines = [json.loads(line) for part in (tmp_path / "run").glob("metrics.jsonl*") for line in part.read_text().splitlines()]
        if any(line.get("accuracy") == 0.5 and line["own"] == {"rate": 0.25} for line in lines):
            break
        time.sleep(0.05)
    else:
        pytest.fail("no line has them")
    peer.finish()


def last_figures(directory):
    return json.loads((directory / "metrics.jsonl").read_text().splitlines()[-1])


@pytest.mark.parametrize("budget", [{}, {"total_gradients": 3}], ids=["finish ends the run", "a budget ends the run"])
def test_the_last_figures_of_the_loop_are_in_the_last_line(tmp_path, budget):
    model, peer = made(out=tmp_path / "run", **budget)
    loop(model, peer.step, 3)
    peer.log(accuracy=0.5, rate=0.25)
    before = (tmp_path / "run" / "metrics.jsonl").read_text().count("\n") if budget else None
    peer.log(rate=0.5)
    assert peer.finish()["gradients"] == 3
    last = last_figures(tmp_path / "run")
    assert last["accuracy"] == 0.5 and last["own"] == {"rate": 0.5} and last["gradients"] == 3
    peer.log(eval_loss=2.0)
    last = last_figures(tmp_path / "run")
    assert last["accuracy"] == 0.5 and last["own"] == {"rate": 0.5} and last["eval_loss"] == 2
    assert '"rate"' in (tmp_path / "run" / "report.html").read_text()
    if budget:
        assert (tmp_path / "run" / "metrics.jsonl").read_text().count("\n") == before, "no line is there twice"


def test_a_live_page(tmp_path, capsys):
    import urllib.request

    model, peer = made(out=tmp_path / "run", watch=0)
    url = re.search(r"watch the run at (http://\S+)", capsys.readouterr().err)[1]
    loop(model, peer.step, 5)
    assert b"<html" in urllib.request.urlopen(url, timeout=60).read().lower()
    peer.finish()


def test_a_run_directory_says_what_is_true_of_a_loop(tmp_path):
    model = network()
    peer = dasgd.torch.Peer(model, optimizer=torch.optim.AdamW(model.parameters(), lr=0.01), out=tmp_path / "run")
    losses = loop(model, peer.step, 20)
    summary = peer.finish()
    assert summary["parts"] == {} and summary["loss"] == pytest.approx(sum(losses) / 20)
    config = tomllib.loads((tmp_path / "run" / "config.toml").read_text())
    assert config["model"] == "python" and config["lr"] == "of the optimizer" and config["rule"] == {"kind": "AdamW"}
    shown = subprocess.run([DASGD, "report", str(tmp_path / "run")], capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr

    model, peer = made(out=tmp_path / "rule", rule="momentum")
    loop(model, lambda loss: peer.step(), 3)
    assert peer.finish()["loss"] is None, "no loss was given"
    config = tomllib.loads((tmp_path / "rule" / "config.toml").read_text())
    assert config["model"] == "python" and config["lr"] == 0.1 and config["rule"]["kind"] == "momentum"


def test_a_trace_without_a_directory_says_where_it_is(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    model, peer = made(trace=True)
    assert f"dasgd: there is no out=: the run is written to {peer.run_dir}\n" in capsys.readouterr().err
    peer.close()


MEMBERS = """
import sys
sys.path.insert(0, {tests!r})
import dasgd.torch
from loops import loop, network
model = network()
peer = dasgd.torch.Peer(model, lr=0.05, out={out!r}, trace=True)
while peer.goes_on:
    loop(model, peer.step, 1)
    if len(peer.gather(peer.gradients)) == 2 and peer.gradients > 20: peer.stop()
peer.finish()
"""


def launched(program, *more):
    done = subprocess.run([DASGD, "launch", "-n", "2", "--elastic", *more, "--", sys.executable, str(program)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("of_launch", [False, True], ids=["of their own", "of the launch"])
def test_members_with_directories_are_checked_together(tmp_path, of_launch):
    program, out = tmp_path / "train.py", tmp_path / "runs"
    text = MEMBERS.format(tests=os.path.dirname(__file__), out=str(out))
    program.write_text(text.replace(f", out={str(out)!r}, trace=True", "") if of_launch else text)
    launched(program, *(["--out", str(out)] if of_launch else []))
    checked = subprocess.run([DASGD, "check", str(out / "worker-0"), str(out / "worker-1")], capture_output=True, text=True)
    assert checked.returncode == 0 and "audit      ok" in checked.stdout, checked.stdout + checked.stderr
    assert "2 members: 2 ended together, 0 left, 0 did not end" in checked.stdout
