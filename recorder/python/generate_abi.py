# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Generates tidemark/_abi.py from the recorder's C headers: constants, ctypes structures and function prototypes.

    generate_abi.py HEADER... --python FILE    writes the module
    generate_abi.py HEADER... --probe FILE     writes a C++ program that prints the sizes, offsets and values of C

Reads the restricted C of our own headers: `#define` of integers, `enum`, `struct`, `typedef struct`, prototypes. Any
other text is an error. A structure must precede its first use by value.
"""

import argparse
import dataclasses
import os
import re
import sys
import typing

PREFIX = "tidemark_"
NO_CONSTANTS = {"TIDEMARK_EXPORT"}
# Members of tidemark_api that wait for another process. Python must release the interpreter lock during the call.
CALLED_WITHOUT_LOCK = {"sample_now"}
NUMBERS = {
    "double": "ctypes.c_double",
    "int": "ctypes.c_int",
    "size_t": "ctypes.c_size_t",
    **{f"{sign}int{bits}_t": f"ctypes.c_{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
_TOKEN = re.compile(r'\s*([A-Za-z_]\w*|\d+u?|0x[0-9a-fA-F]+u?|"[^"]*"|<<|[{}()\[\];,*=|-])')


class HeaderError(Exception):
    """A header contains text that this script cannot parse."""


@dataclasses.dataclass
class Field:
    """One member: `c_type` is its ctypes expression; `members` are those of a nested structure or union."""

    name: str
    c_type: str
    members: "list[Field] | None" = None
    is_union: bool = False


@dataclasses.dataclass
class Header:
    """The declarations of one header, in its order."""

    stem: str
    constants: "dict[str, int]" = dataclasses.field(default_factory=dict)
    structures: "dict[str, list[Field]]" = dataclasses.field(default_factory=dict)
    functions: "dict[str, tuple[str, list[str]]]" = dataclasses.field(default_factory=dict)


def class_name(tag: str) -> str:
    """Returns the Python name of a C structure: tidemark_heap_root is HeapRoot."""
    return "".join(part.capitalize() for part in tag.removeprefix(PREFIX).split("_"))


def _without_comments(text: str) -> str:
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
    return re.sub(r"//[^\n]*", "", text)


def _integer(text: str) -> int:
    return int(text.rstrip("u"), 0)


def _read_directives(text: str, header: Header) -> str:
    """Reads constants from `#define` and returns the text without directives and without C++ parts."""
    rest = []
    is_cpp = False
    for line in text.splitlines():
        if re.match(r"#\s*if(def __cplusplus| defined\(__cplusplus\))\s*$", line):
            is_cpp = True
        elif re.match(r"#\s*endif\b", line):
            is_cpp = False
        elif is_cpp or re.match(r"#\s*(include|pragma once)\b", line):
            continue
        elif define := re.match(r"#\s*define (\w+)\s+(.*?)\s*$", line):
            name, value = define.groups()
            if name in NO_CONSTANTS:
                continue
            if not re.fullmatch(r"(\d+|0x[0-9a-fA-F]+)u?", value):
                raise HeaderError(f"{header.stem}.h: {name} is no integer: {value}")
            header.constants[name] = _integer(value)
        elif line.lstrip().startswith("#"):
            raise HeaderError(f"{header.stem}.h: unknown directive: {line.strip()}")
        else:
            rest.append(line)
    return "\n".join(rest)


class Parser:
    """Reads the declarations of one header. `known` contains the structures of the headers before it."""

    def __init__(self, header: Header, text: str, known: "set[str]") -> None:
        self._header = header
        self._known = known
        self._tokens = self._split(_read_directives(_without_comments(text), header))
        self._at = 0

    def _split(self, text: str) -> "list[str]":
        tokens, at = [], 0
        text = text.rstrip()
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                raise HeaderError(f"{self._header.stem}.h: unknown text: {text[at : at + 40]!r}")
            tokens.append(match.group(1))
            at = match.end()
        return tokens

    def _peek(self, ahead: int = 0) -> str:
        return self._tokens[self._at + ahead] if self._at + ahead < len(self._tokens) else ""

    def _take(self, expected: "str | None" = None) -> str:
        token = self._peek()
        if not token or (expected is not None and token != expected):
            around = " ".join(self._tokens[max(0, self._at - 6) : self._at + 3])
            raise HeaderError(f"{self._header.stem}.h: expected {expected or 'more'}, found {token!r} in: {around}")
        self._at += 1
        return token

    def _has(self, token: str) -> bool:
        if self._peek() != token:
            return False
        self._at += 1
        return True

    def parse(self) -> None:
        """Reads all declarations into the header."""
        while self._peek():
            if self._peek() == "enum":
                self._enum()
            elif self._peek() == "typedef":
                self._typedef()
            elif self._peek() == "struct" and self._peek(2) == "{":
                self._take("struct")
                self._structure(self._take())
                self._take(";")
            else:
                self._function()

    def _typedef(self) -> None:
        self._take("typedef")
        self._take("struct")
        tag = self._take()
        if self._peek() == "{":
            self._structure(tag)
        self._take(tag)
        self._take(";")

    def _enum(self) -> None:
        self._take("enum")
        self._take()
        self._take("{")
        while not self._has("}"):
            name = self._take()
            self._take("=")
            self._header.constants[name] = _integer(self._take())
            if self._peek() != "}":
                self._take(",")
        self._take(";")

    def _structure(self, tag: str) -> None:
        self._header.structures[tag] = self._members()
        self._known.add(tag)

    def _members(self) -> "list[Field]":
        self._take("{")
        members: list[Field] = []
        while not self._has("}"):
            if self._peek() in ("struct", "union") and self._peek(1) == "{":
                is_union = self._take() == "union"
                inner = self._members()
                name = "body" if is_union and self._peek() == ";" else self._take()
                members.append(Field(name, "", inner, is_union))
            else:
                members += self._fields()
            self._take(";")
        return members

    def _fields(self) -> "list[Field]":
        c_type = self._type()
        if self._peek() == "(":
            self._take("(")
            self._take("*")
            name = self._take()
            self._take(")")
            return [Field(name, self._function_pointer(name, c_type))]
        fields = []
        while True:
            name = self._take()
            if self._has("["):
                fields.append(Field(name, f"{c_type} * {_integer(self._take())}"))
                self._take("]")
            else:
                fields.append(Field(name, c_type))
            if not self._has(","):
                return fields

    def _function_pointer(self, name: str, result: str) -> str:
        factory = "CFUNCTYPE" if name in CALLED_WITHOUT_LOCK else "PYFUNCTYPE"
        return f"ctypes.{factory}({', '.join([result, *self._parameters()])})"

    def _parameters(self) -> "list[str]":
        self._take("(")
        if self._peek() == "void" and self._peek(1) == ")":
            self._take("void")
        parameters = []
        while not self._has(")"):
            c_type = self._type()
            if self._has("("):  # a function pointer, which Python passes on as an address
                self._take("*")
                self._take()
                self._take(")")
                self._parameters()
                c_type = "ctypes.c_void_p"
            elif self._peek() not in (",", ")"):
                self._take()
            parameters.append(c_type)
            if self._peek() != ")":
                self._take(",")
        return parameters

    def _type(self) -> str:
        self._has("const")
        is_structure = self._has("struct")
        name = self._take()
        self._has("const")
        is_pointer = self._has("*")
        if self._peek() == "*":
            raise HeaderError(f"{self._header.stem}.h: a pointer to a pointer: {name}")
        if name in NUMBERS and not is_structure:
            return f"ctypes.POINTER({NUMBERS[name]})" if is_pointer else NUMBERS[name]
        if name == "void":
            return "ctypes.c_void_p" if is_pointer else "None"
        if name == "char" and is_pointer:
            return "ctypes.c_char_p"
        if name in self._known:
            return f"ctypes.POINTER({class_name(name)})" if is_pointer else class_name(name)
        if name.startswith(PREFIX) and is_pointer:
            return "ctypes.c_void_p"
        raise HeaderError(f"{self._header.stem}.h: unknown type: {name}")

    def _function(self) -> None:
        result = self._type()
        name = self._take()
        self._header.functions[name] = result, self._parameters()
        self._take(";")


def read_headers(paths: "list[str]") -> "list[Header]":
    """Parses the headers in this order. Raises HeaderError."""
    known: set[str] = set()
    headers = []
    for path in paths:
        header = Header(os.path.splitext(os.path.basename(path))[0])
        with open(path, encoding="utf-8") as file:
            Parser(header, file.read(), known).parse()
        headers.append(header)
    return headers


def _classes(name: str, base: str, members: "list[Field]") -> "typing.Iterator[str]":
    """Yields the text of the classes of a structure, nested classes first."""
    fields, anonymous = [], []
    for member in members:
        c_type = member.c_type
        if member.members is not None:
            c_type = f"{name}{class_name(member.name)}"
            yield from _classes(c_type, "Union" if member.is_union else "Structure", member.members)
            if member.is_union:
                anonymous.append(member.name)
        fields.append(f'        ("{member.name}", {c_type}),')
    lines = [f"class {name}(ctypes.{base}):"]
    if anonymous:
        lines.append(f"    _anonymous_ = {tuple(anonymous)!r}")
    yield "\n".join([*lines, "    _fields_ = [", *fields, "    ]"])


def python_module(headers: "list[Header]") -> str:
    """Returns the text of tidemark/_abi.py."""
    blocks = [
        '"""ctypes declarations of the C interface. Generated by generate_abi.py from the recorder\'s headers."""\n\n'
        "from __future__ import annotations\n\nimport ctypes\nfrom typing import Any"
    ]
    for header in headers:
        constants = [f"{name.removeprefix('TIDEMARK_')} = {value}" for name, value in header.constants.items()]
        blocks.append("\n".join([f"# {header.stem}.h", *constants]))
        for tag, members in header.structures.items():
            blocks += _classes(class_name(tag), "Structure", members)
        if header.functions:
            rows = [f'    "{name}": ({result}, [{", ".join(p)}]),' for name, (result, p) in header.functions.items()]
            blocks.append(
                "\n".join([f"{header.stem.upper()}_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {{", *rows, "}"])
            )
    return "\n\n\n".join(blocks) + "\n"


def _paths(members: "list[Field]", c_path: str = "", path: str = "") -> "typing.Iterator[tuple[str, str]]":
    """Yields (path in C, path in Python) of all members."""
    for member in members:
        is_anonymous = member.is_union and member.members is not None
        c_name = c_path if is_anonymous else f"{c_path}.{member.name}".lstrip(".")
        name = path if is_anonymous else f"{path}.{member.name}".lstrip(".")
        if not is_anonymous:
            yield c_name, name
        if member.members is not None:
            yield from _paths(member.members, c_name, name)


def probe_program(headers: "list[Header]", includes: "list[str]") -> str:
    """Returns a C++ program that prints "size CLASS N", "member CLASS PATH OFFSET SIZE" and "value NAME N"."""
    lines = ["#include <cstddef>", "#include <cstdio>", *(f'#include "{path}"' for path in includes), "int main() {"]
    for header in headers:
        for name in header.constants:
            lines.append(f'    std::printf("value {name} %lld\\n", static_cast<long long>({name}));')
        for tag, members in header.structures.items():
            lines.append(f'    std::printf("size {class_name(tag)} %zu\\n", sizeof(struct {tag}));')
            for c_path, path in _paths(members):
                lines.append(
                    f'    std::printf("member {class_name(tag)} {path} %zu %zu\\n", offsetof(struct {tag}, {c_path}), '
                    f"sizeof(static_cast<struct {tag}*>(nullptr)->{c_path}));"
                )
    return "\n".join([*lines, "}"]) + "\n"


def main() -> int:
    """Returns the exit status: 1 when a header cannot be read."""
    parser = argparse.ArgumentParser(description="Generates the Python view of the recorder's C headers.")
    parser.add_argument("headers", nargs="+", metavar="HEADER")
    parser.add_argument("--python", metavar="FILE")
    parser.add_argument("--probe", metavar="FILE")
    options = parser.parse_args()
    try:
        headers = read_headers(options.headers)
    except HeaderError as error:
        print(f"generate_abi.py: {error}", file=sys.stderr)
        return 1
    if options.python:
        with open(options.python, "w", encoding="utf-8") as file:
            file.write(python_module(headers))
    if options.probe:
        with open(options.probe, "w", encoding="utf-8") as file:
            file.write(probe_program(headers, [os.path.abspath(path) for path in options.headers]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
