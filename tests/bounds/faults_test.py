"""A fault in any system call of any jail's set-up: the CLI ends in time, reports correctly, and leaves nothing running
(C9, C35).

Which calls a run makes is observed first (strace), then each is made to fail (strace's inject). The normal suite makes a
sample; with SALLYPORT_DEEP=1 every call is tried at several places.
"""
import os
import re
import shutil
import subprocess
import sys
import time
import uuid
import zlib

from common import JAILS, Place, main, processes_with

DEEP = bool(os.environ.get("SALLYPORT_DEEP"))
SAMPLE = 1 if DEEP else 4  # of so many calls one is tried
PATIENCE = 40              # the deadline below, and what strace makes of it on a busy machine
# Calls that the test never makes fail: strace cannot, or the process could no longer be killed.
LEFT_OUT = {"exit", "exit_group", "restart_syscall", "rt_sigreturn", "execve", "arch_prctl", "set_tid_address"}


class Faults(Place):
    def traced(self, jail: str, marker: str, *strace: str, deadline: str = "2s") -> list[str]:
        # The environment of the CLI stays its own; strace follows every child.
        return ["strace", "-f", "-q", "-o", str(self.dir / "trace"), *strace,
                *self.argv(["echo", marker], "--timeout", deadline, jail=jail)]

    def calls_of(self, jail: str) -> dict[str, int]:
        done = self.run_it(self.traced(jail, "observed", deadline="60s"))
        self.assertEqual(done.returncode, 0, done.stderr)
        counts: dict[str, dict[str, int]] = {}
        for line in (self.dir / "trace").read_text(errors="replace").splitlines():
            if match := re.match(r"(\d+)\s+(?:<\.\.\. )?(\w+)\(", line):
                by_process = counts.setdefault(match[2], {})
                by_process[match[1]] = by_process.get(match[1], 0) + 1
        return {name: max(by.values()) for name, by in counts.items() if name not in LEFT_OUT}

    def try_fault(self, jail: str, call: str, when: int) -> None:
        marker = uuid.uuid4().hex
        argv = self.traced(jail, marker, "-e", f"inject={call}:error=EIO:when={when}")
        started = time.monotonic()
        process = self.start(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            out, _ = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.fail(f"{jail}: still there {time.monotonic() - started:.0f} s after a fault in {call} #{when}")
        if process.returncode == 0:
            self.assertEqual(out.decode().strip(), marker, f"{jail}: {call} #{when} is no honest success")
        for _ in range(100):
            if not processes_with(marker):
                return
            time.sleep(0.05)
        self.fail(f"{jail}: a process is left after a fault in {call} #{when}")

    def run_jail(self, jail: str) -> None:
        calls = self.calls_of(jail)
        self.assertGreater(len(calls), 20)  # positive control: the observation worked
        tried = 0
        for call, most in sorted(calls.items()):
            for when in sorted({1, 2, 3, (most + 1) // 2, most}):
                if when < 1 or when > most:
                    continue
                # Always try the calls that have hung before.
                always = call in ("prctl", "recvmsg", "ppoll") and when <= 2
                if not always and zlib.crc32(f"{jail} {call} {when}".encode()) % (SAMPLE * 3) != 0 and not DEEP:
                    continue
                tried += 1
                self.try_fault(jail, call, when)
        print(f"{jail}: {tried} faults in {len(calls)} kinds of calls", file=sys.stderr)


def add(jail: str) -> None:
    setattr(Faults, f"test_{jail}", lambda self: self.run_jail(jail))


for each in JAILS:
    add(each)

if __name__ == "__main__":
    if shutil.which("strace") is None:
        print("no strace", file=sys.stderr)
        sys.exit(77)
    main()
