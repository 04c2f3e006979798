"""The project's built objects and what they refer to, for the checks on symbols."""

import json
import shlex
import subprocess
from pathlib import Path


class ObjectError(Exception):
    pass


def built_objects(build_dir, source_root):
    """{source path relative to the project: object file}, from the build's compile_commands.json."""
    database = Path(build_dir) / "compile_commands.json"
    if not database.is_file():
        raise ObjectError(f"cannot read {database}: configure with CMAKE_EXPORT_COMPILE_COMMANDS=ON")
    objects = {}
    for entry in json.loads(database.read_text(encoding="utf-8")):
        source = Path(entry["file"]).resolve()
        # CMake 3.25 writes no "output" field.
        command = shlex.split(entry["command"])
        if "c++-header" in command:
            continue  # a precompiled header: no object, and each source that includes it has one
        output = Path(entry["directory"]) / command[command.index("-o") + 1]
        if source.is_relative_to(build_dir):
            # Generated code counts as the folder that generates it: build/dev/src/spawn/x.cc is src/spawn/x.cc.
            source = source.relative_to(build_dir)
        elif source.is_relative_to(source_root):
            source = source.relative_to(source_root)
        # One source may be compiled for several targets; all of its objects are checked.
        objects.setdefault(str(source), []).append(output)
    return objects


def symbols(file, *, undefined):
    """The names `file` (an object or archive) refers to, or the ones it defines; symbol versions cut off."""
    option = "--undefined-only" if undefined else "--defined-only"
    result = subprocess.run(["nm", option, "--format=posix", str(file)], capture_output=True, text=True)
    if result.returncode != 0:
        raise ObjectError(f"cannot list the symbols of {file}: {result.stderr.strip()}")
    lines = (line.split() for line in result.stdout.splitlines() if not line.endswith(":"))
    return {words[0].split("@")[0] for words in lines if len(words) >= 2}


def placed_symbols(file):
    """(name, section) of everything `file` defines."""
    result = subprocess.run(["objdump", "--syms", str(file)], capture_output=True, text=True)
    if result.returncode != 0:
        raise ObjectError(f"cannot list the symbols of {file}: {result.stderr.strip()}")
    # "0000000000000000 l     O .data.rel.local\t0000000000000030 name"; without a section it is "*UND*".
    lines = (line.split("\t") for line in result.stdout.splitlines() if "\t" in line)
    return {(after.split()[-1], before.split()[-1]) for before, after in lines}
