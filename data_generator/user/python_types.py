"""Classes with annotations in a Python module as Avro schemas; the module is parsed, and never run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

_TIMESTAMP = {"type": "long", "logicalType": "timestamp-micros"}
_TYPES: dict[str, Any] = {
    "bool": "boolean",
    "int": "long",
    "float": "double",
    "str": "string",
    "bytes": "bytes",
    "None": "null",
    "datetime": _TIMESTAMP,
    # NumPy's
    "int32": "int",
    "int64": "long",
    "float32": "float",
    "float64": "double",
}
_LISTS = {"list", "List", "Sequence", "tuple", "Tuple"}
_MAPS = {"dict", "Dict", "Mapping"}
_WRAPPERS = {"Annotated", "Required", "Final", "ReadOnly"}
_SYMBOL = re.compile("[A-Za-z][A-Za-z0-9_]*")


def avro_of_module(text: str, wanted: str | None = None) -> Any:
    """Return the Avro schema of a class in a module: a dataclass, or one that is annotated like one.

    Whole numbers have 64 bits, or as many as the types of NumPy.

    Parameters
    ----------
    text : str
        The module.
    wanted : str, optional
        Name of the class; by default the one that no other class of the module uses.

    Raises
    ------
    ValueError
        If the text is not Python, or the class has something that records here do not.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, MemoryError) as error:
        where = f" (line {error.lineno})" if isinstance(error, SyntaxError) else ""
        raise ValueError(f"it is no Python: {getattr(error, 'msg', error)}{where}") from error
    return _Module(tree).root(wanted)


class _Module:
    """The classes and names of a module, and those classes that have been met so far."""

    def __init__(self, tree: ast.Module) -> None:
        self._classes = {each.name: each for each in tree.body if isinstance(each, ast.ClassDef)}
        self._aliases = {
            each.targets[0].id: each.value
            for each in tree.body
            if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)
        }
        self._met: set[str] = set()

    def root(self, wanted: str | None) -> Any:
        records = [each for each in self._classes if any(True for _ in self._annotations(each))]
        if wanted is not None:
            if wanted not in records:
                raise ValueError(f"it has no class {wanted} with annotated fields")
            return self.named(wanted)
        used = {
            name
            for each in records
            for _, annotation in self._annotations(each)
            for name in _names(annotation)
            if name != each
        }
        bases = {_name(base) for each in records for base in self._classes[each].bases}
        free = [each for each in records if each not in used | bases]
        if len(free) != 1:
            several = f"several classes that no other uses: {', '.join(free[:5])}; name one by ::"
            raise ValueError(f"it has {several + free[0] if free else 'no class with annotated fields'}")
        return self.named(free[0])

    def _annotations(self, name: str) -> Iterator[tuple[str, ast.expr]]:
        """Yield the fields of a class with their annotations, its bases' first."""
        for base in self._classes[name].bases:
            if (inherited := _name(base)) in self._classes and inherited != name:
                yield from self._annotations(inherited)
        for each in self._classes[name].body:
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
                outer = each.annotation.value if isinstance(each.annotation, ast.Subscript) else None
                if "ClassVar" not in {_name(each.annotation), _name(outer)}:
                    yield each.target.id, each.annotation

    def named(self, name: str) -> Any:
        """Return the type of a class, or its name if it was met before."""
        if name in self._met:
            return name
        self._met.add(name)
        if any((_name(base) or "").endswith(("Enum", "Flag")) for base in self._classes[name].bases):
            return {"type": "enum", "name": name, "symbols": self._symbols(name)}
        fields = [
            {"name": key, "type": self.type(f"{name}.{key}", annotation)}
            for key, annotation in self._annotations(name)
        ]
        return {"type": "record", "name": name, "fields": fields}

    def _symbols(self, name: str) -> list[str]:
        """Return the values of an enum if they are names of their own, else the names of its members."""
        members = {
            each.targets[0].id: each.value
            for each in self._classes[name].body
            if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)
        }
        values = [each.value for each in members.values() if isinstance(each, ast.Constant)]
        texts = [each for each in values if isinstance(each, str) and _SYMBOL.fullmatch(each)]
        return texts if len(texts) == len(members) else list(members)

    def type(self, path: str, annotation: ast.expr) -> Any:
        """Return the type of Avro for an annotation."""
        annotation = _parsed(annotation)
        if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
            return _union(self.type(path, annotation.left), self.type(path, annotation.right))
        if isinstance(annotation, ast.Subscript):
            return self._generic(path, annotation)
        name = "None" if isinstance(annotation, ast.Constant) else _name(annotation)
        if name in self._classes:
            return self.named(name)
        if name in self._aliases:
            return self.type(path, self._aliases[name])
        if name == "Decimal":
            raise ValueError(
                f"{path}: a class does not say how many digits a Decimal has; use an Avro schema"
            )
        if name not in _TYPES:
            words = ast.unparse(annotation)
            raise ValueError(
                f"{path}: {words:.60} is no type of a field here, and no class of this file"
            )
        return _TYPES[name]

    def _generic(self, path: str, annotation: ast.Subscript) -> Any:
        """Return the type of Avro for a type with parameters."""
        name, inner = _name(annotation.value), annotation.slice
        parameters = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        if name in _WRAPPERS:
            return self.type(path, parameters[0])
        if name in {"Optional", "NotRequired"}:
            return _union("null", self.type(path, inner))
        if name == "Union":
            return _union(*(self.type(path, each) for each in parameters))
        if name == "Literal":
            symbols = [each.value for each in parameters if isinstance(each, ast.Constant)]
            return {"type": "enum", "name": path.replace(".", "_"), "symbols": symbols}
        if name in _LISTS:
            is_tuple = name in {"tuple", "Tuple"}
            if not is_tuple or (len(parameters) == 2 and ast.unparse(parameters[1]) == "..."):  # noqa: PLR2004
                return {"type": "array", "items": self.type(f"{path}[]", parameters[0])}
        if name in _MAPS and len(parameters) == 2 and _name(parameters[0]) == "str":  # noqa: PLR2004
            return {"type": "map", "values": self.type(f"{path}[]", parameters[1])}
        raise ValueError(f"{path}: {ast.unparse(annotation):.60} is no type of a field here")


def _parsed(annotation: ast.expr) -> ast.expr:
    """Return an annotation, parsed if it is a text."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            return ast.parse(annotation.value, mode="eval").body
        except SyntaxError as error:
            raise ValueError(f"{annotation.value!r:.60} is no type") from error
    return annotation


def _names(annotation: ast.expr) -> Iterator[str]:
    """Yield the names in an annotation, those in texts as well."""
    for each in ast.walk(_parsed(annotation)):
        if isinstance(each, ast.Name):
            yield each.id
        elif isinstance(each, ast.Constant) and isinstance(each.value, str) and each is not annotation:
            yield from re.findall(r"\w+", each.value)


def _name(node: ast.AST | None) -> str:
    """Return the last part of a name, e.g. of `datetime.datetime`; empty for anything else."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _union(*branches: Any) -> list[Any]:
    found: list[Any] = []
    for each in branches:
        found += each if isinstance(each, list) else [each]
    return found
