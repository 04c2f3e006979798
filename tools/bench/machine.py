"""What a reader must know of the machine to judge the figures."""

import os
import platform
import subprocess
from pathlib import Path


def first(path, key):
    for line in Path(path).read_text().splitlines():
        if line.startswith(key):
            return line.split(":", 1)[1].strip()
    return "unknown"


def version(*command):
    try:
        result = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        return "not installed"
    return (result.stdout or result.stderr).strip().splitlines()[0].split()[-1].strip("()")


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
        ("user", "root" if os.geteuid() == 0 else "a plain user"),
        ("git, rg, node, npm", ", ".join((subprocess.run(["git", "--version"], capture_output=True, text=True).stdout.split()[2],
                                          rg_version(),
                                          version("/usr/bin/node", "--version"), version("/usr/bin/npm", "--version")))),
    ]


def rg_version():
    return subprocess.run(["rg", "--version"], capture_output=True, text=True).stdout.split()[1]


def first_os_release():
    for line in Path("/etc/os-release").read_text().splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.split("=", 1)[1].strip('"')
    return "unknown"
