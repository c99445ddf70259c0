"""The Python API as a page, from the sources and stubs of the package: names, signatures, what they promise."""
import ast
import pathlib


def signature(function: ast.FunctionDef) -> str:
    result = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    if any(isinstance(d, ast.Name) and d.id == "property" for d in function.decorator_list):
        return f"{function.name}: {ast.unparse(function.returns)}"
    return f"{function.name}({ast.unparse(function.args)}){result}"


def is_public(node: ast.AST) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.ClassDef)) and (not node.name.startswith("_") or node.name == "__init__")


def prose(node: ast.AST) -> str:
    """A docstring: its examples as code, the rest as it is."""
    parts = (ast.get_docstring(node) or "").split("\n\n")
    return "\n\n".join(f"```pycon\n{part}\n```" if part.startswith(">>>") else part for part in parts)


def entry(node: ast.AST, module: str, level: int) -> str:
    if isinstance(node, ast.ClassDef):
        text = f"{'#' * level} {module}.{node.name}\n\n{prose(node)}\n\n"
        return text + "".join(entry(member, node.name, level + 1) for member in node.body if is_public(member))
    doc = prose(node)
    head = "" if node.name == "__init__" else f"{'#' * level} {module}.{node.name}\n\n"
    return f"{head}```python\n{signature(node)}\n```\n\n" + (f"{doc}\n\n" if doc else "")


def python_api(package: pathlib.Path) -> str:
    """Every public name of dasgd and of its modules."""
    text = "# Python API\n\nHow to use it: [Python](docs/python.md).\n\n"
    for module, file in (("dasgd", "__init__.py"), ("dasgd.loggers", "loggers.py"), ("dasgd.torch", "torch.py"), ("dasgd.accelerate", "accelerate.py"),
                         ("dasgd.huggingface", "huggingface.py"), ("dasgd.lightning", "lightning.py")):
        tree = ast.parse((package / file).read_text(encoding="utf-8"))
        text += f"## {module}\n\n{prose(tree)}\n\n"
        text += "".join(entry(node, module, 3) for node in tree.body if is_public(node))
    return text
