"""A tiny project whose sources are really compiled, with the compile_commands.json CMake would write."""

import json
import subprocess

from common import CheckTest


class ObjectsTest(CheckTest):
    def setUp(self):
        super().setUp()
        self.build = self.root / "build"
        self.build.mkdir()
        self.entries = []

    def compile(self, source, code, build=True, target="any.dir"):
        file = self.write(source, code)
        output = f"{target}/{len(self.entries)}.o"
        (self.build / target).mkdir(exist_ok=True)
        if build:
            subprocess.run(["c++", "-std=c++20", "-c", file, "-o", self.build / output], check=True)
        self.entries.append({"directory": str(self.build), "file": str(file), "command": f"c++ -o {output} -c {file}"})

    def check(self, tool, *options):
        (self.build / "compile_commands.json").write_text(json.dumps(self.entries), encoding="utf-8")
        return self.run_check(tool, "--source", self.root, *options, self.build)
