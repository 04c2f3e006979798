# Two commands on a fresh Debian 12: `make run` and `make test`. Each installs what it needs (with sudo when not root).
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
export JOBS

.PHONY: help run test test-deep test-long asan tsan build bench bench-build bench-peers bench-compare bench-egress bench-jobs bench-validate bench-audit bench-scaling bench-check bench-record tidy fuzz format check-format install clean setup-run setup-test setup-deep setup-long setup-bench

help:
	@echo 'make run       build, then validate a hostile npm project safely and show what it tried'
	@echo 'make test      every check, and every test but those of test-deep and test-long'
	@echo 'make test-deep the release and its example, clang-tidy, ASan+UBSan, TSan, each fuzz target for a while, soaks, the report page in a browser'
	@echo 'make test-long other programs and their worlds: the container and microVM jails, Docker, Podman, a new Debian, a thousand kills (hours)'
	@echo 'make build     build the release'
	@echo 'make bench     build and run the quick benchmarks'
	@echo 'make bench-peers    install the other sandboxes (apt, and npm into build/peers)'
	@echo 'make bench-compare  the same jobs through all of them; rewrites docs/benchmarks.md (about 8 minutes)'
	@echo 'make bench-egress   the same download and npm install through sallyport and a peer'
	@echo 'make bench-jobs     probe and lint against the same scanners alone'
	@echo 'make bench-validate what validate and an overlay cost an npm project'
	@echo 'make bench-audit    what the audit log costs a call, and how fast it is verified'
	@echo 'make bench-scaling  what slows a start; rewrites its part of docs/benchmarks.md'
	@echo 'make bench-check    fails when a ratio got worse than bench/recorded.json has it; bench-record writes that file'
	@echo 'make tidy      clang-tidy over the library and the CLI'
	@echo 'make fuzz      run each fuzz target for a while'
	@echo 'make format    format the sources in place'
	@echo 'make install   install the release below PREFIX=$(PREFIX) (no sudo of its own)'
	@echo 'make clean     remove build/'
	@echo 'One preset, quickly: cmake --preset dev && cmake --build --preset dev && ctest --preset dev'

run: build
	@tools/make_example_repo.sh build/example/hello-repo
	@tools/make_project_repos.sh build/example/projects
	@tools/run_example.sh build/release/bin/sallyport build/example/hello-repo build/example/projects

build: setup-run
	@cmake --preset release --log-level=WARNING > build/release.configure.log 2>&1 || { cat build/release.configure.log; exit 1; }
	@cmake --build --preset release --parallel $(JOBS)

test: setup-test
	@tools/run_tests.sh format dev

test-deep: setup-deep
	@tools/run_tests.sh release tidy asan tsan fuzz deep

test-long: setup-long
	@tools/run_tests.sh long

tidy fuzz asan tsan: setup-test
	@tools/run_tests.sh $@

format: setup-test
	@tools/format.sh

check-format: setup-test
	@tools/format.sh --check

bench-build: setup-bench
	@cmake --preset bench --log-level=WARNING > build/bench.configure.log 2>&1 || { cat build/bench.configure.log; exit 1; }
	@cmake --build --preset bench --parallel $(JOBS)

bench: bench-build
	@cmake --build --preset bench --target run_bench

bench-peers:
	@tools/bench_peers.sh

bench-compare bench-egress bench-jobs bench-validate: bench-%: bench-build
	@tools/npm_packages.sh || true
	@python3 -B tools/bench_$*.py

bench-audit bench-scaling bench-check: bench-%: bench-build
	@python3 -B tools/bench_$*.py

bench-record: bench-build
	@python3 -B tools/bench_check.py --record

install: build
	@cmake --install build/release --prefix $(PREFIX)

clean:
	rm -rf build

setup-run setup-test setup-deep setup-long setup-bench: setup-%:
	@mkdir -p build
	@tools/setup.sh $*
	@case $* in test | deep | long) tools/npm_packages.sh || true ;; esac
