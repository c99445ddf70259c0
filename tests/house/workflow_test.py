#!/usr/bin/env python3
"""What the workflow of CI runs exists, and the examples for orchestrators are well formed.

workflow_test.py ROOT
"""
import pathlib
import re
import sys

import yaml

ROOT = pathlib.Path(sys.argv[1])
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))

EXPECTED = (".ci/run", "make lint", "make lint-torch", "make sanitize", "make sanitize-torch", "make deb", "make site")


def mistakes_of(command: str) -> list:
    """What a step names that is not there; actionlint.mjs looks at the rest."""
    found = [f"make {target}: there is no such target" for target in re.findall(r"\bmake ([a-z-]+)", command.split("install")[0]) if target not in TARGETS]
    return found + [f"{script} is not there" for script in re.findall(r"(?:^|\s)((?:\.ci|scripts)/[\w.]+)", command) if not (ROOT / script).is_file()]


def mistakes_of_pods() -> list:
    """Every pod of the example for Kubernetes does not run as root, and mounts what it declares."""
    found = []
    for thing in yaml.safe_load_all((ROOT / "packaging/kubernetes/run.yaml").read_text()):
        pod = thing.get("spec", {}).get("template", {}).get("spec")
        if not pod:
            continue
        volumes = {volume["name"] for volume in pod["volumes"]}
        mounts = {mount["name"] for container in pod["containers"] for mount in container["volumeMounts"]}
        if mounts != volumes or pod["securityContext"].get("runAsNonRoot") is not True:
            found.append(f"run.yaml: {thing['metadata']['name']}")
    compose = yaml.safe_load((ROOT / "packaging/compose.yml").read_text())
    for name, service in compose["services"].items():
        found += [f"compose.yml: {name}" for volume in service["volumes"] if volume.split(":")[0] not in compose["volumes"]]
    return found


def main() -> int:
    assert mistakes_of("make nonsense") and mistakes_of("scripts/nonsense.sh"), "this test finds nothing"
    found = mistakes_of_pods()
    for path in sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")):
        form = yaml.safe_load(path.read_text())
        if path.name != "config.yml" and not (form.get("name") and form.get("description") and form.get("body")):
            found.append(f"{path.name}: a form has name, description and body")
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
    commands = [step.get("run", "") for job in jobs.values() for step in job["steps"]]
    found += [f"ci.yml: {mistake}" for command in commands for mistake in mistakes_of(command)]
    found += [f"ci.yml: {name} has no timeout-minutes" for name, job in jobs.items() if "timeout-minutes" not in job]
    found += [f"ci.yml does not run {command}" for command in EXPECTED if command not in commands]
    print("\n".join(found))
    return 1 if found else 0


sys.exit(main())
