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

    def test_a_room_of_a_layer_may_include_only_rooms_to_its_left(self):
        self.write("src/spawn/helper/init.cc", '#include "spawn/wire/wire.h"\n#include "spawn/freestanding/sys.h"\n')
        self.write("src/core/view/jail.cc", '#include "core/seccomp/program.h"\n#include "core/errors.h"\n')
        self.write("src/cli/verbs/run.cc", '#include "cli/console.h"\n')
        self.assert_passes(self.check())
        self.write("src/spawn/wire/bad_test.cc", '#include "spawn/helper/run.h"\n')
        self.assert_fails(self.check(), "src/spawn/wire/bad_test.cc:1:", "spawn/wire may not include spawn/helper")
        self.write("src/core/seccomp/bad.cc", '#include "core/view/jail.h"\n')
        self.assert_fails(self.check(), "core/seccomp may not include core/view")
        self.write("src/cli/bad.cc", '#include "cli/verbs/run.h"\n')
        self.assert_fails(self.check(), "cli/. may not include cli/verbs")

    def test_rooms_of_one_rank_may_not_include_each_other(self):
        self.write("src/spawn/helper/bad.cc", '#include "spawn/owner/supervise.h"\n')
        self.assert_fails(self.check(), "spawn/helper and spawn/owner are siblings")

    def test_a_folder_below_a_room_belongs_to_it(self):
        self.write("src/core/policy/hardening/git.cc", '#include "core/policy/hardening.h"\n#include "core/view/paths.h"\n')
        self.assert_passes(self.check())
        self.write("src/core/view/bad.cc", '#include "core/policy/hardening/git.h"\n')
        self.assert_fails(self.check(), "core/view may not include core/policy")

    def test_a_folder_that_is_no_room_fails_with_and_without_a_source(self):
        self.write("src/core/misc/x.cc", "\n")
        self.assert_fails(self.check(), "src/core/misc:0: is no room of core")
        (self.root / "src/jobs/serve").mkdir(parents=True)
        self.assert_fails(self.check(), "src/jobs/serve:0: is no layer")
        (self.root / "src/gate/parts").mkdir(parents=True)
        self.assert_fails(self.check(), "src/gate/parts:0: is no room of gate")

    def test_posix_folders_name_no_header_of_linux(self):
        self.write("src/spawn/posix/run.cc", "#include <spawn.h>\n#include <sys/wait.h>\n")
        self.assert_passes(self.check())
        for header in ("linux/seccomp.h", "sys/epoll.h", "sys/prctl.h", "mntent.h"):
            self.write("src/os/posix/bad.cc", f"#include <{header}>\n")
            self.assert_fails(self.check(), "src/os/posix/bad.cc:1:", "without Linux", header)

    def test_tests_name_the_layers_of_their_list(self):
        self.write("tests/gate/calls_test.cc", '#include "support/temp_dir.h"\n#include "gate/gate_fixture.h"\n#include "os/fd.h"\n')
        self.write("tests/jobs/examples/bad.cc", '#include "anything.h"\n')
        self.write("tests/package/consumer/main.cc", '#include "sallyport/gate.h"\n')
        self.assert_passes(self.check())
        self.write("tests/cli/bad_test.cc", '#include "os/fd.h"\n')
        self.assert_fails(self.check(), "tests/cli/bad_test.cc:1:", "tests/cli may not include os")
        self.write("tests/gate/bad_test.cc", '#include "cli/console.h"\n')
        self.assert_fails(self.check(), "tests/gate may not include cli")
        self.write("tests/misc/bad_test.cc", "\n")
        self.assert_fails(self.check(), "tests/misc/bad_test.cc:0: lies in no folder of OUTSIDE")

    def test_benchmarks_and_fuzzers_have_a_list_too(self):
        self.write("bench/start.cc", '#include "bench/measure.h"\n#include "core/plan.h"\n')
        self.write("fuzz/args.cc", '#include "fuzz/require.h"\n#include "cli/command_line.h"\n')
        self.assert_passes(self.check())
        self.write("bench/bad.cc", '#include "support/temp_dir.h"\n')
        self.assert_fails(self.check(), "bench/bad.cc:1:", "names no layer")
        self.write("fuzz/bad.cc", '#include "gate/engine.h"\n')
        self.assert_fails(self.check(), "fuzz may not include gate")

    def test_an_empty_tree_is_not_a_pass(self):
        self.assert_fails(self.run_check("check_layers.py", self.root / "nowhere"), "no sources")


if __name__ == "__main__":
    unittest.main()
