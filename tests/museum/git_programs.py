"""Repos that name programs, places and servers: drivers, hooks, editors, other directories, transfers."""

import http.server
import threading

from git_repos import start, config, changed, attribute


# Drivers

def text_driver(key):
    def make(room):
        start(room)
        attribute(room, "*.txt diff=evil\n")
        config(room, key, str(room.payload("payload", "cat \"$1\"")))
        changed(room)
    return make


def two_branches(room):
    start(room)
    attribute(room, "*.txt merge=evil\n")
    room.git("add", ".gitattributes")
    room.git("commit", "-qm", "attributes")
    room.git("checkout", "-qb", "other")
    room.write("file.txt", "other\n")
    room.git("commit", "-qam", "other")
    room.git("checkout", "-q", "main")
    changed(room)
    room.git("commit", "-qam", "mine")


def merge_driver(room):
    two_branches(room)
    config(room, "merge.evil.driver", f"{room.payload('payload')} %A %O %B")


def remerged_log(room):
    two_branches(room)
    room.git("merge", "-q", "-X", "ours", "-m", "merged", "other")
    config(room, "merge.evil.driver", f"{room.payload('payload')} %A %O %B")
    config(room, "log.diffMerges", "remerge")


def zip_through_a_command(room):
    start(room)
    config(room, "tar.zip.command", room.fire)


def strategy_alias(room):
    two_branches(room)
    other = room.git("rev-parse", "other").strip()
    head = room.git("rev-parse", "HEAD").strip()
    config(room, "alias.merge-evil", f"!{room.payload('payload')}")
    room.write(".git/sequencer/todo", f"pick {other} other\npick {other} other\n")
    room.write(".git/sequencer/head", f"{head}\n")
    room.write(".git/sequencer/abort-safety", f"{head}\n")
    room.write(".git/sequencer/opts", "[options]\n\tstrategy = evil\n")


# Hooks, editors, signatures

def hook(name):
    def make(room):
        start(room)
        room.payload(f".git/hooks/{name}")
        changed(room)
    return make


def hooks_path(room):
    start(room)
    room.payload("hooks/pre-commit")
    config(room, "core.hooksPath", "hooks")
    changed(room)


def signed_commit(room):
    start(room)
    commit = room.git("cat-file", "commit", "HEAD")
    head, _, message = commit.partition("\n\n")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n abcd\n -----END PGP SIGNATURE-----"
    made = room.do("git", "hash-object", "-t", "commit", "-w", "--stdin", stdin=f"{head}\n{signature}\n\n{message}")
    room.git("update-ref", "HEAD", made.strip())
    config(room, "gpg.program", str(room.payload("payload")))


def signed_log(room):
    signed_commit(room)
    config(room, "log.showSignature", "true")


def rebase_state(room):
    start(room)
    changed(room)
    room.git("commit", "-qam", "two")
    head = room.git("rev-parse", "HEAD").strip()
    for name, text in {"git-rebase-todo": f"exec {room.payload('payload')}\n", "git-rebase-todo.backup": "", "done": "",
                       "head-name": "refs/heads/main\n", "onto": f"{head}\n", "orig-head": f"{head}\n",
                       "interactive": "", "msgnum": "1\n", "end": "1\n"}.items():
        room.write(f".git/rebase-merge/{name}", text)
    room.git("checkout", "-q", "--detach")


def instruction_format(room):
    start(room)
    changed(room)
    room.git("commit", "-qam", "two")
    config(room, "rebase.instructionFormat", f"%nexec {room.payload('.git/payload')}")


def range_diff(room):
    two_branches(room)
    attribute(room, "*.txt diff=evil\n")
    config(room, "diff.evil.textconv", str(room.payload("payload", "cat \"$1\"")))


# What only a newer git reads

LATER = {"needs": ["git>=2.54"]}


def configured_hook(room, place=None):
    if place is None:
        place = start(room)
    config(room, "hook.x.command", str(room.payload("payload")), place)
    config(room, "hook.x.event", "post-index-change", place)
    changed(room, place)


def refs_elsewhere(room):
    start(room)
    config(room, "core.repositoryFormatVersion", "1")
    config(room, "extensions.refStorage", f"files://{room.out}")


# Places outside

def moved_work_tree(room):
    start(room)
    victim = room.out / "file.txt"
    victim.write_text("precious\n", encoding="utf-8")
    config(room, "core.worktree", str(room.out))


def overwritten(room):
    return (room.out / "file.txt").read_text(encoding="utf-8") != "precious\n"


def skip_list(key):
    """The key names a file of objects to skip; git prints the first line that is none, whichever file it is."""
    def make(room):
        start(room)
        (room.out / "precious").write_text("PRECIOUS-LINE\n", encoding="utf-8")
        room.git("config", key, str(room.out / "precious"))
    return make


def shows_precious(room):
    return "PRECIOUS-LINE" in room.printed


def something_outside(room):
    return any(room.out.iterdir())


def patches_elsewhere(room):
    start(room)
    config(room, "format.outputDirectory", str(room.out))


def patches_by_suffix(room):
    start(room)
    (room.repo / "0001-one").mkdir()
    config(room, "format.suffix", "/../../out/planted")


def planted_bare_repo(room):
    start(room)
    config(room, "core.fsmonitor", str(room.payload("payload")))
    (room.repo / ".git").rename(room.repo / "sub")
    config(room, "core.bare", "false", room.repo / "sub")
    config(room, "core.worktree", str(room.repo), room.repo / "sub")
    start(room)


def escaping_patch(room):
    start(room)
    room.write("innocent.patch", "--- /dev/null\n+++ b/../out/planted\n@@ -0,0 +1 @@\n+fired\n")


def two_files(room):
    start(room)
    (room.out / "file.txt").write_text("precious\n", encoding="utf-8")
    room.write("base", "precious\n")
    room.write("theirs", "fired\n")


# Transfers

def local_remote(room):
    start(room)
    room.git("remote", "add", "origin", str(room.repo))
    config(room, "remote.origin.uploadpack", str(room.payload("payload")))


def ssh_remote(room):
    start(room)
    room.git("remote", "add", "origin", "ssh://host.museum.test/x")
    config(room, "core.sshCommand", str(room.payload("payload")))


def git_proxy(room):
    start(room)
    room.git("remote", "add", "origin", "git://host.museum.test/x")
    config(room, "core.gitProxy", str(room.payload("payload")))


def external_remote(room):
    start(room)
    room.git("remote", "add", "origin", f"ext::{room.payload('payload')}")
    config(room, "protocol.ext.allow", "always")


class Server(http.server.BaseHTTPRequestHandler):
    """A repo with one ref that sets a cookie, or wants a password at /private; on loopback, while the museum runs."""

    def do_GET(self):
        refs = "info/refs" in self.path
        body = b"1" * 40 + b"\trefs/heads/main\n" if refs else b""
        self.send_response(401 if self.path.startswith("/private") else 200 if refs else 404)
        self.send_header("Set-Cookie", "planted=yes; Max-Age=9999; Path=/")
        self.send_header("WWW-Authenticate", 'Basic realm="x"')
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def web_remote(room, path):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    start(room)
    room.git("remote", "add", "origin", f"http://127.0.0.1:{server.server_port}/{path}")
    return f"http://127.0.0.1:{server.server_port}/"


def cookies(room):
    where = web_remote(room, "public")
    (room.out / "file.txt").write_text("precious\n", encoding="utf-8")
    config(room, f"http.{where}.cookieFile", str(room.out / "file.txt"))
    config(room, f"http.{where}.saveCookies", "true")


def password_program(key):
    def make(room):
        where = web_remote(room, "private")
        config(room, key.replace("URL", where), str(room.payload("payload")))
    return make
