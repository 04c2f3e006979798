"""Writes a log of many records as the program would, for what must hold for large ones. usage: many.py DIR RECORDS"""
import hashlib
import json
import os
import pathlib
import sys


def write(directory: pathlib.Path, wanted: int, per_file: int = 50_000) -> None:
    directory.mkdir(mode=0o700, parents=True)
    prev, offset, first, out = "0" * 64, 0, 1, None
    boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    request = {"argv": ["git", "log", "--oneline"], "redacted": 0, "cwd": "/r", "repo": "/r", "commit": None, "writable_repo": False,
               "read_only": [], "read_write": [], "env": [], "hosts": [], "registry": False, "weakened": [], "workspace": None, "limits": {"wall_ms": 1, "output_bytes": 1},
               "required": [], "jail": "auto", "unjailed_allowed": False}
    guarantees = [{"name": f"guarantee.{i}", "mechanism": "seccomp"} for i in range(12)]
    receipt = {"jail": "native", "guarantees": guarantees, "binary": {"path": "/usr/bin/git", "sha256": "a" * 64}, "interpreters": [],
               "policy_digest": "b" * 64, "plan_digest": "c" * 64}
    tools = ["git", "rg", "npm", "node", "semgrep"]
    for seq in range(1, wanted + 1):
        if (seq - 1) % per_file == 0:
            if out:
                out.close()
            first, offset = seq, 0
            out = open(directory / f"audit-{seq:016}.jsonl", "wb", opener=lambda path, flags: os.open(path, flags, 0o600))
        number = (seq + 1) // 2
        second = number // 10
        members = {"time": f"2026-01-{1 + second // 86400 % 28:02}T{second // 3600 % 24:02}:{second // 60 % 60:02}:{second % 60:02}.{number % 10}00000Z",
                   "kind": "intent" if seq % 2 else "result", "run": f"{number:032x}", "host": "h", "pid": 1, "uid": 0, "label": "run",
                   "probe": None, "tool": tools[number % 5], "repo": f"/src/repo-{number % 50}", "policy_digest": "b" * 64}
        if seq % 2:
            members["request"] = {**request, "argv": [tools[number % 5], "log", str(number)]}
        else:
            fate = {"exit_code": 0 if number % 9 else 1}
            members |= {"outcome": {"outcome": "completed" if number % 13 else "timed_out", **fate, "evidence": fate}, "duration_ms": number % 900 / 3,
                        "usage": {"user_ms": 1, "system_ms": 1, "peak_rss_bytes": 1},
                        "stdout": {"bytes": 0, "truncated": False, "sha256": "d" * 64}, "stderr": {"bytes": 0, "truncated": False, "sha256": "d" * 64},
                        "receipt": receipt, "denials": [{"host": f"evil-{number % 7}.example", "port": 443, "reason": "not_allowed"}]
                        if number % 31 == 0 else [], "git_findings": []}
        text = json.dumps({"schema": "sallyport.audit/1", "seq": seq, "prev": prev, **members}, separators=(",", ":")).encode()
        prev = hashlib.sha256(text).hexdigest()
        line = text[:-1] + f',"hash":"{prev}"}}\n'.encode()
        out.write(line)
        offset += len(line)
    out.close()
    said = f"{first} {offset} {wanted} {prev} {boot}"
    slot = f"{said} {hashlib.sha256(said.encode()).hexdigest()[:16]}\n".ljust(256).encode()
    (directory / "head").write_bytes(slot + slot)


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]), int(sys.argv[2]))
