"""C1: the check on process creation fails when it should. Objects are really compiled and read with nm."""

import unittest

from objects_fixture import ObjectsTest

FORK = "#include <unistd.h>\nint f() { return fork(); }\n"
HARMLESS = "int f() { return 1; }\n"


class CheckChokepointTest(ObjectsTest):
    def setUp(self):
        super().setUp()
        self.compile("src/spawn/spawn.cc", FORK)

    def chokepoint(self, *options):
        return self.check("check_chokepoint.py", *options)

    def test_process_creation_in_spawn_tests_and_bench_passes(self):
        self.compile("src/attack/program/fork.cc", FORK)
        self.compile("bench/fork.cc", FORK)
        self.compile("src/gate/gate.cc", HARMLESS)
        self.assert_passes(self.chokepoint())

    def test_every_way_to_start_a_process_fails_outside_spawn(self):
        calls = {
            "fork": FORK,
            "vfork": "#include <unistd.h>\nint f() { return vfork(); }\n",
            "execve": "#include <unistd.h>\nint f() { return execve(0, 0, 0); }\n",
            "execlp": '#include <unistd.h>\nint f() { return execlp("a", "a", nullptr); }\n',
            "fexecve": "#include <unistd.h>\nint f() { return fexecve(0, 0, 0); }\n",
            "posix_spawnp": "#include <spawn.h>\nint f() { return posix_spawnp(0, 0, 0, 0, 0, 0); }\n",
            "clone": "#include <sched.h>\nint f() { return clone(0, 0, 0, 0); }\n",
            "daemon": "#include <unistd.h>\nint f() { return daemon(0, 0); }\n",
            "wordexp": "#include <wordexp.h>\nint f() { return wordexp(0, 0, 0); }\n",
            "forkpty": "#include <pty.h>\nint f() { return forkpty(0, 0, 0, 0); }\n",
            "dlsym": "#include <dlfcn.h>\nvoid* f() { return dlsym(0, 0); }\n",
            "clone3": 'extern "C" int clone3();\nint f() { return clone3(); }\n',
            "_Fork": "#include <unistd.h>\nint f() { return _Fork(); }\n",
        }
        passing = list(self.entries)
        for name, code in calls.items():
            with self.subTest(name):
                self.entries = list(passing)
                self.compile("src/gate/bad.cc", code)
                self.assert_fails(self.chokepoint(), f"src/gate/bad.cc: refers to {name}:")

    def test_a_function_pointer_and_a_macro_hide_nothing(self):
        self.compile("src/os/bad.cc", "#include <unistd.h>\n#define GO fo##rk\nint (*go)() = GO;\n")
        self.assert_fails(self.chokepoint(), "refers to fork")

    def test_a_unit_test_in_src_is_no_exception(self):
        self.compile("src/os/fd_test.cc", FORK)
        self.assert_fails(self.chokepoint(), "src/os/fd_test.cc: refers to fork")

    def test_a_raw_system_call_passes_in_os_only(self):
        code = "#include <unistd.h>\nlong f() { return syscall(1); }\n"
        self.compile("src/os/raw.cc", code)
        self.assert_passes(self.chokepoint())
        self.compile("src/locate/bad.cc", code)
        self.assert_fails(self.chokepoint(), "src/locate/bad.cc:2: raw system calls")

    def test_the_helpers_system_calls_are_for_spawn_only(self):
        code = '#include "spawn/freestanding/sys.h"\nint f() { return 1; }\n'
        self.write("src/spawn/freestanding/sys.h", "")
        self.write("src/spawn/early.cc", code)
        self.assert_passes(self.chokepoint())
        self.write("src/cli/early.cc", code)
        self.assert_fails(self.chokepoint(), "src/cli/early.cc:1: the helper's system calls")

    def test_a_file_of_assembly_makes_no_system_call_outside_os_and_spawn(self):
        self.write("src/cli/entry.S", "/* no syscall */\n\tjmp _start\n")
        self.assert_passes(self.chokepoint())
        self.write("src/cli/entry.S", "\tmov $57, %eax\n\tsyscall\n")
        self.assert_fails(self.chokepoint(), "src/cli/entry.S:2: raw system calls")

    def test_inline_assembly_fails_outside_os(self):
        self.compile("src/core/bad.cc", '\nvoid f() { asm volatile("nop"); }\n')
        self.assert_fails(self.chokepoint(), "src/core/bad.cc:2: inline assembly")

    def test_a_shell_given_a_string_fails_even_in_spawn(self):
        self.compile("src/spawn/bad.cc", "#include <cstdlib>\nint f() { return std::system(\"true\"); }\n")
        self.assert_fails(self.chokepoint(), "src/spawn/bad.cc:2: system()")
        self.write("src/spawn/bad.cc", 'const char* kShell = "/bin/sh";\n')
        self.assert_fails(self.chokepoint(), '"/bin/sh" names a shell')
        self.write("src/spawn/bad.cc", 'const char* kShell = R"(bash -c "$0")";\n')
        self.assert_fails(self.chokepoint(), "names a shell")

    def test_talking_about_a_shell_is_not_running_one(self):
        self.compile("src/core/ok.cc", '// never system(x), never "sh -c"\nconst char* k = "BASH_ENV system( is refused";\n'
                                       "struct Usage { int user, system; };\nint f(Usage u) { return u.system; }\n")
        self.assert_passes(self.chokepoint())

    def test_an_object_that_is_not_built_fails_unless_told_otherwise(self):
        self.compile("src/gate/late.cc", HARMLESS, build=False)
        self.assert_fails(self.chokepoint(), "has not been built")
        self.assert_passes(self.chokepoint("--during-build"))

    def test_a_half_written_object_of_a_test_fails_only_after_the_build(self):
        self.compile("src/gate/gate_test.cc", HARMLESS, target="gate_test.dir")
        next((self.build / "gate_test.dir").iterdir()).write_bytes(b"\x7fELF")
        self.assert_passes(self.chokepoint("--during-build"))
        self.assert_fails(self.chokepoint(), "cannot list the symbols")

    def test_a_half_written_object_of_the_product_always_fails(self):
        self.compile("src/gate/gate.cc", HARMLESS, target="sallyport_gate.dir")
        next((self.build / "sallyport_gate.dir").iterdir()).write_bytes(b"\x7fELF")
        self.assert_fails(self.chokepoint("--during-build"), "cannot list the symbols")

    def test_a_build_without_spawn_is_not_a_pass(self):
        self.entries.clear()
        self.compile("src/gate/gate.cc", HARMLESS)
        self.assert_fails(self.chokepoint(), "wrong build")

    def test_a_directory_that_is_no_build_is_an_error(self):
        self.assert_fails(self.run_check("check_chokepoint.py", self.root / "nowhere"), "compile_commands.json")


if __name__ == "__main__":
    unittest.main()
