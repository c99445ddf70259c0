#!/usr/bin/env python3
"""Changes the library in small ways and lists the changes that no test notices.

    scripts/mutate.py [--most N] [--seconds S] [--seed K] [--tests NAME...] [--list] FILE...

A file is below src/dasgd; it is judged by the tests of its folder (tests/FOLDER), or by --tests. Each change is made in a
copy of the tree (build/mutation/tree): a comparison or a sign reversed, && for ||, a number one larger, a statement
left out, a result replaced by nothing. The programs of tests that it may concern are built again, without optimisation, and run. A
change that compiles and fails no test has survived: a test is missing there, or the change makes no difference.
What is random is a function of the seed; --most takes so many changes of each file. MUTATION_DIRECTORY names another place for
the copy and its build, so that two can run side by side.
"""

import argparse
import filecmp
import os
import random
import re
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WORK = os.environ.get("MUTATION_DIRECTORY") or os.path.join(ROOT, "build", "mutation")
TREE, BUILD = os.path.join(WORK, "tree"), os.path.join(WORK, "build")

SWAPS = [
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" == ", " != "), (r" != ", " == "),
    (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " / "), (r" / ", " * "), (r" \+= ", " -= "), (r" -= ", " += "),
    (r" \|= ", " &= "), (r" << ", " >> "), (r" >> ", " << "), (r" && ", " || "), (r" \|\| ", " && "),
    (r"(?<=[(\s])!(?=[\w(])", ""), (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
    (r"\bstd::max\b", "std::min"), (r"\bstd::min\b", "std::max"), (r"(?<=\bif )\((?=.*\))", "(!("),
]  # fmt: skip
SKIPPED = re.compile(r"^\s*(#|//|template|using |namespace |static_assert|assert|throw |friend |case )|static_assert|assert\(|operator")
STATEMENT = re.compile(r"^(\s*)(?!return\b|const\b|auto\b|static\b|break|continue|using\b|throw\b|constexpr\b|else\b)"
                       r"[\w>:.\[\]*-]+(\(.*\)|\s*[-+|*/&^<>]*=[^=].*)?;\s*$")  # fmt: skip


def code_of(line):
    """The line with comments and texts blanked, in the same columns."""
    line = re.sub(r'"(\\.|[^"\\])*"', lambda m: '"' + "_" * (len(m[0]) - 2) + '"', line)
    return re.sub(r"//.*", lambda m: " " * len(m[0]), line)


def mutants_of(text):
    """(line number, new line, what) of every small change."""
    for number, line in enumerate(text.split("\n")):
        code = code_of(line)
        if SKIPPED.search(code) or not code.strip():
            continue
        for pattern, other in SWAPS:
            for match in re.finditer(pattern, code):
                if other == "(!(":  # the whole condition
                    close = matching(code, match.start())
                    if close and ";" not in code[match.start() : close] and "=" not in code[match.start() : close].replace("==", ""):
                        inner = line[match.start() + 1 : close]
                        if re.fullmatch(r"!\w[\w.:()>-]*", inner):
                            continue  # that is the same as without the "!"
                        yield number, line[: match.start()] + "(!(" + inner + "))" + line[close + 1 :], "condition negated"
                    continue
                if match[0].strip() in "<>" and re.search(r"\b(template|static_cast|std::\w+)\s*<", code):
                    continue
                yield number, line[: match.start()] + other + line[match.end() :], f"{match[0].strip()} -> {other.strip()}"
        for match in re.finditer(r"(?<![\w.'])\d+(?![\w.'])", code):
            if "<" in code and ">" in code and "std::" in code:
                continue
            yield number, line[: match.start()] + str(int(match[0]) + 1) + line[match.end() :], "a number one larger"
        if found := re.match(r"^(\s*(?:if \(.*\) |else )?return )([^;]+);(\s*)$", code):
            if found[2].strip() not in ("{}", "0", "false", "nullptr", "std::nullopt", "*this"):
                yield number, found[1] + "{};", "returns nothing"
        if STATEMENT.match(code) and "(" + ")" != code.strip():
            yield number, re.match(r"\s*", line)[0] + ";", "statement left out"


def matching(code, at):
    depth = 0
    for place in range(at, len(code)):
        depth += {"(": 1, ")": -1}.get(code[place], 0)
        if depth == 0:
            return place
    return None


def run(command, limit, **more):
    """Its exit status; None where it took too long. On a busy machine everything takes longer."""
    limit *= 1 + os.getloadavg()[0] / os.cpu_count()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True, **more)
    try:
        process.communicate(timeout=limit)
        return process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        return None


def prepare(targets, jobs):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    for file in listed.splitlines():
        source, copy = os.path.join(ROOT, file), os.path.join(TREE, file)
        if not os.path.isfile(source) or (os.path.exists(copy) and filecmp.cmp(source, copy, shallow=False)):
            continue
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        shutil.copy(source, copy)  # with a new time: what was built from it is built again
    flags = ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DCMAKE_UNITY_BUILD=OFF", "-DDASGD_TORCH=OFF", "-DDASGD_MPI=OFF",
             "-DDASGD_BUILD_EXAMPLES=OFF", "-DDASGD_BUILD_BENCH=OFF", "-DDASGD_BUILD_APP=OFF"]  # fmt: skip
    subprocess.run(["cmake", "-G", "Ninja", "-S", TREE, "-B", BUILD, *flags], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", BUILD, "-j", str(jobs), "--target", *targets], check=True)


def judge(targets, jobs, limits):
    """What became of the change that is in the tree: invalid, killed, slow (its tests took too long) or survived."""
    for target in targets:
        if run(["cmake", "--build", BUILD, "-j", str(jobs), "--target", target], 600) != 0:
            return "invalid"
        status = run([os.path.join(BUILD, "tests", target) if os.path.exists(os.path.join(BUILD, "tests", target)) else os.path.join(BUILD, target),
                      "--gtest_brief=1", "--gtest_fail_fast"], limits[target])  # fmt: skip
        if status != 0:
            return "slow" if status is None else "killed"
    return "survived"


def in_words(count):
    return f"{count['killed'] + count['slow'] + count['survived']} changes, {count['survived']} survived, {count['slow']} too slow to judge"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--most", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--tests", nargs="*", default=[], help="folders of tests, in place of that of the file")
    parser.add_argument("--list", action="store_true", help="only list the changes")
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    files = [os.path.relpath(os.path.abspath(f), ROOT) for f in options.files]
    targets = {f: [t + "_tests" for t in options.tests or [f.split("/")[2]]] for f in files}
    plans = {}
    for file in files:
        with open(os.path.join(ROOT, file)) as source:
            text = source.read()
        found = list(mutants_of(text))
        chosen = random.Random(f"{options.seed} {file}").sample(found, min(options.most, len(found)))
        plans[file] = (text, sorted(chosen))
    if options.list:
        for file, (text, chosen) in plans.items():
            for number, line, what in chosen:
                print(f"{file}:{number + 1}: {what}: {line.strip()}")
        return 0
    everything = sorted({t for ts in targets.values() for t in ts})
    prepare(everything, options.jobs)
    limits = {}
    for target in everything:
        since = time.monotonic()
        if judge([target], options.jobs, {target: 600}) != "survived":
            sys.exit(f"mutate.py: {target} fails without any change")
        limits[target] = 30 + 5 * (time.monotonic() - since)
    table = []
    for file, (text, chosen) in plans.items():
        count = {"killed": 0, "slow": 0, "survived": 0, "invalid": 0}
        for number, line, what in chosen:
            if time.monotonic() > end:
                break
            lines = text.split("\n")
            before, lines[number] = lines[number], line
            with open(os.path.join(TREE, file), "w") as mutated:
                mutated.write("\n".join(lines))
            fate = judge(targets[file], options.jobs, limits)
            count[fate] += 1
            if fate in ("survived", "slow"):
                print(f"{file}:{number + 1}: {fate}: {what}\n  - {before.strip()}\n  + {line.strip()}", flush=True)
        with open(os.path.join(TREE, file), "w") as mutated:
            mutated.write(text)
        table.append((file, count))
        print(f"{file}: {in_words(count)}, {count['invalid']} did not compile", flush=True)
    print(f"mutate.py: {in_words({key: sum(count[key] for _, count in table) for key in table[0][1]})} in {len(table)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
