#!/usr/bin/python3
"""Fails when a document names a path, symbol, option, variable or verb that the project does not have.

  usage: check_docs.py [ROOT]

Reads README.md, CONTRIBUTING.md, SECURITY.md, CHANGELOG.md, docs/**/*.md and examples/**/*.md. Checked are: links to files of
the project, and to headings in them; `code` that looks like one of its paths; `name()` and `Name` that must stand somewhere in the sources, `A::b` that
must stand where A is defined; options and verbs of `sallyport` in `code` and in code blocks, each option at its verb. Decision
records are checked for links, and that a record's status names those that amend it: they speak of the time they were written in.
docs/layers.svg is compared with the folders of src, and of the layers in ROOMS with theirs; each step of docs/call.svg names the
functions or types that take it (data-symbols="FILE:NAME …"), which must be there. What the CLI has (verbs, options, variables it
reads) is compared with docs/.
"""

import functools
import re
import sys
from pathlib import Path

from documented import OPTION, Project, TOPS

FENCE = re.compile(r"^\s*```")
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#{1,6} (.*?)\s*#*$")
CODE = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"^[\w.*{},-]+(?:/[\w.*{},-]+)+/?$|^[\w-]+\.(?:cc|h|py|sh|md|toml|cmake)$")
# `drop_home_guarantee`, `kCases`, `EveryJailTest`, `Gate`, `SALLYPORT_TRY`: a name that only a source can give a meaning.
NAME = re.compile(r"^(?:[a-z]+(?:_[a-z0-9]+)+|k[A-Z]\w+|(?:[A-Z][a-z0-9]+){2,}|[A-Z][a-z]{3,}|SALLYPORT_\w+)$")
EXAMPLES_OF_STYLE = ("PascalCase", "kConstants")
# Files of other programs, which our tables hold in lower case.
OTHERS = ("Jenkinsfile", "Procfile")
PLACEHOLDER = re.compile(r"(^|[/_.])(NAME|N|X|x_test)([/_.]|$)")
SYMBOL = re.compile(r"^([A-Za-z_]\w*(?:::[A-Za-z_]\w*)+)(?:\(.*\))?$|^([a-z_]\w*)\(.*\)$")
CALL = re.compile(r"(?:^|[\s|`$(])sallyport ([a-z-]+)(.*)$")
# Names of the system and of the language that no source of ours defines.
NOT_OURS = re.compile(r"^(std|testing|rc|fs|libc)::|^(open|openat2?|clone3?|fork|exec\w*|setsid|unshare|mount|connect|socket"
                      r"|fchmod|chmod|chown|prctl|poll|kill|wait\w*|dup\w*|memfd_create|posix_spawnp?|system|popen|eval|main)\(")
STATUS = re.compile(r"^Status: (.*)$", re.MULTILINE)
AMENDS = re.compile(r"\b(?:amends|supersedes|replaces)\b(.*)")
AMENDED = re.compile(r"(?:;|\.) (?:it is )?amended by")
# Layers whose folders docs/layers.svg shows.
ROOMS = ("src/core", "src/jobs", "src/spawn")
NUMBER = re.compile(r"(?:ADR-|\[|\b)(\d{4})\b")


def looks_like_ours(text):
    first = text.split("/")[0]
    return first in TOPS or text.endswith((".cc", ".h")) and not text.startswith(("sys/", "linux/", "asm/", "netinet/"))


def check_path(project, text):
    if not PATH.match(text) or not looks_like_ours(text) or PLACEHOLDER.search(text):
        return None
    found = project.has_path(text) if "/" in text else project.has_file_called(text)
    return None if found else f"`{text}` is no file of the project"


def check_symbol(project, text):
    if NAME.match(text) and text not in project.words and text not in EXAMPLES_OF_STYLE + OTHERS:
        return f"`{text}`: no source knows it"
    match = SYMBOL.match(text)
    if not match or NOT_OURS.match(text):
        return None
    words = (match[1] or match[2]).split("::")
    for word in words:
        if word not in project.words:
            return f"`{text}`: no source knows {word}"
    for of, name in zip(words, words[1:]):
        if not project.has_member(of, name):
            return f"`{text}`: {of} has no {name}"
    return None


def check_call(project, line):
    call = CALL.search(line)
    if not call:
        return
    verb, rest = call[1], call[2]
    if verb in ("help", "--help", "--version"):
        return
    if verb not in project.verbs:
        yield f"sallyport has no verb '{verb}'"
        return
    # What follows -- or a pipe belongs to another program.
    for option in OPTION.findall(re.split(r"\s--(?:\s|$)|[|#>&]", rest)[0]):
        if option not in project.verbs[verb]:
            yield f"sallyport {verb} has no option {option}"


def check_code(project, text):
    problems = [check_path(project, text), check_symbol(project, text)]
    words = text.split()
    if len(words) > 1:
        problems += [check_path(project, word) for word in words if "/" in word and word.split("/")[0] in TOPS]
    # Another program's option is one that some source of ours knows.
    if text.startswith("--") and (option := OPTION.match(text)) and option[0] not in project.all_options:
        problems.append(f"`{option[0]}`: no source knows this option")
    yield from (problem for problem in problems if problem)
    if words and words[0] in project.verbs and "--" in text:
        text = "sallyport " + text
    if text.startswith("sallyport "):
        yield from check_call(project, text)


def anchor_of(heading):
    """As GitHub and its kin make it from a heading's text."""
    shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")


@functools.cache
def anchors_of(path):
    anchors, in_block = [], False
    for line in path.read_text(encoding="utf-8").splitlines():
        in_block ^= bool(FENCE.match(line))
        if not in_block and (heading := HEADING.match(line)):
            anchors.append(anchor_of(heading[1]))
    # A heading that is there before gets a number.
    return {name + (f"-{nth}" if (nth := anchors[:at].count(name)) else "") for at, name in enumerate(anchors)}


def check_links(path, line):
    for target, anchor in LINK.findall(line):
        if re.match(r"^[a-z]+:", target):
            continue
        page = path.parent / target if target else path
        if not page.exists():
            yield f"the link to {target} leads nowhere"
        elif anchor and page.suffix == ".md" and anchor not in anchors_of(page.resolve()):
            yield f"the link to {target}#{anchor} leads to no heading"


def check_document(project, path):
    in_block = False
    only_links = path.parent.name == "adr"
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if FENCE.match(line):
            in_block = not in_block
            continue
        problems = list(check_links(path, line)) if not in_block else []
        if not only_links:
            if in_block:
                problems += check_call(project, line)
            else:
                for text in CODE.findall(line):
                    problems += check_code(project, text)
        yield from ((number, problem) for problem in problems)


def check_records(folder):
    """What a record's status says it amends must say so, too: a reader of the older one alone would be misled."""
    statuses = {path.name[:4]: (path, found[1]) for path in sorted(folder.glob("[0-9]*.md"))
                if (found := STATUS.search(path.read_text(encoding="utf-8")))}
    for number, (path, status) in statuses.items():
        changes = AMENDS.search(AMENDED.split(status)[0])
        for older in NUMBER.findall(changes[1]) if changes else ():
            if older in statuses and number not in NUMBER.findall(statuses[older][1]):
                yield f"{statuses[older][0].relative_to(folder.parent.parent)}:3: its status does not name {path.name[:4]}, which amends it"


def folders_of(root, name):
    return {path.name for path in (root / name).iterdir() if path.is_dir()} if (root / name).is_dir() else set()


def check_layers_picture(root):
    picture = root / "docs" / "layers.svg"
    if not picture.is_file():
        return
    text = picture.read_text(encoding="utf-8")
    drawn = {name.removesuffix("/*") for name in re.findall(r'<text class="name"[^>]*>([^<]+)<', text)}
    shown = {"src": drawn - {"include/sallyport"}} | {folder: set() for folder in ROOMS}
    for folder, words in re.findall(r'<text[^>]*data-folders="([^"]+)"[^>]*>([^<]+)<', text):
        shown.setdefault(folder, set()).update(words.split())
    for folder, names in shown.items():
        for name in sorted(folders_of(root, folder) - names):
            yield f"docs/layers.svg: {folder}/{name} is missing"
        for name in sorted(names - folders_of(root, folder)):
            yield f"docs/layers.svg: there is no {folder}/{name}"


def check_call_picture(root):
    """Each box names what takes its step: a function that stands in the file, or a type that is defined there."""
    picture = root / "docs" / "call.svg"
    boxes = re.findall(r'<text class="name"([^>]*)>([^<]+)<', picture.read_text(encoding="utf-8")) if picture.is_file() else ()
    for attributes, step in boxes:
        symbols = re.search(r'data-symbols="([^"]+)"', attributes)
        if not symbols:
            yield f"docs/call.svg: \"{step}\" names no function or type"
        for symbol in symbols[1].split() if symbols else ():
            file, _, name = symbol.partition(":")
            text = (root / file).read_text(encoding="utf-8") if (root / file).is_file() else ""
            code = re.sub(r"//.*", "", text)
            if not name or not re.search(rf"\b{re.escape(name)}\(|\b(?:class|struct) {re.escape(name)}\b(?!;)", code):
                yield f"docs/call.svg: \"{step}\": {file} has no {name}"


def check_cli_page(project):
    """What the code has, the other way round: verbs and variables in docs/cli.md, options in some page."""
    pages = {path: path.read_text(encoding="utf-8") for path in (project.root / "docs").glob("*.md")}
    page = pages.get(project.root / "docs" / "cli.md", "")
    options = set(OPTION.findall("\n".join(pages.values())))
    for verb, own in sorted(project.verbs.items()):
        if f"| `{verb}`" not in page:
            yield f"docs/cli.md: the table of verbs lacks {verb}"
        for option in sorted(own - options):
            yield f"docs: no page has {option} of sallyport {verb}"
    for name in sorted(project.variables):
        if f"`{name}`" not in page:
            yield f"docs/cli.md: the program reads {name}, and the page does not say so"


def documents_of(root):
    named = [root / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
    return [path for path in named if path.is_file()] + [
        path for top in ("docs", "examples") for path in sorted((root / top).rglob("*.md"))]


def main(argv):
    root = Path(argv[1] if len(argv) > 1 else Path(__file__).parent.parent).resolve()
    project = Project(root)
    documents = documents_of(root)
    if not documents or not project.verbs:
        print(f"check_docs: error: no documents or no verbs under {root}", file=sys.stderr)
        return 2
    findings = [f"{path.relative_to(root)}:{number}: {problem}"
                for path in documents for number, problem in check_document(project, path)]
    findings += [*check_records(root / "docs" / "adr"), *check_layers_picture(root), *check_call_picture(root),
                 *check_cli_page(project)]
    print("\n".join(findings) if findings else f"{len(documents)} documents name only what exists")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
