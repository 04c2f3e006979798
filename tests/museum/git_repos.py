"""What the hostile git repos of the museum have in common."""

from museum import Room


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
