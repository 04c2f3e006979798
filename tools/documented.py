"""What a document can name: the project's files, the words of its sources, the options and verbs of the CLI."""

import re

OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]+")
TOPS = ("src", "include", "tests", "tools", "docs", "bench", "fuzz", "cmake", "examples", "policies")
# Where a path may begin, for a reader who has just read the layer's name.
STARTS = ("", "src", "include", "src/spawn", "docs", "tests")
SOURCE_ENDINGS = (".cc", ".h", ".S", ".py", ".txt", ".sh", ".cmake", ".toml", ".inc", ".yml")
# The checks name what does not exist: to find it, and in their self-tests.
NOT_SOURCES = re.compile(r"check_docs|documented\.py")
# A row of a verb's table of options.
ROW = re.compile(r'\{\{"(--[a-z-]+)"')
DEFINED = r"\b(?:class|struct|enum class|enum|namespace|union)\s+(?:\[\[nodiscard\]\]\s+)?(?:\w+::)*{}\b(?!\s*;)"
# The files that ask for variables of the environment by name, and how such a name looks there.
READERS = ("src/cli/main.cc", "src/cli/container_choice.cc", "src/core/policy/base_variables.cc", "src/gate/from_environment.cc")
VARIABLE = re.compile(r'"([A-Z][A-Z_]+|[a-z]+_(?:proxy|config_[a-z]+))"')
# Its options stand before `--`; these words have those of another verb besides their own.
RUNS_OPTIONS = {"workspace": "run"}


class Project:
    def __init__(self, root):
        self.root = root
        self.sources = {}
        for top in ("include", "src", "tests", "tools", "bench", "fuzz", "cmake", "examples"):
            for path in sorted((root / top).rglob("*")):
                if path.suffix in SOURCE_ENDINGS and path.is_file() and not NOT_SOURCES.search(path.name):
                    self.sources[path] = path.read_text(encoding="utf-8", errors="replace")
        everything = "\n".join(self.sources.values())
        self.words = set(re.findall(r"\w+", everything))
        self.all_options = set(OPTION.findall(everything)) | {"--help"}
        self.verbs = {}
        for path, text in self.sources.items():
            for verb in re.findall(r'\.name = "([a-z-]+)"', text) if "src/cli/verbs" in path.as_posix() else ():
                self.verbs[verb] = self._options_of(path)
        self.variables = set(VARIABLE.findall("\n".join(self.sources.get(root / file, "") for file in READERS)))
        for verb, other in RUNS_OPTIONS.items():
            if verb in self.verbs:
                self.verbs[verb] |= self.verbs.get(other, set())

    def _options_of(self, path):
        """Those in the tables of the verb's files, and of run where the verb reads run's."""
        options = {"--help"}
        for file in path.parent.glob(f"{path.stem}*.cc"):
            text = self.sources[file]
            options |= set(ROW.findall(text))
            if "parse_call_options(" in text:
                options |= set(ROW.findall(self.sources.get(self.root / "src/cli/call_options.cc", "")))
        return options

    def has_member(self, of, name):
        """Whether a file that defines the type or namespace `of` knows `name`."""
        defined = re.compile(DEFINED.format(re.escape(of)))
        member = re.compile(rf"\b{re.escape(name)}\b")
        return any(member.search(text) for path, text in self.sources.items()
                   if path.suffix in (".cc", ".h") and of in text and defined.search(text))

    def has_path(self, text):
        text = text.rstrip("/").split(":")[0]
        return all(any(self._matches(start, one) for start in STARTS) for one in expand(text))

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
