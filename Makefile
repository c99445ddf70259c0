# Everything a person or CI needs. On a bare Debian 12 these install what is missing first.
JOBS ?= $(shell nproc)
# Many tests wait: for a signal, a dead rank, a browser.
TEST_JOBS ?= $(shell expr 4 '*' $(JOBS))
CTEST = TMPDIR=$(shell scripts/test_directory.sh) ctest -j $(TEST_JOBS)
SOAK_SECONDS ?= 600
SCENARIOS ?= 100000
BIN  := build/release/dasgd
# How long each fuzzer runs.
FUZZ_SECONDS ?= 600
# Where there is ccache, a miss costs no second run of the preprocessor.
export CCACHE_DEPEND ?= 1
EARLY := dasgd_config dasgd_members dasgd_rivals
# Layers whose tests run with assertions on, those of the standard library included.
ASSERTED := base core random data topology rules staleness theory transport faulty problems record run models runtime sim elastic members cluster
# .ci/run says ON.
WARNINGS_ARE_ERRORS ?= OFF
APP_ONLY := -DDASGD_BUILD_TESTS=OFF -DDASGD_BUILD_EXAMPLES=OFF -DDASGD_BUILD_BENCH=OFF \
  -DCMAKE_COMPILE_WARNING_AS_ERROR=$(WARNINGS_ARE_ERRORS)

.PHONY: demo build test test-mpich python scenarios soak soak-elastic hostile bench bench-watch archive deb check-docs check-packages check-container site sanitize sanitize-torch fuzz format style lint lint-torch clean packages-all-tests early-configured early-layers packages-%

demo: packages-torch build packages-data ## train a network on real data and show the result
	$(BIN) train --model cnn --data fashion-mnist --workers 2 --epochs 1 --trace --out runs/demo
	$(BIN) check runs/demo/trace.jsonl
	@echo "The run is in runs/demo, its network in runs/demo/model.pt; open runs/demo/report.html in a browser"

build: packages-build packages-web ## build build/release/dasgd
	cmake --preset release $(APP_ONLY) >/dev/null
	cmake --build --preset release -j $(JOBS) --target dasgd_app

test: ## build everything and run the whole suite
	@$(MAKE) --no-print-directory -j 2 packages-all-tests early-layers
	scripts/check_includes.sh
	cmake --preset release $(APP_ONLY) -DDASGD_BUILD_TESTS=ON -DDASGD_BUILD_EXAMPLES=ON \
	  -DDASGD_BUILD_PYTHON=ON >/dev/null
	cmake --build --preset release -j $(JOBS)
	$(CTEST) --preset release

# The library is built there anyway, so tests of its layers cost little; those of the program and of LibTorch are left out.
test-mpich: packages-build packages-web packages-data packages-test packages-mpi-test ## tests of ranks with another MPI and of layers, with assertions
	cmake --preset mpich >/dev/null
	cmake --build --preset mpich -j $(JOBS) --target dasgd_app mpi_tests mpi_app_tests $(ASSERTED:%=%_tests)
	$(CTEST) --preset mpich -R '^(mpi|$(subst $() ,|,$(ASSERTED)))\.'

python: packages-build packages-torch packages-mpi packages-web packages-python ## build the Python package, build/release/python/dasgd
	cmake --preset release -DDASGD_BUILD_PYTHON=ON >/dev/null
	cmake --build --preset release -j $(JOBS) --target dasgd_python dasgd_app
	@echo "export PYTHONPATH=$(CURDIR)/build/release/python"

scenarios: packages-build packages-web packages-test ## play SCENARIOS random scenarios of an elastic run in virtual time
	cmake --preset release $(APP_ONLY) -DDASGD_BUILD_TESTS=ON >/dev/null
	cmake --build --preset release -j $(JOBS) --target elastic_scenarios
	build/release/elastic_scenarios 1 $(SCENARIOS)

soak: packages-build packages-web packages-test ## play random scenarios of the real program for SOAK_SECONDS
	cmake --preset release $(APP_ONLY) -DDASGD_BUILD_TESTS=ON >/dev/null
	cmake --build --preset release -j $(JOBS) --target soak
	build/release/soak --seconds $(SOAK_SECONDS)

soak-elastic: build packages-test ## kill, stop, cut off and join members of an elastic run for SOAK_SECONDS (an hour: 3600)
	tests/soak/elastic.py $(BIN) --seconds $(SOAK_SECONDS)

hostile: build ## what a hostile user, disk, file or clock does, played with the real program
	tests/hostile/hostile.py $(BIN)

bench: packages-build packages-torch packages-mpi packages-data packages-bench packages-python ## print the figures of docs/benchmarks.md
	cmake --preset release $(APP_ONLY) -DDASGD_BUILD_BENCH=ON -DDASGD_BUILD_PYTHON=ON >/dev/null
	cmake --build --preset release -j $(JOBS) --target dasgd_bench dasgd_app dasgd_python mpi_stream_bench tcp_stream_bench
	build/release/dasgd_bench --benchmark_out=build/release/bench.json --benchmark_out_format=json
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --bind-to none -n 2 build/release/mpi_stream_bench
	build/release/tcp_stream_bench
	bench/elastic_runs.py $(BIN)
	bench/compare_ddp.py $(BIN) --seconds 4
	bench/straggler_ranks.py $(BIN)
	PYTHONPATH=build/release/python bench/python_peer.py $(BIN)
	bench/reading.py $(BIN)

bench-watch: build packages-browser packages-data ## what three browsers cost a run that they watch
	node bench/watch_cost.mjs $(BIN)

archive: packages-build packages-web ## dasgd-VERSION.tar.gz: the sources with the built page, for machines without npm
	cmake --preset release $(APP_ONLY) >/dev/null
	cmake --build --preset release --target dasgd_page
	scripts/release_archive.sh

deb: packages-deb packages-torch packages-mpi packages-python archive ## Debian packages of HEAD in build/packages
	scripts/build_packages.sh

site: build packages-site packages-data packages-browser ## the documentation site of docs/ and site/ in build/site
	/usr/bin/python3 site/stage.py $(BIN) build/site-pages
	mkdocs build -q -f site/mkdocs.yml
	doxygen site/Doxyfile
	/usr/bin/python3 site/check_links.py build/site
	node site/look.mjs build/site

check-docs: python packages-data ## run the commands that the documentation shows
	/usr/bin/python3 tests/docs/run_blocks.py . $(BIN)

check-packages: packages-clean-root ## install those into a clean Debian, use them, purge them
	scripts/check_packages.sh

check-container: packages-clean-root ## build the container of those packages, and train in it
	scripts/check_container.sh

sanitize: packages-build packages-mpi packages-web packages-data packages-test ## run the suite under ASan + UBSan and under TSan
	cmake --preset asan >/dev/null && cmake --build --preset asan -j $(JOBS)
	$(CTEST) --preset asan
	cmake --preset tsan >/dev/null && cmake --build --preset tsan -j $(JOBS)
	$(CTEST) --preset tsan

sanitize-torch: packages-build packages-mpi packages-web packages-data packages-test packages-torch packages-python ## networks and the Python module under ASan + UBSan
	cmake --preset asan-torch >/dev/null
	cmake --build --preset asan-torch -j $(JOBS) --target adapters_tests dasgd_python dasgd_app
	$(CTEST) --preset asan-torch -R '^adapters$$|^python\.(arrays|package|runs|torch_rules)$$'

fuzz: packages-build packages-mpi packages-fuzz ## run every fuzzer for FUZZ_SECONDS
	cmake --preset fuzz >/dev/null
	cmake --build --preset fuzz -j $(JOBS) --target fuzzers
	scripts/fuzz.sh build/fuzz $(FUZZ_SECONDS) $(JOBS)

format: packages-lint ## format the sources in place
	git ls-files -co --exclude-standard '*.hpp' '*.cpp' | xargs clang-format -i

style: packages-lint ## formatting, include direction, type names, words
	git ls-files -co --exclude-standard '*.hpp' '*.cpp' | xargs clang-format --dry-run -Werror
	scripts/check_includes.sh >/dev/null
	scripts/check_type_names.sh
	scripts/check_words.sh

# Each source is read by itself: clang's analyzer follows no path through a source that a unity build includes. Assertions
# are on: they show it what cannot happen.
SOURCES_OF = sed -n 's/^ *"file": "\(.*\)".*/\1/p' build/$(1)/compile_commands.json
TIDY = xargs -P $(JOBS) -n 1 clang-tidy --quiet -p
lint: style packages-build packages-mpi ## that and clang-tidy
	cmake --preset lint >/dev/null
	$(call SOURCES_OF,lint) | grep -v built_page.cpp | $(TIDY) build/lint

# Debian's clang reads Debian's LibTorch as C++20 with a small help.
lint-torch: packages-build packages-mpi packages-torch packages-python packages-lint ## clang-tidy of networks and the Python module
	cmake --preset lint-torch >/dev/null
	$(call SOURCES_OF,lint-torch) | grep -E 'adapters/torch|python/src' | \
	  $(TIDY) build/lint-torch --extra-arg-before=-include$(CURDIR)/cmake/clang_reads_libtorch.hpp

clean: ## remove what was built
	rm -rf build

packages-all-tests: early-configured
	@scripts/install_packages.sh build torch mpi web browser data test python

# On a bare machine: unpacking packages keeps one core busy. Beside it the other compiles layers that need few of them.
early-layers: early-configured
	@[ ! -e build/release/early ] || { rm build/release/early; cmake --build --preset release -j $(JOBS) --target $(EARLY); }

# Configured before anything else is installed, so that nothing is found that is there by half.
early-configured:
	@[ -e build/release/build.ninja ] || { scripts/install_packages.sh build cache && \
	  cmake --preset release $(APP_ONLY) >/dev/null && touch build/release/early; }

packages-%:
	@scripts/install_packages.sh $*
