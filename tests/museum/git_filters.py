"""Repos whose filters and submodules have programs started: what git status runs to compare a file."""

from git_repos import start, config, changed, attribute


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
