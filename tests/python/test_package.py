"""The package as a whole: the Pythons that it is for, and its stubs."""

import ast
import glob
import inspect
import os

import pytest

from dasgd import _core

PACKAGE = os.path.dirname(_core.__file__)
EXAMPLES = os.path.join(os.path.dirname(__file__), "../../examples/python")


@pytest.mark.parametrize("folder", [PACKAGE, EXAMPLES])
def test_sources_have_the_syntax_of_python_3_9(folder):
    sources = [s for kind in ("*.py", "*.pyi") for s in glob.glob(os.path.join(folder, kind))]
    assert sources
    for source in sources:
        with open(source, encoding="utf-8") as file:
            ast.parse(file.read(), source, feature_version=(3, 9))


def named_in(body):
    defined = {s.name for s in body if isinstance(s, (ast.FunctionDef, ast.ClassDef))}
    return public(defined | {s.target.id for s in body if isinstance(s, ast.AnnAssign)})


def public(names):
    return {name for name in names if not name.startswith("_")}


def test_stubs_name_what_the_module_has():
    with open(os.path.join(PACKAGE, "_core.pyi"), encoding="utf-8") as file:
        stubs = ast.parse(file.read()).body
    assert public(vars(_core)) == named_in(stubs)
    for stub in stubs:
        if isinstance(stub, ast.ClassDef):
            assert inspect.isclass(getattr(_core, stub.name))
            assert public(vars(getattr(_core, stub.name))) == named_in(stub.body), stub.name
