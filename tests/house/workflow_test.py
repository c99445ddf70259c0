#!/usr/bin/env python3
"""The workflow of CI is well formed, and what it runs exists; so are the examples for orchestrators.

workflow_test.py ROOT
"""
import pathlib
import re
import sys

import yaml

ROOT = pathlib.Path(sys.argv[1])
KEYS = {"name", "runs-on", "container", "strategy", "steps", "timeout-minutes", "needs", "if", "env", "permissions"}
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))


def mistakes_of_step(step: dict) -> list:
    if ("run" in step) == ("uses" in step):
        return ["a step has one of run and uses"]
    if "uses" in step and not re.fullmatch(r"[\w.-]+/[\w./-]+@v\d+", step["uses"]):
        return [f"{step['uses']} names no version"]
    found = []
    for target in re.findall(r"\bmake ([a-z-]+)", step.get("run", "").split("install")[0]):
        if target not in TARGETS:
            found.append(f"make {target}: there is no such target")
    for script in re.findall(r"(?:^|\s)((?:\.ci|scripts)/[\w.]+)", step.get("run", "")):
        if not (ROOT / script).is_file():
            found.append(f"{script} is not there")
    return found


def mistakes(workflow: dict) -> list:
    found = [f"{key} is missing" for key in ("name", "jobs", "permissions") if key not in workflow]
    if not workflow.get("on", workflow.get(True)):  # YAML 1.1 reads `on` as true
        found.append("nothing starts it")
    for name, job in workflow.get("jobs", {}).items():
        found += [f"{name}: unknown key {key}" for key in set(job) - KEYS]
        found += [f"{name}: {key} is missing" for key in ("runs-on", "steps", "timeout-minutes") if key not in job]
        for variable in re.findall(r"matrix\.(\w+)", str(job)):
            if variable not in job.get("strategy", {}).get("matrix", {}):
                found.append(f"{name}: matrix.{variable} is not defined")
        for step in job.get("steps", []):
            found += [f"{name}: {mistake}" for mistake in mistakes_of_step(step)]
    return found


def mistakes_of_pods() -> list:
    """Every pod of the example for Kubernetes is no root, and mounts what it declares."""
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
    found = mistakes_of_pods()
    for path in sorted((ROOT / ".github/workflows").glob("*.yml")):
        found += [f"{path.name}: {mistake}" for mistake in mistakes(yaml.safe_load(path.read_text()))]
    for path in sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")):
        form = yaml.safe_load(path.read_text())
        if path.name != "config.yml" and not (form.get("name") and form.get("description") and form.get("body")):
            found.append(f"{path.name}: a form has name, description and body")
    # The test itself: each of these is found.
    assert mistakes_of_step({"run": "make nonsense"}) and mistakes_of_step({"uses": "actions/checkout"}) and mistakes_of_step({})
    assert mistakes({"name": "x", "permissions": {}, "on": "push", "jobs": {"a": {"runs-on": "b", "steps": []}}})
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
    commands = " ".join(step.get("run", "") for job in jobs.values() for step in job["steps"])
    found += [f"ci.yml does not run {command}" for command in (".ci/run", "make lint", "make sanitize", "make deb", "make site")
              if command not in commands]
    print("\n".join(found))
    return 1 if found else 0


sys.exit(main())
