#!/usr/bin/env python3
"""Runs the commands that the documentation shows, in the order of each page.

run_blocks.py ROOT DASGD [PAGE...]    every page by default

A block of commands or a Python program is run, or stands below a line `<!-- not run: REASON -->`, which is printed; a
file of tests that it names must exist. Commands in sentences are run if they have three options or more and no network.
C++ programs are built by tests/install. What a page expects to be there is made by setup.sh.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT, DASGD = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
BLOCK = re.compile(r"(?:<!-- not run: ([^\n]+) -->\n)?^```(\w*)\n(.*?)^```$", re.M | re.S)
COMMAND = re.compile(r"^([A-Z]?\$ )?(?:build/release/)?(dasgd|make|mpirun|python3|c\+\+|bench/\S+|sudo|podman|cp|srun|producer|scripts/\S+|build/release/\S+) ", re.M)
IN_A_SENTENCE = re.compile(r"`(dasgd (?:simulate|train)(?: [^`\s]+)*? --[^`]+ --[^`]+ --[^`]+)`")
NETWORK = re.compile(r"--model (cnn|mlp|resnet|char-transformer|gpt)")
LIMIT_SECONDS = 600


def blocks(page: pathlib.Path):
    """(line, language, text, why it is not run) of what is a command or a program, in their order."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in BLOCK.finditer(text):
        reason, language, code = match.groups()
        if language == "python" or (language in ("", "sh") and COMMAND.search(code)):
            found.append((match.start(), language, code, reason))
    for match in IN_A_SENTENCE.finditer(BLOCK.sub(lambda block: re.sub(r"[^\n]", " ", block.group()), text)):
        code = " ".join(match.group(1).split())
        given = re.search(r"[ ,=:][A-Z]+\b|\.\.\.", code)
        reason = "has words for what somebody gives" if given else "a network takes minutes" if NETWORK.search(code) else None
        found.append((match.start(), "", code, reason))
    for start, *rest in sorted(found, key=lambda one: one[0]):
        yield (text.count("\n", 0, start) + 1, *rest)


def commands(code: str) -> str:
    """What a person would type: lines behind `$ ` where there are such, else all; `dasgd` wherever it was built."""
    typed = re.findall(r"^\$ (.*)$", code, re.M)
    return re.sub(r"^build/release/dasgd\b", "dasgd", "\n".join(typed) if typed else code, flags=re.M)


def says_why(place: str, reason: str) -> int:
    missing = [name for name in re.findall(r"(?:tests|web)/[\w/]+\.\w+", reason) if not (ROOT / name).exists()]
    print(f"{place}: not run: {reason}" + "".join(f"; FAILED: there is no {name}" for name in missing), flush=True)
    return len(missing)


def run(page: pathlib.Path, tools: pathlib.Path) -> int:
    failures = 0
    environment = dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}", PYTHONPATH=str(DASGD.parent / "python"))
    with tempfile.TemporaryDirectory() as work:
        subprocess.run(["sh", "-eu", ROOT / "tests/docs/setup.sh", page.name], cwd=work, env=environment, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        imports = ""
        for line, language, code, reason in blocks(page):
            if language == "python":  # a later block has what an earlier one has imported
                code = imports + code
                imports = "".join(re.findall(r"^import .*\n", code, re.M))
            if reason:
                failures += says_why(f"{page.relative_to(ROOT)}:{line}", reason)
                continue
            shell = ["/usr/bin/python3", "-c", code] if language == "python" else ["sh", "-euc", commands(code)]
            began = time.monotonic()
            done = subprocess.run(shell, cwd=work, env=environment, timeout=LIMIT_SECONDS, capture_output=True, text=True)
            print(f"{page.relative_to(ROOT)}:{line}: {'ok' if done.returncode == 0 else 'FAILED'}, {time.monotonic() - began:.1f} s", flush=True)
            if done.returncode != 0:
                failures += 1
                print(done.stdout[-2000:] + done.stderr[-2000:])
    return failures


def main() -> int:
    named = [pathlib.Path(page).resolve() for page in sys.argv[3:]]
    pages = named or [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "site/pages").glob("*.md"))]
    with tempfile.TemporaryDirectory() as tools:
        (pathlib.Path(tools) / "dasgd").symlink_to(DASGD)
        failures = sum(run(page, pathlib.Path(tools)) for page in pages)
    left_out = [reason is not None for page in pages for _, _, _, reason in blocks(page)]
    print(f"{len(left_out) - sum(left_out)} blocks run, {failures} failed, {sum(left_out)} marked as not run")
    return 1 if failures else 0


sys.exit(main())
