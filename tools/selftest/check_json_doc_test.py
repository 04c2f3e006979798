import json
import unittest

from common import CheckTest

VALUES = '''Json json_of(const Plan& plan) {
  return {{"argv", texts(plan.argv)},
          {"layers", layers_json(plan.layers)}};
}

constexpr auto kTable = std::to_array<Pair>({{"fedora", "dnf"}});

Json json_of(const Usage& usage) {
  const Names names = {"a", "b"};
  return {{"user_ms", ms(usage.user)}};
}
'''
MEMBERS = '''Json limits_of(const Limits& limits) { return {{"wall_ms", limits.wall}}; }
Json request_json(const AuditCall& call, Cleaner& clean) {
  return {{"cwd", clean.text(call.cwd)}, {"limits", limits_of(call.limits)}};
}
Json stream_json(const CapturedStream& stream) { return {{"bytes", stream.size}}; }
void add_result(Json& json) {
  json["request"] = request_json(call, clean);
  json["stdout"] = stream_json(stream);
  json["head"] = "rebuilt";
}
'''
JSON_PAGE = '''# JSON

## `sallyport.run/1`

| Field | |
| --- | --- |
| `user_ms` | a number (`fast`) |

## `sallyport.explain/1`

| Field | |
| --- | --- |
| `argv`, `layers` | `layers` of a workspace |
'''
AUDIT_PAGE = '''# The log

## Records

| member | |
|---|---|
| `seq`, `request`, `stdout`, `head` | `bytes` of it |

| member of `request` | |
|---|---|
| `cwd`, `limits` | `wall_ms` |
'''
SCHEMA = {
    "properties": {"seq": {}, "request": {}, "stdout": {}, "head": {}},
    "$defs": {
        "request": {"properties": {"cwd": {}, "limits": {}}},
        "limits": {"properties": {"wall_ms": {}}},
        "stream": {"properties": {"bytes": {}}},
    },
}


class CheckJsonDocTest(CheckTest):
    def setUp(self):
        super().setUp()
        self.write("src/core/json/values.cc", "#include <nlohmann/json.hpp>\n" + VALUES)
        self.write("src/audit/members.cc", "#include <nlohmann/json.hpp>\n" + MEMBERS)
        self.write("src/core/audit/record_line.cc", 'constexpr std::string_view kBefore = R"({"seq":)";\n')
        self.write("src/cli/schemas.cc", 'print("sallyport.run/1", "sallyport.explain/1", "sallyport.policy/1");\n')
        self.write("docs/json.md", JSON_PAGE)
        self.write("docs/audit.md", AUDIT_PAGE)
        self.write("docs/audit.schema.json", json.dumps(SCHEMA))

    def check(self):
        return self.run_check("check_json_doc.py", self.root)

    def with_text(self, path, old, new):
        whole = (self.root / path).read_text(encoding="utf-8")
        self.assertIn(old, whole)
        self.write(path, whole.replace(old, new))
        result = self.check()
        self.write(path, whole)
        return result

    def test_what_the_code_writes_and_the_pages_name_passes(self):
        self.assert_passes(self.check())

    def test_a_member_that_the_page_lacks_fails_with_its_line(self):
        self.assert_fails(self.with_text("docs/json.md", "| `argv`, `layers` | `layers` of", "| `argv` | layers of"),
                          "src/core/json/values.cc:4:", "sallyport.explain/1 does not name `layers`")
        self.assert_fails(self.with_text("src/core/json/values.cc", '{"user_ms",', '{"cpu_ms", 1}, {"user_ms",'), "`cpu_ms`")
        self.assert_fails(self.with_text("src/audit/members.cc", 'json["head"] =', 'json["tail"] = 1; json["head"] ='), "`tail`")

    def test_a_member_that_another_section_names_fails(self):
        self.assert_fails(self.with_text("docs/json.md", "| `user_ms` |", "| `user_ms`, `layers` |"), "nothing writes `layers`")
        self.assert_fails(self.with_text("src/core/json/values.cc", '{"user_ms",', '{"layers", 1}, {"user_ms",'),
                          "sallyport.run/1 does not name `layers`")

    def test_a_word_in_a_command_names_no_member(self):
        self.assert_fails(self.with_text("docs/json.md", "`argv`, `layers` | `layers` of", "`argv` | `run layers` of"), "`layers`")

    def test_a_member_that_nothing_writes_fails_with_its_line(self):
        self.assert_fails(self.with_text("docs/json.md", "| `user_ms` |", "| `user_ms`, `gone_ms` |"), "docs/json.md:7: nothing writes `gone_ms`")
        self.assert_fails(self.with_text("src/core/json/values.cc", '{"layers", ', '{"argv", '), "docs/json.md:13: nothing writes `layers`")
        self.assert_fails(self.with_text("docs/audit.md", "| `seq`,", "| `seq`, `sec`,"), "docs/audit.md:7: nothing writes `sec`")

    def test_the_schema_has_each_member_and_no_other(self):
        for gone, lack in (('"head": {}', "lacks head"), ('"cwd": {}', "lacks request.cwd"), ('"wall_ms": {}', "lacks limits.wall_ms"),
                           ('"bytes": {}', "lacks stream.bytes")):
            self.assert_fails(self.with_text("docs/audit.schema.json", gone, '"other": {}'), lack, "docs/audit.schema.json: nothing writes")
        self.assert_fails(self.with_text("docs/audit.schema.json", '"seq": {}', '"seq": {}, "cwd": {}, "bits": {}'), "nothing writes bits")

    def test_a_record_that_the_page_does_not_know_fails(self):
        self.write("src/cli/verbs/fly.cc", 'return print({{"schema", "sallyport.fly/1"}});  // sallyport.gone/1\n')
        self.assert_fails(self.check(), "src/cli/verbs/fly.cc: docs/json.md lacks sallyport.fly/1")
        self.assert_fails(self.with_text("docs/json.md", "# JSON", "# JSON\n`sallyport.gone/1`"), "no source has sallyport.gone/1")

    def test_a_writer_without_a_section_fails(self):
        self.write("src/cli/verbs/fly.cc", '// json\nJson fly(const Wing& wing) { return {{"flaps", wing.flaps}}; }\n')
        self.assert_fails(self.check(), "src/cli/verbs/fly.cc:2:", "fly(Wing)")

    def test_a_tree_without_the_log_is_an_error(self):
        (self.root / "src/core/audit/record_line.cc").unlink()
        self.assertEqual(self.check().returncode, 2)


if __name__ == "__main__":
    unittest.main()
