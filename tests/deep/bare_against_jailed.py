"""Programs that use the kernel hard, bare and in each jail: what passes bare must pass jailed, but for what a jail denies."""
import subprocess
import sys
import tempfile
import unittest

from common import JAILS, Place, policy_of

# Each a part of the kernel that ordinary tools use; what needs privileges or ids is not among them.
STRESSORS = ["cpu", "fork", "pipe", "poll", "epoll", "eventfd", "futex", "mmap", "switch", "sem", "sigq", "timer",
             "vm", "yield", "dir", "filename", "flock", "fstat", "link", "rename", "seek", "symlink", "sockpair", "udp"]
# Of CPython's own suite. Left out: tests of ids, mqueue, and of a writable root, which a jail changes on purpose, and of real
# networks (test_socket waits for minutes for names that nobody answers).
MODULES = ["test_mmap", "test_select", "test_selectors", "test_tempfile", "test_fcntl", "test_pipes"]
JAIL_CHANGES = ("uid", "gid", "group", "chown", "mknod", "xattr", "sched", "priority", "affinity", "prlimit", "pidfd", "netns",
                "can", "vsock", "alg", "userns", "unshare", "setns", "memfd", "hostname", "interface", "if_name", "ioctl",
                "nice", "root", "getlogin", "sendfile", "copy_file_range", "splice")


class Comparison(Place):
    def outcome(self, argv: list[str], jail: str | None) -> subprocess.CompletedProcess:
        with tempfile.TemporaryDirectory(prefix="sallyport-deep-") as work:
            if jail is None:
                return subprocess.run(argv, cwd=work, env={**self.env, "TMPDIR": work}, stdin=subprocess.DEVNULL,
                                      capture_output=True, timeout=900)
            self.policy.write_text(policy_of(argv[0]))
            return self.run_it_long(self.argv(argv, "--timeout", "10m", "--writable-repo", jail=jail))

    def run_it_long(self, argv: list[str]) -> subprocess.CompletedProcess:
        return subprocess.run(argv, cwd=self.repo, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, timeout=900)


class StressNg(Comparison):
    def test_every_stressor_that_passes_bare_passes_jailed(self) -> None:
        known = subprocess.run(["stress-ng", "--stressors"], capture_output=True, text=True, check=True).stdout.split()
        compared = 0
        for stressor in STRESSORS:
            if stressor not in known:
                continue
            argv = ["stress-ng", f"--{stressor}", "1", "--timeout", "1s", "--temp-path", "/tmp", "--oomable"]
            if self.outcome(argv, None).returncode != 0:
                continue
            compared += 1
            for jail in JAILS:
                done = self.outcome(argv, jail)
                self.assertEqual(done.returncode, 0, f"{stressor} in {jail}: {done.stdout[-500:]} {done.stderr[-500:]}")
        self.assertGreater(compared, 10)  # positive control: there was something to compare


class CPython(Comparison):
    def failed(self, module: str, jail: str | None) -> set[str]:
        done = self.outcome(["python3", "-m", "unittest", "-v", f"test.{module}"], jail)
        lines = done.stderr.decode(errors="replace").splitlines()
        ran = [line for line in lines if " ... " in line]
        self.assertGreater(len(ran), 5, f"{module} in {jail}: {lines[-20:]}")
        return {line.split(" ... ")[0] for line in ran if line.endswith(("... FAIL", "... ERROR"))}

    def test_every_test_that_passes_bare_passes_jailed(self) -> None:
        for module in MODULES:
            bare = self.failed(module, None)
            for jail in JAILS:
                with self.subTest(module=module, jail=jail):
                    worse = {name for name in self.failed(module, jail) - bare
                             if not any(word in name.lower() for word in JAIL_CHANGES)}
                    self.assertEqual(worse, set())


def main() -> None:
    chosen = "StressNg" if sys.argv[1] == "stress_ng" else "CPython"
    unittest.main(argv=[sys.argv[0], chosen], verbosity=2)


if __name__ == "__main__":
    main()
