"""Where the functions of a source begin and end.

C++ is read by its braces: the outermost pair that opens neither a namespace nor a type nor data is a function. Lambdas, and classes
made inside a function, belong to the function around them.
"""

import ast
import bisect
import re
from typing import NamedTuple

NOT_CODE = re.compile(
    r'R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)"'  # raw strings may hold anything
    r'|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])\'(?:\\.|[^\'\\\n])+\''
    r"|//[^\n]*|/\*.*?\*/|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.DOTALL | re.MULTILINE)
CONTAINER = re.compile(r'^(?:\w+::)?(?:inline )?(?:namespace|extern|(?:template ?<.*> ?)?(?:enum|class|struct|union))\b(?!.*\) ?(?:const|noexcept)*$)')
TEMPLATE = re.compile(r"template ?<[^<>]*(?:<[^<>]*>[^<>]*)*>")
PARENTHESISED = re.compile(r"\([^()]*\)|operator ?[=!<>]=?")


class Function(NamedTuple):
    name: str
    line: int
    lines: int


def is_function(opening):
    """`opening` is what stands between the end of the last declaration and a brace."""
    if CONTAINER.match(opening):
        return False
    before, outside = None, TEMPLATE.sub("", opening)
    while before != outside:
        before, outside = outside, PARENTHESISED.sub(" @ ", outside)
    return "@" in outside and "=" not in outside and "(" not in outside


def functions_of_cpp(text):
    code = NOT_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    starts = [0, *(match.end() for match in re.finditer("\n", code))]
    stack, start = [], 0  # of each open brace: where its function's text begins, or None; and where the current text begins
    for match in re.finditer(r"[{};]", code):
        at = match.start()
        # clang-format puts a space before each brace but a value's: `b_{2}`, `to_array({`. A value ends no declaration.
        if match[0] == "{" and not code[at - 1:at].isspace():
            stack.append("value")
            continue
        if match[0] == "{":
            opening = code[start:at]
            is_one = not any(isinstance(begin, int) for begin in stack) and is_function(" ".join(opening.split()))
            stack.append(at - len(opening.lstrip()) if is_one else None)
        elif match[0] == "}" and stack:
            begin = stack.pop()
            if begin == "value":
                continue
            if begin is not None:
                first, last = bisect.bisect_right(starts, begin), bisect.bisect_right(starts, at)
                yield Function(" ".join(code[begin:].split("{", 1)[0].split())[:70], first, last - first + 1)
        start = match.end()


def functions_of_python(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield Function(node.name, node.lineno, node.end_lineno - node.lineno + 1)


def functions_of(path):
    text = path.read_text(encoding="utf-8")
    if path.suffix in (".cc", ".h"):
        return list(functions_of_cpp(text))
    return list(functions_of_python(text)) if path.suffix == ".py" else []
