#!/usr/bin/python3
"""git, rg, npm, docker and policies as people use them; see everyday.py."""

import json
import os
import shutil

import everyday
from everyday import Everyday, executable


class Git(Everyday):
    def test_places_inside_the_repo_by_any_name(self):
        self.git_repo()
        for argv in (("git", "-C", self.repo / "sub", "log", "--oneline"), ("git", "-C", "sub", "-C", "..", "status"),
                     ("git", f"--git-dir={self.repo}/.git", "log", "--oneline")):
            self.same_as_bare(*argv)
        other = self.root / "other"
        other.mkdir()
        self.bare("git", "init", "-q", cwd=other)
        (self.repo / "away").symlink_to(other)
        for argv in (("git", "-C", other, "status"), ("git", "-C", "..", "status"), ("git", "-C", "away", "status"),
                     ("git", "--git-dir", "away/.git", "log")):
            self.assertIn("outside the repo", self.refused(*argv, jail="none"))
            self.refused(*argv)

    def test_harmless_keys(self):
        self.git_repo()
        (self.repo / "grüße").write_text("x", encoding="utf-8")
        self.assertIn("\\303", self.same_as_bare("git", "status", "--short").stdout)
        self.assertIn("grüße", self.same_as_bare("git", "-c", "core.quotepath=off", "status", "--short").stdout)
        self.assertIn("\x1b[", self.same_as_bare("git", "-c", "color.ui=always", "log", "-1").stdout)
        mark = self.root / "mark"
        self.refused("git", "-c", f"core.fsmonitor=touch {mark}", "status", jail="none")
        self.assertFalse(mark.exists())

    def test_words_that_only_look_like_options(self):
        self.git_repo()
        for argv in (("git", "log", "--oneline", "-S", "--exec"), ("git", "grep", "-n", "-e", "--help"),
                     ("git", "grep", "-n", "one", "--", "sub"), ("git", "log", "--oneline", "--grep", "--help"),
                     ("git", "log", "--oneline", "--", "--help")):
            self.same_as_bare(*argv)
        mark = self.root / "mark"
        self.refused("git", "grep", "-e", "--", f"--open-files-in-pager=touch {mark}", jail="none")
        self.assertFalse(mark.exists())

    def test_stash_reflog_export_and_ranges(self):
        self.git_repo()
        (self.repo / "sub" / "f.txt").write_text("stashed\n", encoding="utf-8")
        self.bare("git", "stash", "-q")
        self.assertIn("1 file changed", self.same_as_bare("git", "stash", "show").stdout)
        for argv in (("git", "stash", "show", "-p"), ("git", "stash", "list"), ("git", "reflog", "list"),
                     ("git", "fast-export", "--all"), ("git", "range-diff", "HEAD~..HEAD", "HEAD~..HEAD"),
                     ("git", "ls-files", "--recurse-submodules"), ("git", "grep", "--recurse-submodules", "one")):
            self.same_as_bare(*argv)
        mark = self.root / "mark"
        self.refused("git", "fast-export", f"--export-marks={mark}", "--all", jail="none")
        self.assertFalse(mark.exists())

    def test_a_range_diff_runs_none_of_the_repos_drivers(self):
        self.git_repo()
        mark = self.root / "mark"
        (self.repo / ".gitattributes").write_text("*.txt diff=evil\n", encoding="utf-8")
        for key in ("textconv", "command"):
            self.bare("git", "config", f"diff.evil.{key}", f"touch {mark}; cat")
        self.bare("git", "range-diff", "HEAD~..HEAD", "HEAD~..HEAD", check=False)
        control = mark.exists()
        mark.unlink(missing_ok=True)
        self.run_tool("git", "range-diff", "HEAD~..HEAD", "HEAD~..HEAD", jail="none")
        self.assertFalse(mark.exists())
        self.bare("git", "log", "-p", "--textconv")
        self.assertTrue(control or mark.exists(), "the control: the driver works")

    def test_verify_commit_with_the_operators_signers(self):
        if shutil.which("ssh-keygen") is None:
            self.skipTest("ssh-keygen is not installed")
        self.git_repo()
        key = self.home / "key"
        self.bare("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
        signers = self.home / "signers"
        signers.write_text("a@use.test " + key.with_suffix(".pub").read_text(encoding="utf-8"), encoding="utf-8")
        self.bare("git", "-c", "gpg.format=ssh", "-c", f"user.signingKey={key}.pub", "commit", "-q", "--allow-empty",
                  "-S", "-m", "signed")
        named = ("-c", f"gpg.ssh.allowedSignersFile={signers}")
        for jail in ("native", "none"):
            good = self.run_tool("git", *named, "verify-commit", "HEAD", jail=jail,
                                 options=("--ro", signers) if jail == "native" else ())
            self.assertEqual(good.returncode, 0, good.stderr)
            self.assertNotEqual(self.run_tool("git", *named, "verify-commit", "HEAD~", jail=jail,
                                              options=("--ro", signers) if jail == "native" else ()).returncode, 0)
        (self.repo / "signers").write_text(signers.read_text(encoding="utf-8"), encoding="utf-8")
        self.refused("git", "-c", "gpg.ssh.allowedSignersFile=signers", "verify-commit", "HEAD", jail="none")

    def test_a_repo_with_large_files(self):
        self.git_repo()
        filter_program = self.bin / "git-lfs"
        executable(filter_program, "#!/bin/sh\nsed s/^/pointer-to-/\n")
        (self.repo / ".gitattributes").write_text("*.big filter=lfs diff=lfs merge=lfs -text\n", encoding="utf-8")
        for key, value in (("clean", "git-lfs clean"), ("smudge", "cat"), ("required", "true")):
            self.bare("git", "config", f"filter.lfs.{key}", value)
        (self.repo / "model.big").write_text("large\n", encoding="utf-8")
        os.utime(self.repo / "model.big", (1700000000, 1700000000))  # not of the index's own second, as after a checkout
        self.bare("git", "add", "-A")
        self.bare("git", "commit", "-qm", "large")
        self.assertIn("pointer-to-large", self.bare("git", "show", "HEAD:model.big").stdout)
        for argv in (("git", "status", "--short"), ("git", "log", "--stat"), ("git", "show", "HEAD:model.big"),
                     ("git", "ls-files", "-s"), ("git", "diff", "HEAD~", "--stat")):
            self.same_as_bare(*argv)


class Search(Everyday):
    def test_patterns_that_look_like_options(self):
        (self.repo / "f").write_text("--pre\n-z\n", encoding="utf-8")
        for argv in (("rg", "-e", "--pre", "f"), ("rg", "-n", "--", "--pre", "f"), ("rg", "--regexp", "-z", "f")):
            self.assertEqual(self.same_as_bare(*argv).returncode, 0)
        mark = self.root / "mark"
        executable(self.bin / "pre", f"#!/bin/sh\ntouch {mark}\n")
        self.bare("rg", "--pre", self.bin / "pre", "x", check=False)
        self.assertTrue(mark.exists(), "the control: --pre runs it")
        mark.unlink()
        for argv in (("rg", "-e", "--", "--pre", self.bin / "pre"), ("rg", "-A", "--", f"--pre={self.bin}/pre", "x")):
            self.refused(*argv, jail="none")
        self.assertFalse(mark.exists())


class Node(Everyday):
    def setUp(self):
        super().setUp()
        if shutil.which("npm") is None:
            self.skipTest("npm is not installed")

    def package(self, place, **more):
        place.mkdir(parents=True, exist_ok=True)
        (place / "package.json").write_text(json.dumps({"name": "p", "version": "1.2.3"} | more), encoding="utf-8")

    def test_npm_in_a_directory_of_the_repo(self):
        self.package(self.repo / "sub", scripts={"test": "echo tested-$(basename $PWD)"})
        for words in (("npm", "--prefix", "sub", "test"), ("npm", "-C", "sub", "test"), ("npm", "test", "--prefix=sub")):
            ran = self.run_tool(*words)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertIn("tested-sub", ran.stdout)
        outside = self.root / "outside"
        self.package(outside, scripts={"test": f"touch {self.root}/mark"})
        self.refused("npm", "--prefix", outside, "test")
        self.refused("npm", "--prefix", outside, "test", jail="none", options=("--allow-unjailed",))
        self.assertFalse((self.root / "mark").exists())

    def test_npm_says_something_about_itself(self):
        self.package(self.repo)
        self.assertIn("1.2.3", self.run_tool("npm", "version").stdout)
        self.assertIn("1.2.3", self.run_tool("npm", "pkg", "get", "version").stdout)
        self.assertIn("npm", self.run_tool("npm", "help").stdout)
        self.assertEqual(self.run_tool("npm", "--loglevel", "silent", "ls").returncode, 0)
        self.refused("npm", "version", "patch")
        self.refused("npm", "pkg", "set", "version=9.9.9", options=("--writable-repo",))
        self.assertIn("1.2.3", (self.repo / "package.json").read_text(encoding="utf-8"))

    def test_npx_of_what_is_installed(self):
        self.package(self.repo)
        self.package(self.repo / "node_modules" / "tool", name="tool", bin={"tool": "tool.js"})
        executable(self.repo / "node_modules" / "tool" / "tool.js",
                   "#!/usr/bin/env node\nconsole.log('ran', process.argv.slice(2).join(' '))\n")
        (self.repo / "node_modules" / ".bin").mkdir()
        (self.repo / "node_modules" / ".bin" / "tool").symlink_to("../tool/tool.js")
        node = self.policy("node")
        for words in (("npx", "tool", "--flag"), ("npx", "--no-install", "tool", "--flag"),
                      ("npm", "exec", "--", "tool", "--flag")):
            ran = self.run_tool(*words, options=node)
            self.assertEqual((ran.returncode, ran.stdout), (0, "ran --flag\n"), ran.stderr)
        missing = self.run_tool("npx", "not-installed-anywhere", options=node)
        self.assertNotEqual(missing.returncode, 0)
        self.refused("npx", "-y", "cowsay", options=node)
        self.assertIn("may not run without one", self.refused("npx", "tool", options=node, jail="none"))

    def test_node_takes_sizes_but_no_code(self):
        (self.repo / "evil.js").write_text("console.log('evil')\n", encoding="utf-8")
        ran = self.run_tool("node", "-p", "v8.getHeapStatistics().heap_size_limit < 200e6",
                            options=("--env", "NODE_OPTIONS=--max-old-space-size=64"))
        self.assertEqual(ran.stdout, "true\n", ran.stderr)
        self.assertEqual(self.run_tool("node", "-p", "process.env.NODE_EXTRA_CA_CERTS",
                                       options=("--env", "NODE_EXTRA_CA_CERTS=/etc/ssl/x.pem")).stdout,
                         "/etc/ssl/x.pem\n")
        self.refused("node", "-p", "1", options=("--env", "NODE_OPTIONS=--require=./evil.js"))


class Policies(Everyday):
    def test_a_refusal_points_to_the_policy_that_has_the_tool(self):
        for tool, name in (("python3", "python"), ("make", "cpp"), ("npx", "node"), ("ls", "shell")):
            self.assertIn(f"allowlist init {name} >", self.refused(tool))

    def test_the_way_the_hint_shows_works(self):
        (self.repo / "Makefile").write_text("all:\n\t@echo made\n", encoding="utf-8")
        cpp = self.policy("cpp", "python")
        self.assertEqual(self.run_tool("make", options=cpp).stdout, "made\n")
        self.assertEqual(self.run_tool("python3", "-c", "print(6*7)", options=cpp).stdout, "42\n")
        self.assertIn("may not run without one", self.refused("make", options=cpp, jail="none"))
        self.assertIn("'pyton'", self.sallyport("allowlist", "init", "pyton").stderr)

    def test_one_word_explains_quoting(self):
        self.assertIn("sallyport run -- git log", self.refused("git log"))

    def test_show_lists_what_may_be_said(self):
        shown = self.sallyport("allowlist", "show", "npm").stdout
        self.assertIn("commands", shown)
        self.assertIn("--save-dev", shown)
        record = json.loads(self.sallyport("allowlist", "show", "npm", "--json").stdout)
        self.assertIn("ci", record["tools"][0]["commands"])


class Hints(Everyday):
    def test_a_read_only_repo(self):
        shell = self.policy("shell")
        self.assertIn("--writable-repo", self.run_tool("touch", "x", options=shell).stderr)
        self.assertNotIn("hint", self.run_tool("touch", "x", options=(*shell, "--writable-repo")).stderr)

    def test_something_hidden(self):
        secret = self.home / "data.txt"
        secret.write_text("x", encoding="utf-8")
        shell = self.policy("shell")
        self.assertIn(f"--ro {secret}", self.run_tool("cat", secret, options=shell).stderr)
        self.assertEqual(self.run_tool("cat", secret, options=(*shell, "--ro", secret)).stdout, "x")
        self.assertNotIn("--ro", self.run_tool("cat", self.home / "absent", options=shell).stderr)

    def test_docker_in_a_jail(self):
        if shutil.which("docker") is None:
            self.skipTest("docker is not installed")
        self.assertIn("--jail none", self.run_tool("docker", "ps").stderr)

    def test_docker_mounts_the_working_directory(self):
        if shutil.which("docker") is None:
            self.skipTest("docker is not installed")
        asked = ("docker", "run", "--rm=true", "-v", f"{self.repo}:/src:ro", "sallyport-no-such-image")
        ran = self.run_tool(*asked, jail="none")
        self.assertNotIn("sallyport: error", ran.stderr)
        (self.repo / "away").symlink_to(self.home)
        for place in (self.home, self.repo / "away", "/"):
            self.refused("docker", "run", "-v", f"{place}:/src:ro", "image", jail="none")

    def test_the_whole_host_is_no_repo(self):
        said = self.sallyport("run", "--repo", "/", "--", "git", "status").stderr
        self.assertIn("the whole host", said)

    def test_sizes_as_people_write_them(self):
        for size in ("512MB", "512m", "0.5G", "1GiB"):
            self.assertEqual(self.sallyport("explain", "--memory", size, "--", "git", "--version").returncode, 0, size)
        self.assertIn("at least 4 MiB", self.refused("git", "--version", options=("--memory", "1")))


if __name__ == "__main__":
    everyday.main()
