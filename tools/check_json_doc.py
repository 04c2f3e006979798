#!/usr/bin/python3
"""The members of the JSON records: what the code writes is what docs/json.md, docs/audit.md and docs/audit.schema.json name.

  usage: check_json_doc.py [ROOT]

A member is a string literal that a function of src/core/json, src/cli or src/audit uses as a key: {"key", value} or json["key"] = value.
WRITERS says in which section of which page a function's members stand. Fails when a writer has no section, when its section does not
have one of its members in `code`, or when a table's column of members has one that no writer of that section writes. What stands in
brackets there are values, and is not compared. Of docs/audit.schema.json each property must be written, and each member be a property. docs/json.md
has each schema's name, "sallyport.run/1", and no other.
"""

import json
import re
import sys
from pathlib import Path

FOLDERS = ("src/core/json", "src/cli", "src/audit")
# A list of words is no object: {"a", "b", …}, names{"a", "b"}, = {"a", value}.
KEY = re.compile(r'(?<!\w)(?<!= )\{"([a-z_][a-z0-9_]*)",\s(?!\s*"[^"]*",)|'
                 r'\["([a-z_][a-z0-9_]*)"\](?=(?:\["[a-z_0-9]+"\])*(?:\s=[^=]|\.push_back|\.update))')
FUNCTION = re.compile(r"^(?!namespace\b|using\b|static_assert\b)[A-Za-z_][^\n;=]*?\b(\w+)(?:\((?:const )?([\w:<>]*)| =)", re.MULTILINE)
# Every record begins with it, as the page says at its top.
IN_ALL = "schema"
CODE = re.compile(r"`([^`\n]+)`")
MEMBER = re.compile(r"^[a-z_][a-z0-9_]*$")
COLUMNS = ("field", "fields", "member", "evidence")

RUN, ERROR, EXPLAIN = "json.md sallyport.run/1", "json.md sallyport.error/1", "json.md sallyport.explain/1"
EVENT, EVENTS, TEXT = "json.md sallyport.event/1", "json.md Events", "json.md JSON"
ALLOWLIST, DOCTOR, ATTACKS = "json.md sallyport.allowlist/1", "json.md sallyport.doctor/1", "json.md sallyport.attacks/1"
VERSION, WORKSPACES, PROBE = "json.md sallyport.version/1", "json.md sallyport.workspace_diff/1", "json.md sallyport.probe/1"
VALIDATE, LINT, AUDIT = "json.md sallyport.validate/1", "json.md sallyport.lint/1", "json.md audit"
RECORDS = "audit.md Records"
# Not ours to describe (in-toto's statements), of a page or file that only we read, or read and not written.
NONE = "none"

# A file, or one of its functions with its first parameter's type, which goes before its file.
WRITERS = {
    "core/json/errors.cc": ERROR,
    "core/json/records.cc": RUN,
    "core/json/records.cc explain_record(Explanation)": EXPLAIN,
    "core/json/records.cc allowlist_record(Allowlist)": ALLOWLIST,
    "core/json/stream.cc": RUN,
    "core/json/values.cc": RUN,
    "core/json/values.cc json_text(std::string_view)": TEXT,
    "core/json/values.cc json_of(ToolEntry)": ALLOWLIST,
    "core/json/values.cc json_of(Plan)": EXPLAIN,
    "core/json/values.cc limits_json(Limits)": EXPLAIN,
    "core/json/values.cc layers_json(std::vector<PrivateLayer>)": EXPLAIN,
    "core/json/values.cc json_of(Event)": EVENTS,
    "core/json/workspaces.cc": WORKSPACES,
    "core/json/workspaces.cc json_of(PersistenceFinding)": RUN,
    "cli/console_events.cc": EVENTS,
    "cli/help.cc": VERSION,
    "cli/host_means.cc": DOCTOR,
    "cli/jail_table.cc": DOCTOR,
    "cli/json_stream.cc": EVENT,
    "cli/tool_table.cc": DOCTOR,
    "cli/validate_report.cc": VALIDATE,
    "cli/verbs/allowlist.cc": ALLOWLIST,
    "cli/verbs/audit_keygen.cc": AUDIT,
    "cli/verbs/audit_prove.cc": AUDIT,
    "cli/verbs/audit_report.cc": AUDIT,
    "cli/verbs/audit_stats.cc": AUDIT,
    "cli/verbs/audit_verify.cc": AUDIT,
    "cli/verbs/doctor.cc": DOCTOR,
    "cli/verbs/doctor.cc record_of(std::vector<Finding>)": ATTACKS,
    "cli/verbs/lint.cc": LINT,
    "cli/verbs/probe.cc": PROBE,
    "cli/verbs/run.cc": RUN,
    "cli/verbs/validate.cc": VALIDATE,
    "cli/verbs/workspace.cc": WORKSPACES,
    "audit/members.cc": RECORDS,
    "audit/job_record.cc": RECORDS,
    "audit/attest.cc": NONE,
    "audit/attest_job.cc": NONE,
    "audit/transparency.cc": NONE,
    "audit/report.cc": NONE,
    "cli/verbs/audit_show.cc": NONE,
    "cli/verbs/audit_stats.cc add_up(audit::LogDirectory)": NONE,
}
SCHEMA = re.compile(r"sallyport\.[a-z_]+/[0-9]+")
# Of a file that only we read, and of one that a user writes.
OTHER_SCHEMAS = {"sallyport.workspace/1", "sallyport.policy/1"}
# Sections whose tables show members of another section's values, too.
SHOWS = {EXPLAIN: (EVENTS,), EVENT: (EVENTS, RUN, ERROR), DOCTOR: (RUN,), WORKSPACES: (RUN,), VALIDATE: (RUN, ERROR), RECORDS: (RUN, ERROR)}
# Their columns of fields are what events say of themselves: tools/check_events.py has their names.
OPEN = (EVENTS,)
# The beginning and the end of each line of the log, which are written as text.
LINE = "src/core/audit/record_line.cc"
IN_LINE = re.compile(r'"(\w+)\\?":')
# Parts of its schema that are one writer's alone.
REQUEST = "audit/members.cc request_json(AuditCall)"
PARTS = {"request": REQUEST, "limits": "audit/members.cc limits_of(Limits)", "stream": "audit/members.cc stream_json(CapturedStream)"}


def functions_of(text):
    """(key, line, function) for each member that a source writes."""
    starts = [(found.start(), f"{found[1]}({found[2] or ''})") for found in FUNCTION.finditer(text)]
    for found in KEY.finditer(text):
        inside = [name for start, name in starts if start < found.start()]
        # What stands in a table of constants is no object.
        if (key := found[1] or found[2]) != IN_ALL and not (inside and re.match(r"k[A-Z]", inside[-1])):
            yield key, text.count("\n", 0, found.start()) + 1, inside[-1] if inside else "nothing"


def written(root):
    """{writer: {member: where}}"""
    found = {}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.cc")):
            text = path.read_text(encoding="utf-8")
            if path.name.endswith("_test.cc") or "json" not in text.lower():
                continue
            file = path.relative_to(root / "src").as_posix()
            for key, line, function in functions_of(text):
                found.setdefault(f"{file} {function}", {}).setdefault(key, f"src/{file}:{line}")
    return found


def sections_of(root):
    """{"page first-heading-in-code-or-text": its lines, with numbers}"""
    sections = {}
    for page in ("json.md", "audit.md"):
        path = root / "docs" / page
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines() if path.is_file() else (), 1):
            if heading := re.match(r"^##? (.*)", line):
                code = CODE.findall(heading[1])
                lines = sections.setdefault(f"{page} {code[0] if code else heading[1]}", [])
            else:
                lines.append((number, line))
    return sections


def named(lines):
    """The members in `code`: a lone name, a path of names, or an object that is spelled out."""
    spans = [span for _, line in lines for span in CODE.findall(line)]
    return {word for span in spans if span.startswith("{") or re.match(r"^[\w.\[\]]+$", span) for word in re.findall(r"\w+", span)}


def rows_of(lines):
    """(line number, member) for each that a table's column of members has outside brackets."""
    columns = []
    for number, line in lines:
        if not line.startswith("|"):
            columns = []
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not columns:
            columns = [at for at, cell in enumerate(cells) if cell.lower().replace("`", "").split(" ")[0] in COLUMNS] or [None]
            continue
        for at in columns:
            cell = re.sub(r"\([^)]*\)", "", cells[at]) if at is not None and at < len(cells) else ""
            yield from ((number, span) for span in CODE.findall(cell) if MEMBER.match(span))


def check_schemas(root):
    """Whatever the sources call a record, outside comments."""
    used = {}
    for path in sorted((root / "src").rglob("*.cc")):
        if not path.name.endswith("_test.cc"):
            text = re.sub(r"//.*", "", path.read_text(encoding="utf-8"))
            used |= {name: path.relative_to(root) for name in SCHEMA.findall(text)}
    page = root / "docs" / "json.md"
    shown = set(SCHEMA.findall(page.read_text(encoding="utf-8"))) if page.is_file() else set()
    yield from (f"{path}: docs/json.md lacks {name}" for name, path in sorted(used.items()) if name not in shown | OTHER_SCHEMAS)
    yield from (f"docs/json.md: no source has {name}" for name in sorted(shown - used.keys()))


def line_members(root):
    return set(IN_LINE.findall((root / LINE).read_text(encoding="utf-8")))


def section_of(writer):
    return WRITERS.get(writer, WRITERS.get(writer.split(" ")[0]))


def check_pages(root, writers):
    sections = sections_of(root)
    members = {}
    for writer, keys in writers.items():
        section = section_of(writer)
        if section is None:
            yield f"{min(keys.values())}: no section is known for what {writer.split(' ')[1]} writes; see WRITERS"
            continue
        members.setdefault(section, set()).update(keys)
        if section == NONE:
            continue
        shown = named(sections.get(section, ()))
        yield from (f"{where}: docs/{section.replace(' ', ', ', 1)} does not name `{key}`"
                    for key, where in sorted(keys.items()) if key not in shown)
    members.setdefault(RECORDS, set()).update(line_members(root))
    for section, lines in sections.items():
        known = members.get(section, set()).union(*(members.get(other, set()) for other in SHOWS.get(section, ())))
        if section in members and section not in OPEN:
            yield from (f"docs/{section.split(' ')[0]}:{number}: nothing writes `{name}`"
                        for number, name in rows_of(lines) if name not in known)


def properties_of(schema):
    """Of the schema and of what is in it, but for PARTS."""
    for name, part in schema.items() if isinstance(schema, dict) else ():
        if name == "properties":
            yield from part
        if name != "$defs":
            yield from properties_of(part)
        else:
            yield from (one for called, of in part.items() if called not in PARTS for one in properties_of(of))
    for part in schema if isinstance(schema, list) else ():
        yield from properties_of(part)


def check_schema(root, writers):
    path = root / "docs" / "audit.schema.json"
    schema = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    for name, writer in PARTS.items():
        has = schema.get("$defs", {}).get(name, {}).get("properties", {})
        yield from (f"{where}: docs/audit.schema.json lacks {name}.{key}"
                    for key, where in writers.get(writer, {}).items() if key not in has)
        yield from (f"docs/audit.schema.json: nothing writes {name}.{key}" for key in has if key not in writers.get(writer, {}))
    has = set(properties_of(schema))
    wanted = {key: where for writer, keys in writers.items() if section_of(writer) == RECORDS and writer not in PARTS.values()
              for key, where in keys.items()}
    known = line_members(root).union(wanted, *(keys for writer, keys in writers.items() if section_of(writer) in (RUN, ERROR, TEXT)))
    yield from (f"{where}: docs/audit.schema.json lacks {key}" for key, where in sorted(wanted.items()) if key not in has)
    yield from (f"docs/audit.schema.json: nothing writes {key}" for key in sorted(has - known))


def main(argv):
    root = Path(argv[1] if len(argv) > 1 else Path(__file__).parent.parent).resolve()
    writers = written(root)
    if REQUEST not in writers or not (root / LINE).is_file():
        print(f"check_json_doc: error: {REQUEST} or {LINE} is not there under {root}", file=sys.stderr)
        return 2
    found = [*check_pages(root, writers), *check_schema(root, writers), *check_schemas(root)]
    count = sum(len(keys) for keys in writers.values())
    print("\n".join(found) if found else f"{count} members of {len(writers)} writers are documented, and no others")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
