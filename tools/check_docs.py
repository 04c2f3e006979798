#!/usr/bin/python3
"""Fails when a document names a path, symbol, option or verb that the project does not have.

  usage: check_docs.py [ROOT]

Reads README.md, CONTRIBUTING.md, SECURITY.md and docs/**/*.md. Checked are: links to files of the project; `code` that looks
like one of its paths; `A::b` and `name()` that must stand somewhere in the sources; options and verbs of `sallyport` in
`code` and in code blocks. Decision records are checked for links only: they speak of the time they were written in.
"""

import re
import sys
from pathlib import Path

FENCE = re.compile(r"^\s*```")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
CODE = re.compile(r"`([^`\n]+)`")
TOPS = ("src", "include", "tests", "tools", "docs", "bench", "fuzz", "cmake", "examples", "policies")
# Where a path may begin, for a reader who has just read the layer's name.
STARTS = ("", "src", "include", "src/spawn", "docs", "tests")
PATH = re.compile(r"^[\w.*{},-]+(?:/[\w.*{},-]+)+/?$|^[\w-]+\.(?:cc|h|py|sh|md|toml|cmake)$")
# `drop_home_guarantee`, `kCases`, `EveryJailTest`: a name that only a source can give a meaning.
NAME = re.compile(r"^(?:[a-z]+(?:_[a-z0-9]+)+|k[A-Z]\w+|(?:[A-Z][a-z0-9]+){2,})$")
EXAMPLES_OF_STYLE = ("PascalCase", "kConstants")
PLACEHOLDER = re.compile(r"(^|[/_.])(NAME|N|X|x_test)([/_.]|$)")
SYMBOL = re.compile(r"^([A-Za-z_]\w*(?:::[A-Za-z_]\w*)+)(?:\(.*\))?$|^([a-z_]\w*)\(.*\)$")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]+")
CALL = re.compile(r"(?:^|[\s|`$(])sallyport ([a-z-]+)(.*)$")
SOURCE_ENDINGS = (".cc", ".h", ".S", ".py", ".txt", ".sh", ".cmake", ".toml")
# Names of the system and of the language that no source of ours defines.
NOT_OURS = re.compile(r"^(std|testing|rc|fs)::|^(open|openat2?|clone3?|fork|exec\w*|setsid|unshare|mount|connect|socket"
                      r"|fchmod|chmod|chown|prctl|poll|kill|wait\w*|dup\w*|memfd_create|posix_spawnp?|system|popen|eval|main)\(")


class Project:
    def __init__(self, root):
        self.root = root
        texts = []
        for top in ("include", "src", "tests", "tools", "bench", "fuzz", "cmake"):
            for path in sorted((root / top).rglob("*")):
                if path.suffix in SOURCE_ENDINGS and path.is_file() and path.name != "check_docs.py":
                    texts.append(path.read_text(encoding="utf-8", errors="replace"))
        self.words = set(re.findall(r"\w+", "\n".join(texts)))
        cli = "\n".join(p.read_text(encoding="utf-8") for p in sorted((root / "src" / "cli").rglob("*.cc")))
        self.options = set(OPTION.findall(cli))
        self.verbs = set(re.findall(r'\.name = "([a-z-]+)"', cli)) | {"--help", "--version"}

    def has_path(self, text):
        text = text.rstrip("/").split(":")[0]
        for one in expand(text):
            if not any(self._matches(start, one) for start in STARTS):
                return False
        return True

    def _matches(self, start, pattern):
        base = self.root / start
        if "*" in pattern:
            return any(True for _ in base.glob(pattern)) if base.is_dir() else False
        return (base / pattern).exists()

    def has_file_called(self, name):
        return any(True for _ in self.root.glob(name)) or any(
            True for top in TOPS for _ in (self.root / top).rglob(name))


def expand(text):
    """a/{b,c}/d -> a/b/d, a/c/d"""
    match = re.search(r"\{([^}]*)\}", text)
    if not match:
        return [text]
    return [one for part in match[1].split(",") for one in expand(text[:match.start()] + part + text[match.end():])]


def looks_like_ours(text):
    first = text.split("/")[0]
    return first in TOPS or text.endswith((".cc", ".h")) and not text.startswith(("sys/", "linux/", "asm/", "netinet/"))


def check_path(project, text):
    if not PATH.match(text) or not looks_like_ours(text) or PLACEHOLDER.search(text):
        return None
    found = project.has_path(text) if "/" in text else project.has_file_called(text)
    return None if found else f"`{text}` is no file of the project"


def check_symbol(project, text):
    if NAME.match(text) and text not in project.words and text not in EXAMPLES_OF_STYLE:
        return f"`{text}`: no source knows it"
    match = SYMBOL.match(text)
    if not match or NOT_OURS.match(text):
        return None
    for word in (match[1] or match[2]).split("::"):
        if word not in project.words:
            return f"`{text}`: no source knows {word}"
    return None


def check_call(project, line):
    call = CALL.search(line)
    if not call:
        return
    verb, rest = call[1], call[2]
    if verb not in project.verbs and not verb.startswith("--"):
        yield f"sallyport has no verb '{verb}'"
    # What follows -- or a pipe belongs to another program.
    for option in OPTION.findall(re.split(r"\s--(?:\s|$)|[|#>&]", rest)[0]):
        if option not in project.options:
            yield f"sallyport has no option {option}"


def check_code(project, text):
    for problem in (check_path(project, text), check_symbol(project, text)):
        if problem:
            yield problem
    if text.startswith("sallyport "):
        yield from check_call(project, text)


def check_links(path, line, root):
    for target in LINK.findall(line):
        if re.match(r"^[a-z]+:", target):
            continue
        if not (path.parent / target).exists():
            yield f"the link to {target} leads nowhere"


def check_document(project, path):
    in_block = False
    only_links = path.parent.name == "adr"
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if FENCE.match(line):
            in_block = not in_block
            continue
        problems = list(check_links(path, line, project.root)) if not in_block else []
        if not only_links:
            if in_block:
                problems += check_call(project, line)
            else:
                for text in CODE.findall(line):
                    problems += check_code(project, text)
        yield from ((number, problem) for problem in problems)


def main(argv):
    root = Path(argv[1] if len(argv) > 1 else Path(__file__).parent.parent).resolve()
    project = Project(root)
    documents = [root / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md") if (root / name).is_file()]
    documents += sorted((root / "docs").rglob("*.md"))
    if not documents or not project.verbs:
        print(f"check_docs: error: no documents or no verbs under {root}", file=sys.stderr)
        return 2
    findings = [f"{path.relative_to(root)}:{number}: {problem}"
                for path in documents for number, problem in check_document(project, path)]
    print("\n".join(findings) if findings else f"{len(documents)} documents name only what exists")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
