import unittest

from common import CheckTest


class CheckLayersTest(CheckTest):
    def setUp(self):
        super().setUp()
        self.write("include/sallyport/gate.h", '#include <vector>\n#include "sallyport/error.h"\n')
        self.write("src/core/plan.cc", '#include "core/plan.h"\n#include <string>\n#include "sallyport/gate.h"\n')

    def check(self):
        return self.run_check("check_layers.py", self.root)

    def test_includes_that_point_left_pass(self):
        self.write("src/spawn/spawn.cc", '#include <unistd.h>\n#include "os/fd.h"\n#include "core/plan.h"\n')
        self.write("src/jails/none/none.cc", '#include "spawn/spawn.h"\n#include "jails/none/none.h"\n')
        self.write("src/cli/main.cc", '#include "gate/gate.h"\n#include "jails/none/none.h"\n')
        self.assert_passes(self.check())

    def test_an_include_that_points_right_fails_with_its_line(self):
        self.write("src/core/bad.cc", '\n#include "os/fd.h"\n')
        self.assert_fails(self.check(), "src/core/bad.cc:2:", "core may not include os")

    def test_the_gate_may_not_include_the_cli(self):
        self.write("src/gate/bad.cc", '#include "cli/verbs.h"\n')
        self.assert_fails(self.check(), "gate may not include cli")

    def test_the_gate_names_jails_in_one_file_only(self):
        self.write("src/gate/builtin_jails.h", '#include "jails/none/none.h"\n')
        self.assert_passes(self.check())
        self.write("src/gate/engine.cc", '#include "jails/none/none.h"\n')
        self.assert_fails(self.check(), "src/gate/engine.cc:1:", "knows jails by their port")

    def test_the_attacks_stand_between_the_gate_and_the_cli(self):
        self.write("src/attack/runner.cc", '#include "gate/gate.h"\n')
        self.write("src/cli/doctor.cc", '#include "attack/runner.h"\n')
        self.assert_passes(self.check())
        self.write("src/gate/bad.cc", '#include "attack/runner.h"\n')
        self.assert_fails(self.check(), "gate may not include attack")

    def test_spaces_in_the_directive_do_not_hide_it(self):
        self.write("src/os/bad.cc", '  #  include   "spawn/spawn.h"\n')
        self.assert_fails(self.check(), "os may not include spawn")

    def test_siblings_may_not_include_each_other(self):
        self.write("src/locate/bad.cc", '#include "jails/bwrap/argv.h"\n')
        self.assert_fails(self.check(), "siblings")

    def test_two_jails_may_not_include_each_other(self):
        self.write("src/jails/native/bad.cc", '#include "jails/bwrap/argv.h"\n')
        self.assert_fails(self.check(), "siblings")

    def test_a_job_uses_the_public_headers_only(self):
        self.write("src/jobs/lint/lint.cc", '#include "jobs/lint/lint.h"\n#include "sallyport/gate.h"\n')
        self.assert_passes(self.check())
        self.write("src/jobs/lint/bad.cc", '#include "core/plan.h"\n')
        self.assert_fails(self.check(), "a job uses the public headers only")
        self.write("src/jobs/lint/bad.cc", '#include "jobs/probe/probe.h"\n')
        self.assert_fails(self.check(), "a job uses the public headers only")

    def test_jobs_share_the_report_and_the_report_knows_no_job(self):
        self.write("src/jobs/lint/lint.cc", '#include "jobs/report/sarif.h"\n#include "sallyport/gate.h"\n')
        self.write("src/jobs/report/sarif.cc", '#include "jobs/report/sarif.h"\n#include "sallyport/gate.h"\n')
        self.assert_passes(self.check())
        self.write("src/jobs/report/bad.cc", '#include "jobs/lint/lint.h"\n')
        self.assert_fails(self.check(), "a job uses the public headers only")
        self.write("src/jobs/report/bad.cc", '#include "core/plan.h"\n')
        self.assert_fails(self.check(), "a job uses the public headers only")

    def test_a_public_header_may_not_name_the_system(self):
        for header in ("sys/types.h", "linux/seccomp.h", "unistd.h", "fmt/format.h"):
            self.write("include/sallyport/bad.h", f"#include <{header}>\n")
            self.assert_fails(self.check(), "public header", header)

    def test_a_public_header_may_not_include_a_layer(self):
        self.write("include/sallyport/bad.h", '#include "core/plan.h"\n')
        self.assert_fails(self.check(), "sallyport may not include core")

    def test_core_may_not_name_the_system_but_its_tests_may(self):
        self.write("src/core/plan_test.cc", "#include <unistd.h>\n")
        self.assert_passes(self.check())
        self.write("src/core/bad.cc", "#include <unistd.h>\n")
        self.assert_fails(self.check(), "core is pure")

    def test_generated_data_and_its_generator_pass(self):
        self.write("src/core/seccomp/program.cc", '#include "seccomp_program.inc"\n')
        self.write("src/core/seccomp/generate.cc", "#include <unistd.h>\n")
        self.assert_passes(self.check())
        self.write("src/core/seccomp/generate.cc", '#include "os/fd.h"\n')
        self.assert_fails(self.check(), "core may not include os")

    def test_a_unit_test_follows_its_layer_but_may_use_test_support(self):
        self.write("src/os/fd_test.cc", '#include "support/temp_dir.h"\n#include "os/fd.h"\n')
        self.assert_passes(self.check())
        self.write("src/os/fd_test.cc", '#include "gate/gate.h"\n')
        self.assert_fails(self.check(), "os may not include gate")

    def test_a_bare_or_relative_include_fails(self):
        self.write("src/os/bad.cc", '#include "fd.h"\n')
        self.assert_fails(self.check(), "names no layer")
        self.write("src/os/bad.cc", '#include "../cli/verbs.h"\n')
        self.assert_fails(self.check(), "names no layer")

    def test_our_own_header_in_angle_brackets_fails(self):
        self.write("src/os/bad.cc", "#include <cli/verbs.h>\n")
        self.assert_fails(self.check(), "with quotes")

    def test_a_folder_that_is_no_layer_fails(self):
        self.write("src/misc/x.cc", "\n")
        self.assert_fails(self.check(), "lies in no layer")

    def test_an_empty_tree_is_not_a_pass(self):
        self.assert_fails(self.run_check("check_layers.py", self.root / "nowhere"), "no sources")


if __name__ == "__main__":
    unittest.main()
