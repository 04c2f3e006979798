"""Below the filter of a container (Docker's default one): clone3 does not exist, and no process may make namespaces.

Without a jail a tool still runs; a jail is refused before the tool starts. Where only clone3 is missing, jails work too.
"""
import ctypes
import errno
import os
import platform
import struct
import subprocess

from common import PLAIN_ID, Place, main

NUMBERS = {
    "x86_64": {"arch": 0xC000003E, "clone": 56, "unshare": 272, "setns": 308, "mount": 165, "pivot_root": 155,
               "clone3": 435, "open_tree": 428, "move_mount": 429, "fsopen": 430, "mount_setattr": 442},
    "aarch64": {"arch": 0xC00000B7, "clone": 220, "unshare": 97, "setns": 268, "mount": 40, "pivot_root": 41,
                "clone3": 435, "open_tree": 428, "move_mount": 429, "fsopen": 430, "mount_setattr": 442},
}[platform.machine()]
NAMESPACES = 0x7E020000  # every CLONE_NEW* that Docker's profile asks for

LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
ALLOW, FAIL = 0x7FFF0000, 0x00050000
NUMBER_AT, ARCH_AT, FIRST_ARGUMENT_AT = 0, 4, 16


def without_clone3() -> list[tuple[int, int, int, int]]:
    return [(LOAD, 0, 0, NUMBER_AT),
            (EQUAL, 0, 1, NUMBERS["clone3"]), (RETURN, 0, 0, FAIL | errno.ENOSYS),
            (RETURN, 0, 0, ALLOW)]


def like_docker() -> list[tuple[int, int, int, int]]:
    program = without_clone3()[:-1]
    for call in ("unshare", "setns", "mount", "pivot_root", "open_tree", "move_mount", "fsopen", "mount_setattr"):
        program += [(EQUAL, 0, 1, NUMBERS[call]), (RETURN, 0, 0, FAIL | errno.EPERM)]
    return program + [(EQUAL, 0, 3, NUMBERS["clone"]), (LOAD, 0, 0, FIRST_ARGUMENT_AT),
                      (ANY_BIT, 0, 1, NAMESPACES), (RETURN, 0, 0, FAIL | errno.EPERM),
                      (RETURN, 0, 0, ALLOW)]


def install(program: list[tuple[int, int, int, int]]) -> None:
    """In the child, before it executes the program under test."""
    code = b"".join(struct.pack("=HBBI", *step) for step in program)
    text = ctypes.create_string_buffer(code, len(code))
    head = ctypes.create_string_buffer(struct.pack("=HxxxxxxQ", len(program), ctypes.addressof(text)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, head, 0, 0) != 0:  # PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP
        raise OSError(ctypes.get_errno(), "cannot install the filter")


PROBE = f"""
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall({NUMBERS["clone3"]}, None, 0)
print(ctypes.get_errno())
libc.syscall({NUMBERS["clone"]}, 0x10000000 | 0x00020000, 0, 0, 0, 0)
print(ctypes.get_errno())
"""


class ContainerFilter(Place):
    def below(self, program: list[tuple[int, int, int, int]], argv: list[str], plain: bool) -> subprocess.CompletedProcess:
        how = {"preexec_fn": lambda: install(program)}
        if os.geteuid() == 0:
            user = PLAIN_ID if plain else 0
            how |= {"user": user, "group": user, "extra_groups": []}
            for path in (self.dir, self.repo, self.home, self.policy):
                os.chown(path, user, user)
        return self.run_it(argv, **how)

    def assert_runs(self, program: list[tuple[int, int, int, int]], jail: str) -> None:
        for plain in (False, True):
            done = self.below(program, self.argv(["echo", "ran"], jail=jail), plain)
            self.assertEqual((done.returncode, done.stdout), (0, b"ran\n"),
                             f"{jail}, plain user: {plain}: {done.stderr.decode()}")

    def test_the_filter_does_what_it_says(self) -> None:
        for plain in (False, True):
            done = self.below(like_docker(), ["/usr/bin/python3", "-c", PROBE], plain)
            self.assertEqual(done.stdout.split(), [b"%d" % errno.ENOSYS, b"%d" % errno.EPERM], done.stderr)

    def test_without_a_jail_a_tool_runs(self) -> None:
        self.assert_runs(like_docker(), "none")

    def test_a_jail_is_refused_and_the_tool_does_not_run(self) -> None:
        for jail in ("native", "bwrap"):
            for plain in (False, True):
                done = self.below(like_docker(), self.argv(["echo", "ran"], jail=jail), plain)
                about = f"{jail}, plain user: {plain}: {done.stderr.decode()}"
                self.assertEqual((done.returncode, done.stdout), (125, b""), about)
                self.assertRegex(done.stderr, b"error: .*(new process or namespaces|bwrap)", about)

    def test_what_is_left_is_landlock_and_it_says_so(self) -> None:
        for plain in (False, True):
            done = self.below(like_docker(), self.argv(["echo", "ran"], jail="auto"), plain)
            about = f"plain user: {plain}: {done.stderr.decode()}"
            self.assertIn((done.returncode, done.stdout), ((0, b"ran\n"), (125, b"")), about)
            self.assertIn(b'only the jail "landlock"' if done.returncode == 0 else b"error: ", done.stderr, about)
            demanding = self.argv(["echo", "ran"], "--require", "proc.pid_isolated", jail="auto")
            done = self.below(like_docker(), demanding, plain)
            self.assertEqual((done.returncode, done.stdout), (125, b""), done.stderr)

    def test_where_only_clone3_is_missing_jails_work(self) -> None:
        for jail in ("native", "auto", "none"):
            self.assert_runs(without_clone3(), jail)


if __name__ == "__main__":
    main()
