#!/usr/bin/env python3
"""A message of the library speaks of the API, and the CLI has its own words for that (ADR 0072).

Fails when a message of the library names an option or a verb of our CLI, when the CLI has no words for a name of the API
that a message puts in backticks, and when the CLI has words for what no message says or no header declares. Fails also when the
field of an InvalidRequest is no member of a struct that callers fill, or one that the CLI has neither an option nor words for.

usage: check_hints.py [ROOT]
"""

import pathlib
import re
import sys

FRONT = "src/cli"  # the only part that may speak of options and verbs
WORDS = f"{FRONT}/option_words.cc"

TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/                                   # comments
                     | R"(?P<mark>[^\s()\\]{0,16})\((?P<raw>.*?)\)(?P=mark)"
                     | "(?P<text>(?:[^"\\\n]|\\.)*)"
                     | (?<![0-9A-Fa-f])'(?:[^'\\\n]|\\.)+'                  # a character, not the mark in 1'000
                     | (?P<code>[^\s])""", re.VERBOSE | re.DOTALL)
# A name of the API is one word. Other programs' commands have more: `npm config get registry`.
API_WORD = re.compile(r"`[A-Za-z_][\w:.-]*`")
# Titles of documents, which give no advice.
TITLES = ("# Made by: sallyport allowlist init {}", "# sallyport probe: ", "<title>sallyport probe: ",
          "<h1>sallyport probe</h1>", "<title>sallyport audit</title>", "<h1>sallyport audit</h1>", "sallyport audit record {}")
# Another program's option that has the name of one of ours, where that program's arguments are judged.
THEIRS = {"src/core/policy/hardening/ast_grep.cc": {"--follow"}, "src/core/policy/hardening/docker.cc": {"--name"}}

# Where the structs that callers fill are declared.
REQUESTS = ("include/sallyport", "src/jobs")
# What a refusal names that is no member: an argument of a call, the text that was to be parsed, or what was found.
NO_MEMBERS = {
    "jail",  # Gate::run
    "host rule", "host name", "git configuration", "path", "tool", "scratch root",
    "git directory", "home", "HOME", "scratch", "system",  # found by the gate: such an error is dropped, or no mistake of a caller
    "attestation", "audit log", "checkpoint", "commit", "job", "key", "predicate", "record", "run",  # of the audit log
    "control", "supervisor",  # of an attack
}
# Members that the CLI never sets to a value of its user's.
NOT_OF_CLI = {"allow_package_scripts", "allowlist", "also_classes", "auto_jails", "limits", "overlays", "own_jails", "required",
              "state_dir", "warm_jails"}
# `field` stands for the name in the functions that pass it on to invalid_request().
PASSES_ON = re.compile(r"(?<!void )\b(\w+)\(((?:[^(){};]|\{\})*\bstd::string_view field\b(?:[^(){};]|\{\})*)\)")
IS_FIELD = re.compile(r'\bInvalidRequest\{\.field = "([^"]+)"|\bkField = "([^"]+)"')
REQUEST = re.compile(r"^struct \w*(?:Spec|Options|Config|Fields|Limits|Npm|Credentials) \{\n(.*?)^\};", re.MULTILINE | re.DOTALL)
MEMBER = re.compile(r"(\w+)\s*(?:\{[^{};]*\}|=[^;{}]*(?:\{\}[^;{}]*)?)?;")


def arguments(text: str, start: int) -> list[str]:
    """Of the call whose opening parenthesis ends before `start`; a string stays whole."""
    found, depth, at = [""], 1, start
    while at < len(text):
        token = re.compile(r'"(?:[^"\\]|\\.)*"|.', re.DOTALL).match(text, at)
        at = token.end()
        depth += (token[0] in "([{") - (token[0] in ")]}")
        if depth == 0:
            break
        if token[0] == "," and depth == 1:
            found.append("")
        else:
            found[-1] += token[0]
    return found


def passing_on(text: str) -> dict[str, int]:
    """The functions that take a field's name, and which argument it is."""
    return {name: next(i for i, one in enumerate(parameters.split(",")) if re.search(r"\bfield\b", one))
            for name, parameters in PASSES_ON.findall(text)}


def fields_in(text: str, takes: dict[str, int]) -> list[tuple[int, str]]:
    """Each name of a field that a source gives to a refusal, with its line."""
    text = re.sub(r"//[^\n]*", "", text)
    found = [(m.start(), m[1] or m[2]) for m in IS_FIELD.finditer(text)]
    for call in re.finditer(r"\b(" + "|".join(map(re.escape, takes)) + r")\(", text) if takes else ():
        given = arguments(text, call.end())
        place = takes[call[1]]
        if place < len(given) and not re.search(r"\bformat\(|\bstd::string_view\b", given[place]):
            found += [(call.start(), name) for name in re.findall(r'"((?:[^"\\]|\\.)+)"', given[place])]
    return [(text.count("\n", 0, at) + 1, name) for at, name in found]


def members_of(headers: list[str]) -> set[str]:
    members = set()
    for text in headers:
        for body in REQUEST.findall(re.sub(r"//[^\n]*", "", text)):
            members |= set(MEMBER.findall(body))
    return members


def literals(text: str) -> list[tuple[int, str]]:
    """Each string with its line; those that the compiler joins are one."""
    found: list[tuple[int, str]] = []
    joins = False
    for token in TOKEN.finditer(text):
        piece = token["text"] if token["text"] is not None else token["raw"]
        if piece is not None and joins:
            found[-1] = (found[-1][0], found[-1][1] + piece)
        elif piece is not None:
            found.append((text.count("\n", 0, token.start()) + 1, piece))
        if piece is not None:
            joins = True
        elif token["code"] is not None or token[0].startswith("'"):
            joins = False
    return found


def sources(folder: pathlib.Path) -> list[pathlib.Path]:
    return [path for path in sorted(folder.rglob("*")) if path.suffix in (".cc", ".h") and not path.name.endswith("_test.cc")]


def options_of(root: pathlib.Path) -> set[str]:
    return {name for path in sources(root / FRONT) for name in re.findall(r'"(--[a-z][a-z-]*)", Arity::', path.read_text())}


def verbs_of(root: pathlib.Path) -> set[str]:
    return {name for path in sources(root / FRONT / "verbs") for name in re.findall(r'\.name = "([a-z]+)"', path.read_text())}


def words_of(root: pathlib.Path) -> list[tuple[str, str]]:
    """The rows of the table, in its order: what the library says, and what the CLI says instead."""
    table = root / WORDS
    return re.findall(r'\{"((?:[^"\\]|\\.)*)",\s*"((?:[^"\\]|\\.)*)"\}', table.read_text()) if table.exists() else []


class Check:
    def __init__(self, options: set[str], verbs: set[str], words: list[tuple[str, str]]):
        # Prose: an option with other words around it, and not another program's ("npm's --registry"). A table of another
        # tool's options has each alone in its quotes.
        self.option = re.compile(r"(?:^|(?<!'s)[\s(])(" + "|".join(sorted(options, key=len, reverse=True)) + r")(?![\w=-])")
        self.verb = re.compile(r"\bsallyport (?:" + "|".join(sorted(verbs)) + r")\b")
        self.words = words
        self.unused = {api for api, _ in words}
        # What a user of the CLI calls the thing: by its option, or by the words for its name.
        names = {api.strip("`").rpartition("::")[2] for api, _ in words}
        self.named = {option.removeprefix("--").replace("-", "_") for option in options} | names | {"argv"}

    def problems(self, literal: str, theirs: set[str]) -> list[str]:
        found = []
        is_prose = any(not word.startswith("-") for word in literal.split())
        ours = [name for name in self.option.findall(literal) if name not in theirs]
        if is_prose and ours:
            found.append(f"names the option {ours[0]}")
        plain = literal
        for title in TITLES:
            plain = plain.replace(title, "")
        if verb := self.verb.search(plain):
            found.append(f"names the command '{verb[0]}'")
        for api, _ in self.words:
            if api in literal:
                self.unused.discard(api)
                literal = literal.replace(api, "")
        found += [f"{WORDS} has no words for {word}" for word in API_WORD.findall(literal)]
        return found

    def field_problem(self, field: str, members: set[str]) -> str | None:
        self.unused.discard(f"`{field}`")
        if field in NO_MEMBERS:
            return None
        if field not in members:
            return f"the field '{field}' is no member of a struct that callers fill"
        if field not in self.named | NOT_OF_CLI:
            return f"{WORDS} has no words for the field '{field}'"
        return None


def main() -> int:
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    options, verbs, words = options_of(root), verbs_of(root), words_of(root)
    for what, known, least in (("options", options, 10), ("verbs", verbs, 3), ("words", words, 3)):
        if len(known) < least:
            print(f"check_hints: found no table of {what} in {FRONT}", file=sys.stderr)
            return 2
    check = Check(options, verbs, words)
    found = 0
    library = [path for path in [*sources(root / "src"), *sources(root / "include")] if not path.is_relative_to(root / FRONT)]
    takes = passing_on("\n".join(path.read_text() for path in library if path.suffix == ".h"))
    members = members_of([path.read_text() for folder in REQUESTS for path in sources(root / folder) if path.suffix == ".h"])
    for path in library:
        name = path.relative_to(root).as_posix()
        for line, field in fields_in(path.read_text(), takes | passing_on(path.read_text())):
            if problem := check.field_problem(field, members):
                print(f"{name}:{line}: {problem}: name it as the struct does (docs/adr/0072)")
                found += 1
        for line, literal in literals(path.read_text()):
            for problem in check.problems(literal, THEIRS.get(name, set())):
                print(f"{name}:{line}: {problem}: name the API in backticks, or use plain words (docs/adr/0072)")
                found += 1
    for api in sorted(check.unused):
        print(f"{WORDS}: no message of the library says {api}")
        found += 1
    public = " ".join(path.read_text() for path in [*sources(root / "include"), *sources(root / "src/jobs")] if path.suffix == ".h")
    known = set(re.findall(r"\w+", public))
    for word in (word.strip("`") for api, _ in words for word in API_WORD.findall(api)):
        if not set(re.findall(r"\w+", word)) <= known:
            print(f"{WORDS}: no header of the library's users declares {word}")
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
