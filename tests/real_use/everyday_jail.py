#!/usr/bin/python3
"""Installed tools, the jail and the streams as people use them; see everyday.py."""

import json
import os
import pty
import shutil
import subprocess
from pathlib import Path

import everyday
from everyday import Everyday, executable


class Python(Everyday):
    """pipx: HOME/.local/bin/NAME -> venvs/NAME/bin/NAME, whose #! line names the venv's own python, a symlink."""

    def venv(self):
        venv = self.home / ".local" / "share" / "pipx" / "venvs" / "semgrep"
        made = self.bare("/usr/bin/python3", "-m", "venv", "--without-pip", venv, check=False)
        if made.returncode != 0:
            self.skipTest("python3-venv is not installed")
        modules = next((venv / "lib").glob("python3*")) / "site-packages"
        (modules / "semgrep_stand_in.py").write_text("VERSION = '1.93'\n", encoding="utf-8")
        executable(venv / "bin" / "semgrep",
                   f"#!{venv}/bin/python\nimport sys, semgrep_stand_in\nprint(semgrep_stand_in.VERSION, sys.prefix)\n")
        (self.home / ".local" / "bin").mkdir()
        (self.home / ".local" / "bin" / "semgrep").symlink_to(venv / "bin" / "semgrep")
        self.path = f"{self.home}/.local/bin:{self.path}"
        return venv

    def test_semgrep_from_pipx_finds_its_modules(self):
        venv = self.venv()
        for jail in ("native", "none"):
            ran = self.run_tool("semgrep", "--version", jail=jail)
            self.assertEqual((ran.returncode, ran.stdout), (0, f"1.93 {venv}\n"), ran.stderr)

    def test_a_home_behind_a_symlink(self):
        self.venv()
        link = self.root / "linked-home"
        link.symlink_to(self.home)
        text = (self.home / ".local/share/pipx/venvs/semgrep/bin/semgrep")
        text.write_text(text.read_text(encoding="utf-8").replace(str(self.home), str(link)), encoding="utf-8")
        self.path = f"{link}/.local/bin:/usr/bin:/bin"
        ran = self.run_tool("semgrep", "--version")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertTrue(ran.stdout.startswith("1.93 "), ran.stdout)

    def test_only_the_venv_of_the_home_is_shown(self):
        self.venv()
        (self.home / ".ssh").mkdir()
        script = self.home / ".local/share/pipx/venvs/semgrep/bin/semgrep"
        script.write_text(script.read_text(encoding="utf-8") + "import os; print(sorted(os.listdir(os.path.join("
                          f"{str(self.home)!r}))))\n", encoding="utf-8")
        self.assertIn("['.local']", self.run_tool("semgrep", "--version").stdout)

    def test_pyenv_is_followed_to_the_real_program(self):
        root = self.home / ".pyenv"
        executable(root / "shims" / "python3", "#!/usr/bin/env bash\necho a shim >&2; exit 9\n")
        (root / "versions" / "3.99" / "bin").mkdir(parents=True)
        shutil.copy(Path("/usr/bin/python3").resolve(), root / "versions" / "3.99" / "bin" / "python3")
        (root / "version").write_text("3.99\n", encoding="utf-8")
        (self.repo / ".python-version").write_text("../../../repo\n", encoding="utf-8")
        self.path = f"{root}/shims:/usr/bin:/bin"
        # Its own name for itself is where it looks for its modules: not that of another Python in the search path.
        ran = self.run_tool("python3", "-Ic", "import os, sys; print(os.readlink('/proc/self/exe'), sys.executable)",
                            options=self.policy("python"))
        real = f"{root}/versions/3.99/bin/python3"
        self.assertEqual((ran.returncode, ran.stdout), (0, f"{real} {real}\n"), ran.stderr)


# Makes a queue by libc's own functions, sends itself a message, and looks for it where people look.
QUEUE = """import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
queue = libc.mq_open(b'/everyday', os.O_RDWR | os.O_CREAT, 0o600, None)
if queue < 0: raise SystemExit(os.strerror(ctypes.get_errno()))
sent = libc.mq_send(queue, b'hello', 5, 0)
buffer = ctypes.create_string_buffer(8192)
got = libc.mq_receive(queue, buffer, 8192, None)
print(sent, buffer.raw[:got], os.path.exists('/dev/mqueue/everyday'), libc.mq_unlink(b'/everyday'))
"""


class Jail(Everyday):
    def test_message_queues_work_and_are_the_jails_own(self):
        python = self.policy("python")
        for jail in ("native", "bwrap"):
            ran = self.run_tool("python3", "-c", QUEUE, options=python, jail=jail)
            self.assertEqual((ran.returncode, ran.stdout), (0, "0 b'hello' True 0\n"), (jail, ran.stderr))
        # One of the host's is not there, and one of the jail's stays there.
        make = "import ctypes; print(ctypes.CDLL(None).mq_open(b'/everyday-%d', 0o102, 0o600, None) >= 0)"
        look = "import ctypes; print(ctypes.CDLL(None).mq_open(b'/everyday-%d', 0, 0, None) >= 0)"
        remove = "import ctypes; ctypes.CDLL(None).mq_unlink(b'/everyday-%d')"
        mine = os.getpid()
        self.addCleanup(self.bare, "python3", "-c", remove % mine)
        self.assertEqual(self.bare("python3", "-c", make % mine).stdout, "True\n")
        self.assertEqual(self.bare("python3", "-c", look % mine).stdout, "True\n", "the control: it can be opened by its name")
        for jail in ("native", "bwrap"):
            self.assertEqual(self.run_tool("python3", "-c", look % mine, options=python, jail=jail).stdout, "False\n", jail)
            self.assertEqual(self.run_tool("python3", "-c", make % (mine + 1), options=python, jail=jail).stdout, "True\n", jail)
        self.assertEqual(self.bare("python3", "-c", look % (mine + 1)).stdout, "False\n")

    def test_strace_traces_in_its_jail_and_nobody_else_does(self):
        if shutil.which("strace") is None:
            self.skipTest("strace is not installed")
        (self.repo / "f").write_text("x\n", encoding="utf-8")
        traced = self.run_tool("strace", "-f", "-e", "trace=openat", "rg", "x", "f")
        self.assertEqual(traced.returncode, 0, traced.stderr)
        self.assertIn("openat(", traced.stderr)
        code = "import ctypes; print(ctypes.CDLL(None).ptrace(0, 0, 0, 0))"
        self.assertEqual(self.run_tool("python3", "-c", code, options=self.policy("python")).stdout, "-1\n")
        self.assertEqual(self.bare("/usr/bin/python3", "-c", code).stdout, "0\n", "the control: it works outside")

    def test_a_symlink_is_shown_by_its_own_name(self):
        real = self.home / "real"
        real.mkdir()
        (real / "f").write_text("x", encoding="utf-8")
        (self.home / "link").symlink_to("real")
        shell = self.policy("shell")
        for option in ("--ro", "--rw"):
            ran = self.run_tool("cat", self.home / "link" / "f", options=(*shell, option, self.home / "link"))
            self.assertEqual(ran.stdout, "x", ran.stderr)

    def test_hide_and_noexec(self):
        (self.repo / "secret").mkdir()
        (self.repo / "secret" / "key").write_text("key", encoding="utf-8")
        (self.repo / "one").write_text("one", encoding="utf-8")
        executable(self.repo / "bin" / "prog", "#!/bin/sh\necho ran\n")
        shell = self.policy("shell")
        look = ("sh", "-c", "cat secret/key /work/secret/key one; bin/prog; /work/bin/prog")
        plain = self.run_tool(*look, options=shell)
        self.assertEqual(plain.stdout, "keykeyone" + "ran\nran\n", plain.stderr)
        shut = self.run_tool(*look, options=(*shell, "--hide", "secret", "--hide", "one", "--noexec", "bin"))
        self.assertEqual(shut.stdout, "", shut.stderr)
        whole = self.run_tool("sh", "-c", "cat one; bin/prog; /work/bin/prog; exec bin/prog", options=(*shell, "--noexec", "."))
        self.assertEqual((whole.stdout, whole.returncode), ("one", 126), whole.stderr)
        self.refused("ls", options=(*shell, "--hide", self.home))
        self.refused("ls", options=(*shell, "--hide", "."))
        self.refused("ls", options=(*shell, "--hide", "secret", "--allow-unjailed"), jail="none")
        if shutil.which("bwrap"):
            hidden = self.run_tool("sh", "-c", "cat secret/key one", options=(*shell, "--hide", "secret", "--hide", "one"),
                                   jail="bwrap")
            self.assertEqual(hidden.stdout, "", hidden.stderr)
            self.refused(*look, options=(*shell, "--noexec", "bin"), jail="bwrap")

    def test_open_files_and_grace(self):
        shell = self.policy("shell")
        for jail in ("native", "none"):
            ran = self.run_tool("sh", "-c", "ulimit -n", options=(*shell, "--nofile", "77", "--allow-unjailed"), jail=jail)
            self.assertEqual(ran.stdout, "77\n", ran.stderr)
        script = "trap 'sleep 0.4; echo tidied; exit 0' TERM; echo ready; sleep 20 & wait"
        for grace, said in (("1s", "ready\ntidied\n"), ("10ms", "ready\n")):
            ran = self.run_tool("sh", "-c", script, options=(*shell, "--timeout", "4s", "--grace", grace))
            self.assertEqual((ran.returncode, ran.stdout), (124, said), ran.stderr)
        self.refused("sh", "-c", ":", options=(*shell, "--timeout", "4s", "--grace", "3s"))

    def test_names_fit_their_columns_and_a_terminal_of_ones_own_is_there(self):
        shell = self.policy("shell", "python")
        for name in self.run_tool("cut", "-d:", "-f1", "/etc/passwd", "/etc/group", options=shell).stdout.split():
            self.assertLessEqual(len(name), 8, name)
        code = ("import os, pty\npid, fd = pty.fork()\nif pid == 0:\n  os.write(os.open('/dev/tty', os.O_RDWR), b'here')\n"
                "  os._exit(0)\nprint(os.read(fd, 4).decode())\n")
        ran = self.run_tool("python3", "-c", code, options=shell)
        self.assertEqual(ran.stdout, "here\n", ran.stderr)


class Doctor(Everyday):
    # In a /tmp and a /var/tmp of its own, so that everything there is the doctor's. The program may itself lie in the one that the
    # mount hides, as in a clone below /tmp: it is started by its descriptor.
    SCRIPT = ("exec 3< \"$0\" && mount -t tmpfs none /tmp && mount -t tmpfs none /var/tmp && chmod 1777 /tmp /var/tmp && cd / || exit 9; "
              "/proc/self/fd/3 doctor --attack --jail native 2>&1 & sleep $1; kill -TERM $!; wait $!; echo code $?; ls -A /tmp /var/tmp")

    def test_a_cancelled_doctor_ends_its_attack_and_leaves_nothing(self):
        enter = ("unshare", "--mount") if os.getuid() == 0 else ("unshare", "--map-root-user", "--mount")
        for moment in ("0.5", "1.3", "2.6"):
            ran = self.bare(*enter, "sh", "-c", self.SCRIPT, everyday.SALLYPORT, moment, check=False, cwd="/")
            words = ran.stdout.partition("cancelled by SIGTERM after ")[2]
            self.assertRegex(words, r"^[0-9]+ attacks: this says nothing about native\ncode 143\n/tmp:\n\n/var/tmp:\n\Z", ran.stdout)


class NoProc(Everyday):
    """Without a pid namespace the tool's processes are found in /proc. Where that shows others, or none, nothing is started."""

    def in_namespaces(self, first, *options, pid=()):
        enter = ("unshare", *pid, "--mount") if os.getuid() == 0 else ("unshare", *pid, "--map-root-user", "--mount")
        return self.bare(*enter, "sh", "-c", f"{first} || exit 9; exec \"$@\"", "sh", everyday.SALLYPORT, "run", *options, "--repo",
                         self.repo, "--", "git", "--version", check=False)

    def test_nothing_starts_that_could_not_be_found_again(self):
        for first, pid in (("mount -t tmpfs none /proc", ()), ("true", ("--pid", "--fork"))):
            for jail in ("landlock", "none"):
                ran = self.in_namespaces(first, "--jail", jail, pid=pid)
                self.assertEqual((ran.returncode, ran.stdout), (125, ""), ran.stderr)
                self.assertIn("mount -t proc proc /proc", ran.stderr)
        for first in ("true", "mount -t proc proc /proc"):  # the controls
            ran = self.in_namespaces(first, "--jail", "none", pid=("--pid", "--fork") * (first != "true"))
            self.assertIn("git version", ran.stdout, ran.stderr)


class Streams(Everyday):
    def test_events_by_line(self):
        self.git_repo()
        ran = self.run_tool("git", "log", "--oneline", options=("--json-stream",))
        lines = [json.loads(line) for line in ran.stdout.splitlines()]
        self.assertEqual([line["event"] for line in lines][0], "started")
        self.assertEqual(lines[-1]["event"], "result")
        self.assertEqual((lines[-1]["outcome"], lines[-1]["exit_code"], lines[-1]["code"]), ("completed", 0, 0))
        self.assertTrue(all(line["schema"] == "sallyport.event/1" for line in lines))
        text = "".join(line["data"] for line in lines if line["event"] == "output" and line["stream"] == "stdout")
        self.assertEqual(text, self.bare("git", "log", "--oneline").stdout)
        self.assertEqual(ran.stderr, "")

    def test_a_refusal_is_one_line_and_no_start(self):
        ran = self.run_tool("nmap", options=("--json-stream",))
        lines = [json.loads(line) for line in ran.stdout.splitlines()]
        self.assertEqual(([line["event"] for line in lines], ran.returncode), (["error"], 125))

    def test_output_that_is_no_text(self):
        ran = self.run_tool("sh", "-c", "printf '\\377'", options=(*self.policy("shell"), "--json-stream"))
        pieces = [json.loads(line) for line in ran.stdout.splitlines()]
        self.assertIn(("base64", "/w=="), [(one.get("encoding"), one.get("data")) for one in pieces])

    def test_a_receipt_beside_live_output(self):
        self.git_repo()
        receipt = self.root / "receipt.json"
        ran = self.run_tool("git", "log", "--oneline", options=("--receipt", receipt))
        self.assertEqual(ran.stdout, self.bare("git", "log", "--oneline").stdout)
        record = json.loads(receipt.read_text(encoding="utf-8"))
        self.assertEqual((record["schema"], record["exit_code"]), ("sallyport.run/1", 0))
        self.assertIn("guarantees", record["receipt"])
        self.assertNotIn("stdout", record)
        target = self.root / "target"
        target.write_text("mine", encoding="utf-8")
        (self.repo / "planted").symlink_to(target)
        self.run_tool("git", "log", options=("--receipt", self.repo / "planted"))
        self.assertEqual(target.read_text(encoding="utf-8"), "mine", "a planted symlink is not written through")

    def test_a_spinner_on_a_terminal_only(self):
        shell = self.policy("shell")
        argv = [str(everyday.SALLYPORT), "run", "--repo", str(self.repo), *[str(one) for one in shell], "--", "sh", "-c",
                "sleep 3.2; echo end"]
        master, slave = pty.openpty()
        with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=slave, env=self.env()) as run:
            os.close(slave)
            seen = b""
            try:
                while piece := os.read(master, 4096):
                    seen += piece
            except OSError:  # EIO: the other end is closed
                pass
            self.assertEqual((run.stdout.read(), run.wait()), (b"end\n", 0))
        os.close(master)
        self.assertRegex(seen, rb"\r\x1b\[K[|/\\-] sh [23]\.00 s, [0-9.]+ [KM]iB")
        self.assertTrue(seen.endswith(b"\r\x1b[K"), seen)
        self.assertEqual(self.run_tool("sh", "-c", "sleep 2.6", options=shell).stderr, "")


if __name__ == "__main__":
    everyday.main()
