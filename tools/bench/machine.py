"""What a reader must know of the machine to judge the figures."""

import os
import platform
import subprocess
from pathlib import Path

TOOLS = ("git", "rg", "/usr/bin/node", "/usr/bin/npm")


def first(path, key):
    for line in Path(path).read_text().splitlines():
        if line.startswith(key):
            return line.split(":", 1)[1].strip()
    return "unknown"


def version(*command):
    """The first word of the first line that looks like one."""
    try:
        text = subprocess.run(command, capture_output=True, text=True).stdout
    except FileNotFoundError:
        return "not installed"
    words = text.splitlines()[0].split() if text else []
    return next((word for word in words if word.lstrip("v")[:1].isdigit()), "unknown")


def describe():
    """(what, value) pairs."""
    memory = int(first("/proc/meminfo", "MemTotal").split()[0]) / (1 << 20)
    virtual = "hypervisor" in first("/proc/cpuinfo", "flags").split()
    return [
        ("processor", f"{first('/proc/cpuinfo', 'model name')}{', a virtual machine' if virtual else ''}"),
        ("cores", str(os.cpu_count())),
        ("memory", f"{memory:.0f} GiB"),
        ("kernel", platform.release()),
        ("system", first_os_release()),
        ("mounts on the host", str(len(Path("/proc/self/mountinfo").read_text().splitlines()))),
        ("user", "root" if os.geteuid() == 0 else "a plain user"),
        ("git, rg, node, npm", ", ".join(version(path, "--version") for path in TOOLS)),
    ]


def first_os_release():
    for line in Path("/etc/os-release").read_text().splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.split("=", 1)[1].strip('"')
    return "unknown"
