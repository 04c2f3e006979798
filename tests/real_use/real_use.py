#!/usr/bin/python3
"""Honest use is unharmed: git, npm and rg print the same bytes bare, behind the gate alone, and jailed.

  usage: real_use.py --sallyport FILE [SUITE...]      suites: plain worktree submodule history npm rg

The repos are made here: non-ASCII names, a merge, a rename, a stash, staged, changed and untracked files, large-file
pointers without their filter, a linked worktree, nested submodules, 5,000 commits. Exit: 0 the same, 1 not.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

IDENTITY = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@use.test", "GIT_COMMITTER_NAME": "A",
            "GIT_COMMITTER_EMAIL": "a@use.test", "GIT_AUTHOR_DATE": "1700000000 +0100",
            "GIT_COMMITTER_DATE": "1700000000 +0100"}
MODES = ("none", "native")


def environment(home):
    return {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": str(home), "LANG": "C.UTF-8"}


def do(*argv, cwd, home, stdin=None):
    made = subprocess.run([str(word) for word in argv], cwd=cwd, env=environment(home) | IDENTITY, input=stdin,
                          stdin=subprocess.DEVNULL if stdin is None else None, capture_output=True, check=False)
    if made.returncode != 0:
        raise RuntimeError(f"{argv}: exit {made.returncode}: {made.stderr.decode(errors='replace')}")


class Corpus:
    def __init__(self, root):
        self.root = root
        self.home = root / "home"
        self.home.mkdir()

    def git(self, place, *argv, stdin=None):
        do("git", "-c", "protocol.file.allow=always", *argv, cwd=place, home=self.home, stdin=stdin)

    def commit(self, place, message):
        self.git(place, "add", "-A")
        self.git(place, "commit", "-qm", message)

    def plain(self, name="plain"):
        place = self.root / name
        place.mkdir()
        self.git(place, "init", "-q", "-b", "main")
        (place / "text.txt").write_text("".join(f"line {number}\n" for number in range(50)), encoding="utf-8")
        (place / "grüße").mkdir()
        (place / "grüße" / "日本 語.txt").write_text("one\ntwo\n", encoding="utf-8")
        (place / "bytes.bin").write_bytes(bytes(range(256)) * 8)
        (place / "tool.sh").write_text("#!/bin/sh\necho x\n", encoding="utf-8")
        (place / "tool.sh").chmod(0o755)
        (place / "link").symlink_to("text.txt")
        (place / ".gitignore").write_text("*.log\n", encoding="utf-8")
        (place / ".gitattributes").write_text("*.big filter=lfs diff=lfs merge=lfs -text\n", encoding="utf-8")
        (place / "model.big").write_text("version https://git-lfs.example/spec/v1\noid sha256:" + "ab" * 32 +
                                         "\nsize 123456\n", encoding="utf-8")
        self.commit(place, "first: grüße")
        self.git(place, "checkout", "-qb", "other")
        (place / "other.txt").write_text("other\n", encoding="utf-8")
        self.commit(place, "other")
        self.git(place, "checkout", "-q", "main")
        self.git(place, "mv", "text.txt", "renamed.txt")
        with open(place / "renamed.txt", "a", encoding="utf-8") as file:
            file.write("more\n")
        self.commit(place, "rename")
        self.git(place, "merge", "-q", "--no-ff", "-m", "merge other", "other")
        self.git(place, "tag", "-a", "v1", "-m", "one")
        (place / "renamed.txt").write_text("stashed\n", encoding="utf-8")
        self.git(place, "stash", "push", "-q", "-m", "kept")
        (place / "renamed.txt").write_text("changed\n", encoding="utf-8")
        (place / "staged.txt").write_text("staged\n", encoding="utf-8")
        self.git(place, "add", "staged.txt")
        (place / "new file").write_text("untracked\n", encoding="utf-8")
        (place / "ignored.log").write_text("x\n", encoding="utf-8")
        return place

    def worktree(self):
        root = self.root / "trees"
        root.mkdir()
        made = self.plain("trees-main")
        made.rename(root / "main")
        self.git(root / "main", "worktree", "add", "-q", "../linked", "other")
        (root / "linked" / "other.txt").write_text("changed\n", encoding="utf-8")
        return root

    def submodule(self):
        inner, middle, place = self.plain("inner"), self.plain("middle"), self.plain("super")
        self.git(middle, "submodule", "--quiet", "add", inner, "deep")
        self.commit(middle, "submodule")
        self.git(place, "submodule", "--quiet", "add", middle, "sub")
        self.git(place, "submodule", "--quiet", "add", inner, "clean")
        self.commit(place, "submodules")
        self.git(place, "submodule", "--quiet", "update", "--init", "--recursive")
        (place / "sub" / "renamed.txt").write_text("dirty\n", encoding="utf-8")
        (place / "sub" / "deep" / "untracked").write_text("dirty\n", encoding="utf-8")
        self.git(place / "clean", "checkout", "-q", "HEAD~")
        return place

    def history(self):
        place = self.root / "history"
        place.mkdir()
        self.git(place, "init", "-q", "-b", "main")
        stream = []
        for number in range(5000):
            text = f"change {number}\n".encode() * (number % 7 + 1)
            message = f"commit {number}\n".encode()
            stream.append(b"commit refs/heads/main\ncommitter A <a@use.test> %d +0000\ndata %d\n%s" %
                          (1600000000 + number, len(message), message))
            stream.append(b"M 100644 inline dir%d/file%d.txt\ndata %d\n%s\n" %
                          (number % 50, number % 300, len(text), text))
        self.git(place, "fast-import", "--quiet", stdin=b"".join(stream))
        self.git(place, "checkout", "-q", "-f", "main")
        return place

    def npm(self):
        place = self.root / "npm"
        (place / "dep").mkdir(parents=True)
        (place / "package.json").write_text('{"name":"use","version":"1.0.0","dependencies":{"dep":"file:dep"}}\n',
                                            encoding="utf-8")
        (place / "dep" / "package.json").write_text('{"name":"dep","version":"2.0.0","main":"x.js"}\n',
                                                    encoding="utf-8")
        (place / "dep" / "x.js").write_text("module.exports = 1\n", encoding="utf-8")
        self.git(place, "init", "-q", "-b", "main")
        do("npm", "install", "--package-lock-only", "--offline", "--no-audit", "--no-fund", cwd=place, home=self.home)
        return place


GIT = """
git log
git log --stat --summary
git log -p
git log --oneline --graph --all --decorate
git log --follow renamed.txt
git diff
git diff HEAD
git diff --cached
git diff --word-diff HEAD
git diff --stat -M HEAD~ HEAD
git status
git status --short --branch --ignored
git status --porcelain=v2
git blame HEAD -- renamed.txt
git blame HEAD -- grüße/日本\xa0語.txt
git grep -n line HEAD
git grep one
git ls-files -s
git ls-files --others --exclude-standard
git ls-files -z
git ls-tree -r HEAD
git show HEAD
git show HEAD:model.big
git show v1
git stash list
git stash show -p
git worktree list
git submodule status
git branch -a -v
git tag -l -n
git shortlog -s HEAD
git describe --always --dirty
git rev-parse HEAD
git rev-list --count --all
git cat-file -p HEAD
git check-attr -a model.big
git diff --name-status HEAD~ HEAD
git archive --format=tar HEAD
git for-each-ref
git reflog
git no-such-revision
git show no-such-revision
""".strip().splitlines()
GIT.remove("git no-such-revision")

LINKED = ["git -C linked " + words for words in ("status", "log --oneline", "diff", "worktree list", "branch -a",
                                                 "blame HEAD -- other.txt", "stash list")]
LINKED += ["git -C main " + words for words in ("status", "worktree list --porcelain", "diff")]
SUBMODULES = ["git status", "git status --short", "git diff", "git diff --submodule=log", "git submodule status",
              "git submodule status --recursive", "git ls-files -s", "git -C sub status", "git -C sub diff",
              "git -C clean log --oneline", "git describe --always --dirty", "git log --stat", "git diff --stat HEAD"]
HISTORY = ["git log", "git log --stat -n 300", "git log --oneline -- dir7", "git blame dir7/file7.txt", "git status",
           "git grep -c change", "git shortlog -s HEAD", "git rev-list --count HEAD", "git diff HEAD~100 --stat",
           "git log -S4321 --oneline -n 1", "git ls-files"]
RG = ["rg --sort path line", "rg --sort path -n -i GRÜSSE .", "rg --files --sort path", "rg --sort path -c one", 
      "rg -uu --sort path x", "rg absent"]


def words_of(line):
    # A no-break space stands for a blank inside a word.
    return [word.replace("\xa0", " ") for word in line.split(" ")]


def bare(corpus, place, argv):
    ran = subprocess.run(argv, cwd=place, env=environment(corpus.home), stdin=subprocess.DEVNULL, capture_output=True,
                         timeout=120, check=False)
    return ran.returncode, ran.stdout, ran.stderr


def through(sallyport, mode, *options):
    return lambda corpus, place, argv: bare(
        corpus, place, [str(sallyport), "run", "--jail", mode, "--repo", str(place), *options, "--", *argv])


def compare(sallyport, corpus, place, lines):
    different = 0
    for line in lines:
        argv = words_of(line)
        wanted = bare(corpus, place, argv)
        for mode in MODES:
            got = through(sallyport, mode)(corpus, place, argv)
            if got != wanted:
                different += 1
                print(f"DIFFERENT {place.name} {mode}: {line}\n  bare {wanted[0]} {wanted[1][-600:]!r} {wanted[2]!r}\n"
                      f"  {mode} {got[0]} {got[1][-600:]!r} {got[2][-600:]!r}")
    print(f"{place.name}: {len(lines)} commands, {different} different")
    return different


def tree(place):
    """What npm made, links by their target."""
    return sorted((str(path.relative_to(place)), os.readlink(path) if path.is_symlink() else
                   path.read_bytes() if path.is_file() else None) for path in (place / "node_modules").rglob("*"))


def npm_ci(sallyport, corpus):
    if shutil.which("npm") is None:
        print("npm is not installed")
        return 1
    place = corpus.npm()
    argv = ["npm", "ci", "--no-audit", "--no-fund"]
    seen = []
    for run in (bare, *(through(sallyport, mode, "--writable-repo") for mode in MODES)):
        shutil.rmtree(place / "node_modules", ignore_errors=True)
        code, out, err = run(corpus, place, argv)
        seen.append((code, re.sub(rb"in \d+m?s", b"in T", out), err, tree(place)))
    different = sum(one != seen[0] for one in seen[1:]) + (seen[0][0] != 0 or not seen[0][3])
    if different:
        print("DIFFERENT npm ci:", *seen, sep="\n  ")
    print(f"npm: {different} different")
    return different


SUITES = {
    "plain": lambda sallyport, corpus: compare(sallyport, corpus, corpus.plain(), GIT),
    "worktree": lambda sallyport, corpus: compare(sallyport, corpus, corpus.worktree(), LINKED),
    "submodule": lambda sallyport, corpus: compare(sallyport, corpus, corpus.submodule(), SUBMODULES),
    "history": lambda sallyport, corpus: compare(sallyport, corpus, corpus.history(), HISTORY),
    "rg": lambda sallyport, corpus: compare(sallyport, corpus, corpus.plain(), RG),
    "npm": npm_ci,
}


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sallyport", type=Path, required=True)
    parser.add_argument("suites", nargs="*", metavar="SUITE")
    options = parser.parse_args(argv)
    different = 0
    for name in options.suites or SUITES:
        with tempfile.TemporaryDirectory(prefix="real-use-") as root:
            different += SUITES[name](options.sallyport.resolve(), Corpus(Path(root)))
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
