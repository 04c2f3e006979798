"""Repos that attack through npm: .npmrc, package.json, the lock file and dependencies are the adversary's."""

import json
import os

from museum import Case, Room

WRITABLE = ["--writable-repo"]


def package(room: Room, folder=".", **fields):
    room.write(f"{folder}/package.json", json.dumps({"name": "r", "version": "1.0.0"} | fields))


def npmrc(room: Room, *lines, folder="."):
    room.write(f"{folder}/.npmrc", "".join(f"{line}\n" for line in lines))


def javascript(room: Room, path):
    """A module that fires the canary when it is loaded."""
    return room.write(path, f"require('fs').appendFileSync({str(room.canary)!r}, 'fired\\n')\n")


def git_dependency(room):
    package(room, dependencies={"x": "git+https://host.test/x.git"})


def with_test(room, script="true"):
    package(room, scripts={"test": script})


def victim(room):
    """A file outside the repo that must stay as it is."""
    path = room.out / "victim"
    path.write_text("#!/bin/sh\r\nprecious\n", encoding="utf-8")
    path.chmod(0o600)
    return path


def victim_changed(room):
    path = room.out / "victim"
    return path.read_bytes() != b"#!/bin/sh\r\nprecious\n" or path.stat().st_mode & 0o777 != 0o600


def made(name):
    return lambda room: (room.out / name).exists()


def npmrc_git(room):
    git_dependency(room)
    npmrc(room, f"git={room.payload('evil', 'exit 1')}")


def npmrc_git_relative(room):
    git_dependency(room)
    room.payload("evil", "exit 1")
    npmrc(room, "git=./evil")


def lock_git(room):
    npmrc_git(room)
    url = "git+https://host.test/x.git"
    lock = {"name": "r", "version": "1.0.0", "lockfileVersion": 3, "packages": {
        "": {"name": "r", "version": "1.0.0", "dependencies": {"x": url}},
        "node_modules/x": {"version": "1.0.0", "resolved": f"{url}#{'1' * 40}"}}}
    room.write("package-lock.json", json.dumps(lock))


def dependency_npmrc(room):
    """The git dependency has an .npmrc and a git dependency of its own. npm prepares it because it has workspaces."""
    dependency = room.root / "dependency"
    package(room, folder=dependency, name="x", workspaces=["w"], devDependencies={"y": "git+https://host.test/y.git"})
    package(room, folder=dependency / "w", name="w")
    npmrc(room, f"git={room.payload(dependency / 'evil', 'exit 1')}", folder=dependency)
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        room.git(*command, cwd=dependency)
    package(room, dependencies={"x": f"git+file://{dependency}"})


def script_shell(room):
    with_test(room)
    npmrc(room, f"script-shell={room.payload('evil')}")


def node_options(room):
    with_test(room, "node -e 0")
    npmrc(room, f"node-options=--require={javascript(room, 'evil.cjs')}")


def install_script(room):
    package(room, scripts={"postinstall": str(room.payload("evil"))})
    npmrc(room, "ignore-scripts=false", "foreground-scripts=true", "dangerously-allow-all-scripts=true")


def dependency_script(room):
    package(room, folder="d", name="d", scripts={"install": str(room.payload("evil"))})
    package(room, dependencies={"d": "file:d"}, allowScripts={"d": True})
    npmrc(room, "ignore-scripts=false", "dangerously-allow-all-scripts=true")


def binding_gyp(room):
    package(room)
    room.write("binding.gyp", "{}")
    room.payload("node_modules/.bin/node-gyp")
    npmrc(room, f"node-gyp={javascript(room, 'evil.js')}", "dangerously-allow-all-scripts=true")


def workspace_script(room):
    package(room, folder="w", name="w", scripts={"postinstall": str(room.payload("evil"))})
    package(room, workspaces=["w"])


def global_install(key):
    def make(room):
        package(room, bin={"planted": "x.js"})
        room.write("x.js", "")
        npmrc(room, key, f"prefix={room.out / 'prefix'}")
    return make


def setting(key, script=None):
    """A key that names a directory outside, for a command that writes there."""
    def make(room):
        package(room, **({"scripts": {"test": script}} if script else {}))
        npmrc(room, f"{key}={room.out / 'planted'}")
    return make


def other_config(key, file):
    def make(room):
        with_test(room)
        room.write(file, f"script-shell={room.payload('evil')}\n")
        npmrc(room, f"{key}={room.repo / file.removesuffix('/etc/npmrc')}")
    return make


def chained_config(room):
    """The project names the user's configuration, which names the global one, which names the program."""
    git_dependency(room)
    room.write("global", f"git={room.payload('evil', 'exit 1')}\n")
    room.write("user", f"globalconfig={room.repo / 'global'}\n")
    npmrc(room, f"userconfig={room.repo / 'user'}")


def planted_in_path(room, place, mode):
    with_test(room, "git --version")
    room.payload(place / "git")
    place.chmod(mode)
    room.path = f"{place}:{room.path}"


def world_writable_path(room):
    planted_in_path(room, room.root / "anyone", 0o777)


def repo_path(room):
    planted_in_path(room, room.repo / "node_modules/.bin", 0o755)


def relative_path(room):
    with_test(room, "cd tools && git --version")
    room.payload("tools/git")
    room.path = f".:{room.path}"


def empty_path_entry(room):
    relative_path(room)
    room.path = f":{os.environ['PATH']}"


def script(room):
    with_test(room, str(room.payload("evil")))


def shadowed_node(room):
    """A dependency's program of the name node comes first in the PATH of scripts."""
    with_test(room, "node -e 0")
    room.payload("node_modules/.bin/node")


def evil(room):
    with_test(room)
    room.payload("evil")


def editor(room):
    package(room)
    npmrc(room, f"editor={room.payload('evil')}")


def init_module(room):
    room.write("node_modules/.keep", "")  # so that npm takes the repo for the project, whatever lies above it
    npmrc(room, f"init-module={javascript(room, 'evil.js')}")


def explore_shell(room):
    package(room, folder="node_modules/d", name="d")
    package(room)
    npmrc(room, f"shell={room.payload('evil')}")


def git_argument(room):
    package(room)
    npmrc(room, f"git={room.payload('evil', 'exit 1')}")


INSTALL = ["npm", "install"]
TEST = ["npm", "test"]

UNJAILED = ["--allow-unjailed"]  # npm test runs the repo's code: without a jail only when asked for by name


def planted(name):
    """The file that npm will write is a symlink to the canary, which does not exist yet."""
    def make(room):
        package(room, name="x", version="1.0.0")
        (room.repo / name).symlink_to(room.canary)
    return make


CASES = [
    Case("git_program", "git= in .npmrc names a program of the repo, started for a git dependency", npmrc_git, INSTALL,
         "silent", WRITABLE, ["npm"]),
    Case("git_program_relative", "the same by a relative path", npmrc_git_relative, INSTALL, "silent", WRITABLE, ["npm"]),
    Case("git_program_from_lock", "the same for a git dependency that only the lock file names", lock_git, ["npm", "ci"],
         "silent", WRITABLE, ["npm"]),
    Case("git_program_of_dependency", "a git dependency's own .npmrc names the program while npm prepares it",
         dependency_npmrc, ["npm", "install", "--ignore-scripts"], "silent", WRITABLE, ["npm", "git"]),
    Case("script_shell", "script-shell= in .npmrc names the shell of an honest script", script_shell, TEST, "silent",
         options=UNJAILED, needs=["npm"]),
    Case("node_options", "node-options= in .npmrc loads code into every node of a script", node_options, TEST, "silent",
         options=UNJAILED, needs=["npm"]),
    Case("install_script", "the project's postinstall, with every key of .npmrc that allows scripts", install_script,
         INSTALL, "silent", WRITABLE, ["npm"]),
    Case("dependency_script", "a dependency's install script, allowed by the project", dependency_script, INSTALL,
         "silent", WRITABLE, ["npm"]),
    Case("workspace_script", "a workspace's postinstall", workspace_script, INSTALL, "silent", WRITABLE, ["npm"]),
    Case("binding_gyp", "binding.gyp is an install script that package.json does not name; its program is the repo's", binding_gyp, INSTALL,
         "silent", WRITABLE, ["npm"]),
    Case("global", "global=true in .npmrc installs the repo's programs into a prefix", global_install("global=true"),
         INSTALL, "silent", WRITABLE, ["npm"], made("prefix")),
    Case("location_global", "location=global says the same", global_install("location=global"), INSTALL, "silent",
         WRITABLE, ["npm"], made("prefix")),
    Case("cache", "cache= in .npmrc names a directory that npm writes", setting("cache"), INSTALL, "silent", WRITABLE,
         ["npm"], made("planted")),
    Case("logs_dir", "logs-dir= in .npmrc names a directory that npm writes", setting("logs-dir"), ["npm", "ls"],
         "silent", needs=["npm"], fires=made("planted")),
    Case("pack_destination", "pack-destination= in .npmrc names where npm pack writes",
         lambda room: (setting("pack-destination")(room), (room.out / "planted").mkdir()), ["npm", "pack"], "silent",
         WRITABLE, ["npm"], lambda room: any((room.out / "planted").iterdir())),
    Case("userconfig", "userconfig= in .npmrc names a file that names a shell", other_config("userconfig", "user"), TEST,
         "silent", options=UNJAILED, needs=["npm"]),
    Case("globalconfig", "globalconfig= in .npmrc names a file that names a shell", other_config("globalconfig", "glob"),
         TEST, "silent", options=UNJAILED, needs=["npm"]),
    Case("prefix", "prefix= in .npmrc moves the global configuration into the repo",
         other_config("prefix", "place/etc/npmrc"), TEST, "silent", options=UNJAILED, needs=["npm"]),
    Case("chained_configs", "a configuration names the next, and the last one names the program", chained_config, INSTALL,
         "silent", WRITABLE, ["npm"]),
    Case("option_value", "an option's value is taken for the command, and the real one runs a program", evil,
         ["npm", "--tag", "test", "exec", "-c", "./evil"], "refused", needs=["npm"]),
    Case("option_in_value", "an option's value is read as another option", evil,
         lambda room: ["npm", "test", f"--tag=--script-shell={room.repo}/evil"], "refused", needs=["npm"]),
    Case("command_in_flag", "a flag's value is read as the command", evil, ["npm", "--json=exec", "-c", "./evil"],
         "refused", needs=["npm"]),
    Case("git_argument", "a package by a git URL starts the program that .npmrc names", git_argument,
         ["npm", "install", "git+https://host.test/x.git"], "refused", WRITABLE, ["npm"]),
    Case("editor", "editor= in .npmrc, started by a command that is not in the list", editor,
         ["npm", "config", "edit", "--location=project"], "refused", WRITABLE, ["npm"]),
    Case("init_module", "init-module= in .npmrc is loaded by npm init", init_module, ["npm", "init", "-y"], "refused",
         WRITABLE, ["npm"]),
    Case("explore_shell", "shell= in .npmrc, started by npm explore", explore_shell,
         ["npm", "explore", "d"], "refused", needs=["npm"]),
    Case("path_anyone_writes", "a program planted in a world-writable PATH directory, started by a script",
         world_writable_path, TEST, "silent", options=UNJAILED, needs=["npm", "git"]),
    Case("path_relative", "a relative PATH entry finds the repo's program", relative_path, TEST, "silent",
         options=UNJAILED, needs=["npm", "git"]),
    Case("path_empty_entry", "an empty PATH entry means the working directory", empty_path_entry, TEST, "silent",
         options=UNJAILED, needs=["npm", "git"]),
    Case("test_script", "npm test runs what the repo says: its purpose", script, TEST, "refused", needs=["npm"],
         contained=True),
    Case("shadowed_node", "a program of the name node in node_modules/.bin runs in scripts", shadowed_node, TEST, "fires",
         options=UNJAILED, needs=["npm"], contained=True),
    Case("lock_symlink", "package-lock.json is a symlink to a file outside", planted("package-lock.json"), INSTALL, "refused",
         WRITABLE, ["npm"]),
    Case("lock_only_symlink", "the same for a run that only makes the lock file", planted("package-lock.json"),
         ["npm", "install", "--package-lock-only"], "refused", WRITABLE, ["npm"]),
    Case("shrinkwrap_symlink", "npm-shrinkwrap.json is a symlink to a file outside", planted("npm-shrinkwrap.json"),
         ["npm", "shrinkwrap"], "refused", WRITABLE, ["npm"]),
    Case("tarball_symlink", "the tarball that npm pack will write is a symlink to a file outside", planted("x-1.0.0.tgz"),
         ["npm", "pack"], "refused", WRITABLE, ["npm"]),
]
