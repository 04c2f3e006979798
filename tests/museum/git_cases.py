"""Repos that attack through git: everything in .git is the adversary's, and so are attributes and state files."""

import http.server
import threading

from museum import Case, Room

WRITABLE = ["--writable-repo"]


def start(room: Room, where="."):
    """A repo with one commit."""
    place = room.repo / where
    place.mkdir(parents=True, exist_ok=True)
    room.git("init", "-q", "-b", "main", cwd=place)
    room.git("config", "user.name", "A", cwd=place)
    room.git("config", "user.email", "a@museum.test", cwd=place)
    (place / "file.txt").write_text("one\n", encoding="utf-8")
    room.git("add", "file.txt", cwd=place)
    room.git("commit", "-qm", "one", cwd=place)
    return place


def config(room, key, value, cwd=None):
    room.git("config", key, value, cwd=cwd)


def one_setting(key, value=None):
    """A repo with one commit and one hostile setting; its value is the payload unless given."""
    def make(room):
        start(room)
        config(room, key, value(room) if value else str(room.payload("payload")))
    return make


def changed(room, place=None):
    ((place or room.repo) / "file.txt").write_text("two\n", encoding="utf-8")


def attribute(room, text, place=None):
    ((place or room.repo) / ".gitattributes").write_text(text, encoding="utf-8")


# Filters

def clean_filter(room):
    start(room)
    config(room, "filter.evil.clean", room.fire)
    attribute(room, "*.txt filter=evil\n")
    changed(room)


def process_filter(room):
    start(room)
    config(room, "filter.evil.process", str(room.payload("payload")))
    attribute(room, "*.txt filter=evil\n")
    changed(room)


def required_filter_with_odd_name(room):
    start(room)
    config(room, "filter.a=B.c.clean", room.fire)
    config(room, "filter.a=B.c.required", "true")
    attribute(room, "*.txt filter=a=B.c\n")
    changed(room)


def included_filter(room):
    start(room)
    room.write("innocent.inc", f'[filter "evil"]\n\tclean = "{room.fire}"\n')
    config(room, "include.path", "../innocent.inc")
    attribute(room, "*.txt filter=evil\n")
    changed(room)


def conditionally_included_filter(room):
    start(room)
    room.write("innocent.inc", f'[filter "evil"]\n\tclean = "{room.fire}"\n')
    config(room, "includeIf.gitdir:**.path", "../innocent.inc")
    attribute(room, "*.txt filter=evil\n")
    changed(room)


def included_by_branch(room):
    start(room)
    room.write("innocent.inc", f'[filter "evil"]\n\tclean = "{room.fire}"\n')
    config(room, "includeIf.onbranch:main.path", "../innocent.inc")
    attribute(room, "*.txt filter=evil\n")
    changed(room)


def worktree_config_filter(room):
    start(room)
    config(room, "extensions.worktreeConfig", "true")
    room.write(".git/config.worktree", f'[filter "evil"]\n\tclean = "{room.fire}"\n')
    attribute(room, "*.txt filter=evil\n")
    changed(room)


def huge_configuration(room):
    clean_filter(room)
    with open(room.repo / ".git/config", "a", encoding="utf-8") as file:
        file.write("".join(f'[filter "padding{number}"]\n\tclean = {"x" * 200}\n' for number in range(8000)))


def many_filters(room):
    clean_filter(room)
    with open(room.repo / ".git/config", "a", encoding="utf-8") as file:
        file.write("".join(f'[filter "padding{number}"]\n\tclean = x\n' for number in range(2500)))


def filter_in_info_attributes(room):
    start(room)
    config(room, "filter.evil.clean", room.fire)
    room.write(".git/info/attributes", "* filter=evil\n")
    changed(room)


def smudge_filter(room):
    start(room)
    config(room, "filter.evil.smudge", room.fire)
    room.write(".git/info/attributes", "* filter=evil\n")
    (room.repo / "file.txt").unlink()


def filter_of_a_linked_worktree(room):
    place = start(room, "main")
    room.git("worktree", "add", "-q", "../linked", cwd=place)
    config(room, "filter.evil.clean", room.fire, place)
    attribute(room, "*.txt filter=evil\n", room.repo / "linked")
    changed(room, room.repo / "linked")


def git_file_to_a_tracked_directory(room):
    start(room)
    config(room, "filter.evil.clean", room.fire)
    attribute(room, "*.txt filter=evil\n")
    changed(room)
    (room.repo / ".git").rename(room.repo / "innocent")
    room.write(".git", "gitdir: innocent\n")


# Submodules

def submodule(room, where="sub"):
    start(room)
    room.git("init", "-q", "-b", "main", room.root / "other")
    room.do("git", "-C", room.root / "other", "commit", "-q", "--allow-empty", "-m", "one")
    (room.root / "other" / "file.txt").write_text("one\n", encoding="utf-8")
    room.git("add", "file.txt", cwd=room.root / "other")
    room.git("commit", "-qm", "two", cwd=room.root / "other")
    room.git("submodule", "--quiet", "add", room.root / "other", where)
    room.git("commit", "-qm", "two")
    return room.repo / where


def submodule_filter(room):
    place = submodule(room)
    config(room, "filter.evil.clean", room.fire, place)
    attribute(room, "*.txt filter=evil\n", place)
    changed(room, place)


def submodule_filter_with_odd_name(room):
    place = submodule(room)
    config(room, "filter.a=b.clean", room.fire, place)
    attribute(room, "*.txt filter=a=b\n", place)
    changed(room, place)


def submodule_fsmonitor(room):
    config(room, "core.fsmonitor", str(room.payload("payload")), submodule(room))


def embedded_repo_filter(room):
    start(room)
    place = start(room, "inner")
    room.git("-c", "advice.addEmbeddedRepo=false", "add", "inner")
    room.git("commit", "-qm", "two")
    config(room, "filter.evil.clean", room.fire, place)
    attribute(room, "*.txt filter=evil\n", place)
    changed(room, place)


def nested_repo_filter(room):
    start(room)
    outer = start(room, "outer")
    inner = start(room, "outer/inner")
    room.git("-c", "advice.addEmbeddedRepo=false", "add", "inner", cwd=outer)
    room.git("commit", "-qm", "two", cwd=outer)
    room.git("-c", "advice.addEmbeddedRepo=false", "add", "outer")
    room.git("commit", "-qm", "two")
    config(room, "filter.evil.clean", room.fire, inner)
    attribute(room, "*.txt filter=evil\n", inner)
    changed(room, inner)


def decoy_git_directory(room):
    """git passes an unsound .git over and finds the one above, whose submodule has the filter."""
    embedded_repo_filter(room)
    (room.repo / "decoy" / ".git").mkdir(parents=True)


def submodule_after_checkout(room):
    """The other branch tracks as a submodule what is an ignored repo on this one."""
    start(room)
    place = start(room, "inner")
    room.git("checkout", "-qb", "other")
    room.git("-c", "advice.addEmbeddedRepo=false", "add", "inner")
    room.git("commit", "-qm", "two")
    room.git("checkout", "-q", "main")
    room.write(".git/info/exclude", "inner\n")
    if not (place / ".git").exists():
        start(room, "inner")
    config(room, "filter.evil.clean", room.fire, place)
    attribute(room, "*.txt filter=evil\n", place)
    changed(room, place)


def submodule_update_command(room):
    room.git("checkout", "-q", "HEAD~", cwd=submodule(room))
    config(room, "submodule.sub.update", f"!{room.payload('payload')}")


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


def case(name, why, make, argv, gate="silent", options=(), **more):
    return Case(name, why, make, argv if callable(argv) else argv.split(), gate, list(options), **more)


def outside(*argv):
    """A command line; PLACE is a file outside the repo."""
    return lambda room: [word.replace("PLACE", str(room.out / "planted")) for word in argv]


CASES = [
    case("fsmonitor", "core.fsmonitor names a program that git status starts", one_setting("core.fsmonitor"),
         "git status"),
    case("hook", "a hook shipped in .git runs when git add writes the index", hook("post-index-change"),
         "git add file.txt", options=WRITABLE),
    case("hooks_path", "core.hooksPath names a directory of tracked scripts, as husky does", hooks_path,
         "git commit -am two", options=WRITABLE),
    case("checkout_hook", "a post-checkout hook runs for a new branch", hook("post-checkout"), "git checkout -b other",
         options=WRITABLE),
    case("clean_filter", "a filter's clean command runs when git status compares a changed file", clean_filter,
         "git status"),
    case("clean_filter_diff", "the same for git diff", clean_filter, "git diff"),
    case("clean_filter_describe", "the same for git describe --dirty", clean_filter, "git describe --always --dirty"),
    case("clean_filter_add", "the same for git add", clean_filter, "git add file.txt", options=WRITABLE),
    case("clean_filter_hash", "the same for git hash-object", clean_filter, "git hash-object file.txt"),
    case("process_filter", "a filter's long-running process starts for git status", process_filter, "git status"),
    case("filter_odd_name", "a filter's name holds a =, which no -c can say", required_filter_with_odd_name,
         "git status"),
    case("filter_included", "the filter is in a tracked file that .git/config includes", included_filter, "git status"),
    case("filter_included_if", "the include has a condition", conditionally_included_filter, "git status"),
    case("filter_included_by_branch", "the include depends on the branch, which a run can change", included_by_branch,
         "git status", "refused"),
    case("filter_worktree_config", "the filter is in config.worktree", worktree_config_filter, "git status"),
    case("huge_configuration", "the filter hides in a configuration of 2 MB", huge_configuration, "git status",
         "refused"),
    case("many_filters", "the filter hides among more of them than a command line takes", many_filters, "git status",
         "refused"),
    case("filter_info_attributes", "the attribute is in .git/info/attributes", filter_in_info_attributes, "git status"),
    case("smudge_filter", "a filter's smudge command runs when a file is checked out", smudge_filter,
         "git checkout -- file.txt", options=WRITABLE),
    case("filter_linked_worktree", "a linked worktree uses the filters of its main repo", filter_of_a_linked_worktree,
         "git -C linked status"),
    case("git_file", ".git is a file that names a tracked directory as the git directory",
         git_file_to_a_tracked_directory, "git status"),
    case("submodule_filter", "git status enters a submodule, whose own configuration has a filter", submodule_filter,
         "git status"),
    case("submodule_filter_diff", "the same for git diff", submodule_filter, "git diff"),
    case("submodule_filter_odd_name", "the submodule's filter has a = in its name", submodule_filter_with_odd_name,
         "git status"),
    case("submodule_fsmonitor", "the submodule has an fsmonitor", submodule_fsmonitor, "git status"),
    case("embedded_repo_filter", "a gitlink without .gitmodules is entered as well", embedded_repo_filter,
         "git status"),
    case("nested_repo_filter", "the filter is in a submodule's submodule", nested_repo_filter, "git status"),
    case("decoy_git_directory", "a .git that is no repo hides the one above it", decoy_git_directory,
         "git -C decoy status"),
    case("submodule_after_checkout", "git checkout makes a submodule of a repo that was ignored before, and enters it",
         submodule_after_checkout, "git checkout other", options=WRITABLE),
    case("submodule_update", "submodule.*.update is a command", submodule_update_command, "git submodule update",
         "refused"),
    case("textconv", "a textconv driver runs for git diff", text_driver("diff.evil.textconv"), "git diff"),
    case("textconv_blame", "a textconv driver runs for git blame", text_driver("diff.evil.textconv"),
         "git blame file.txt"),
    case("textconv_verbose_status", "git status -v shows a diff", lambda room: (text_driver("diff.evil.textconv")(room),
         room.git("add", "file.txt")), "git status -v", "refused"),
    case("diff_driver", "an external diff driver runs for git diff", text_driver("diff.evil.command"), "git diff"),
    case("external_diff", "diff.external runs for git diff", text_driver("diff.external"), "git diff"),
    case("external_diff_asked_for", "git show --ext-diff runs the repo's driver", text_driver("diff.external"),
         "git show --ext-diff", "refused"),
    case("cat_file_abbreviation", "git cat-file --filter is short for --filters and runs the smudge command",
         smudge_filter, "git cat-file --filter HEAD:file.txt", "refused"),
    case("cat_file_text", "git cat-file --text is short for --textconv", text_driver("diff.evil.textconv"),
         "git cat-file --text HEAD:file.txt", "refused"),
    case("range_diff", "git format-patch --range-diff starts git log, which runs textconv drivers", range_diff,
         "git format-patch --stdout --range-diff=HEAD~..other HEAD~"),
    case("merge_driver", "a merge driver runs for git merge", merge_driver, "git merge --no-edit other",
         options=WRITABLE),
    case("remerged_log", "log.diffMerges=remerge runs the merge driver for git log", remerged_log, "git log -m -p",
         options=WRITABLE),
    case("archive_zip", "tar.zip.command shadows the built-in zip", zip_through_a_command,
         "git archive --format=zip HEAD"),
    case("archive_format", "tar.*.command makes a format", one_setting("tar.evil.command", lambda room: room.fire),
         "git archive --format=evil HEAD", "refused"),
    case("strategy_alias", "a cherry-pick shipped half done names a strategy, which is looked up as an alias",
         strategy_alias, "git cherry-pick --skip", "refused", WRITABLE),
    case("alias", "an alias with ! is a shell command", one_setting("alias.st", lambda room: f"!{room.fire}"), "git st",
         "refused"),
    case("editor", "core.editor runs for git commit", one_setting("core.editor"), "git commit --allow-empty",
         options=WRITABLE),
    case("sequence_editor", "sequence.editor runs for git rebase -i", one_setting("sequence.editor"),
         "git rebase -i --root", options=WRITABLE),
    case("instruction_format", "rebase.instructionFormat breaks the line and adds exec to every rebase",
         instruction_format, "git rebase --force-rebase HEAD~", options=WRITABLE),
    case("rebase_continue", "a rebase shipped half done has an exec line", rebase_state, "git rebase --continue",
         "refused", WRITABLE),
    case("rebase_skip", "the same for --skip, abbreviated", rebase_state, "git rebase --ski", "refused", WRITABLE),
    case("signature", "gpg.program runs for git log --show-signature", signed_commit, "git log --show-signature"),
    case("signature_by_default", "log.showSignature makes every git log verify", signed_log, "git log"),
    case("trailer", "trailer.*.command runs for git commit --trailer", one_setting("trailer.evil.command"),
         "git commit --allow-empty -m x --trailer evil=1", "refused", WRITABLE),
    case("grep_pager", "git grep -O starts core.pager", one_setting("core.pager"), "git grep -O one", "refused"),
    case("work_tree", "core.worktree makes git checkout write outside", moved_work_tree, "git checkout -- file.txt",
         options=WRITABLE, fires=overwritten),
    case("bare_repo", "a bare repo planted in a subdirectory has an fsmonitor", planted_bare_repo,
         "git -C sub status"),
    case("patch_directory", "format.outputDirectory makes git format-patch write outside", patches_elsewhere,
         "git format-patch --root HEAD", options=WRITABLE, fires=something_outside),
    case("patch_suffix", "format.suffix leads out of the repo", patches_by_suffix, "git format-patch --root HEAD",
         options=WRITABLE, fires=something_outside),
    case("uploadpack", "remote.*.uploadpack runs for a remote that is a path", local_remote, "git fetch"),
    case("ssh_command", "core.sshCommand runs for a remote over ssh", ssh_remote, "git ls-remote"),
    case("git_proxy", "core.gitProxy runs for a remote over git://", git_proxy, "git ls-remote"),
    case("external_remote", "an ext:: remote is a command", external_remote, "git ls-remote"),
    case("cookies", "http.*.saveCookies writes the server's text into any file", cookies, "git ls-remote",
         fires=overwritten),
    case("askpass", "core.askPass runs when a server wants a password", password_program("core.askPass"),
         "git ls-remote"),
    case("credential_helper", "credential.*.helper runs when a server wants a password",
         password_program("credential.URL.helper"), "git ls-remote"),
    case("later_configured_hook", "hook.*.command is a hook without a file", configured_hook, "git add file.txt",
         options=WRITABLE, **LATER),
    case("later_configured_hook_submodule", "the same in a submodule", lambda room: configured_hook(
         room, submodule(room)), "git status", options=WRITABLE, **LATER),
    case("later_alias", "an alias is preferred to a deprecated command", one_setting(
         "alias.whatchanged", lambda room: f"!{room.fire}"), "git whatchanged", **LATER),
    case("later_alias_command", "the same in the newer spelling", one_setting(
         "alias.whatchanged.command", lambda room: f"!{room.fire}"), "git whatchanged", **LATER),
    case("later_refs", "extensions.refStorage keeps refs outside", refs_elsewhere, "git commit --allow-empty -m x",
         "refused", WRITABLE, fires=something_outside, **LATER),
    case("bundle_outside", "git bundle create writes where it is told", start, outside("git", "bundle", "create",
         "PLACE", "HEAD"), "refused", fires=something_outside),
    case("merge_file_outside", "git merge-file writes its first file", two_files, lambda room: [
         "git", "merge-file", str(room.out / "file.txt"), "base", "theirs"], "refused", fires=overwritten),
    case("index_output", "git read-tree --index-output writes where it is told", start, outside("git", "read-tree",
         "--index-output=PLACE", "HEAD"), "refused", WRITABLE, fires=something_outside),
    case("worktree_outside", "git worktree add checks out anywhere", start, outside("git", "worktree", "add", "PLACE"),
         "refused", WRITABLE, fires=something_outside),
    case("unsafe_paths", "git apply --unsafe-paths writes outside", escaping_patch,
         "git apply --unsafe-paths --directory= innocent.patch", "refused", WRITABLE, fires=something_outside),
    case("archive_outside", "git archive -o writes where it is told", start, outside("git", "archive", "-o", "PLACE",
         "HEAD"), "refused", fires=something_outside),
    case("diff_outside", "git diff --output writes where it is told", start, outside("git", "diff", "--output=PLACE",
         "HEAD"), "refused", fires=something_outside),
    case("patch_outside", "git format-patch -o writes where it is told", start, outside("git", "format-patch", "-o",
         "PLACE", "--root", "HEAD"), "refused", WRITABLE, fires=something_outside),
]
