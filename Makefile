# Everything a person or CI needs. On a bare Debian 12 these install what is missing first.
JOBS ?= $(shell nproc)
BIN  := build/release/dasgd
APP_ONLY := -DDASGD_BUILD_TESTS=OFF -DDASGD_BUILD_EXAMPLES=OFF -DDASGD_BUILD_BENCH=OFF

.PHONY: demo build test bench sanitize format lint clean packages-%

demo: build packages-data ## train on real data and show the result
	$(BIN) train --model softmax --data fashion-mnist --workers 4 --lr 0.03 --epochs 10 --trace --out runs/demo
	$(BIN) check runs/demo/trace.jsonl
	@echo "The run is in runs/demo: summary.json, metrics.jsonl, trace.jsonl, model.npy"

build: packages-build ## build build/release/dasgd
	cmake --preset release $(APP_ONLY) >/dev/null
	cmake --build --preset release -j $(JOBS) --target dasgd_app

test: packages-build packages-mpi-test packages-data packages-test ## build everything and run the whole suite
	scripts/check_includes.sh
	cmake --preset release $(APP_ONLY) -DDASGD_BUILD_TESTS=ON -DDASGD_BUILD_EXAMPLES=ON >/dev/null
	cmake --build --preset release -j $(JOBS)
	ctest --preset release -j $(JOBS)
	cmake --preset mpich >/dev/null
	cmake --build --preset mpich -j $(JOBS) --target dasgd_app mpi_tests mpi_app_tests
	ctest --preset mpich -R '^mpi\.' -j $(JOBS)

bench: packages-build packages-mpi packages-data packages-bench ## print the figures of docs/benchmarks.md
	cmake --preset release $(APP_ONLY) -DDASGD_BUILD_BENCH=ON >/dev/null
	cmake --build --preset release -j $(JOBS) --target dasgd_bench mpi_stream_bench
	build/release/dasgd_bench --benchmark_out=build/release/bench.json --benchmark_out_format=json
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --bind-to none -n 2 build/release/mpi_stream_bench

sanitize: packages-build packages-mpi packages-data packages-test ## run the suite under ASan + UBSan and under TSan
	cmake --preset asan >/dev/null && cmake --build --preset asan -j $(JOBS)
	ctest --preset asan -j $(JOBS)
	cmake --preset tsan >/dev/null && cmake --build --preset tsan -j $(JOBS)
	ctest --preset tsan -j $(JOBS)

format: packages-lint ## format the sources in place
	git ls-files -co --exclude-standard '*.hpp' '*.cpp' | xargs clang-format -i

lint: packages-build packages-mpi packages-lint ## formatting, include direction, clang-tidy
	git ls-files -co --exclude-standard '*.hpp' '*.cpp' | xargs clang-format --dry-run -Werror
	scripts/check_includes.sh
	cmake --preset release $(APP_ONLY) >/dev/null
	git ls-files 'src/*.cpp' 'apps/*.cpp' | xargs -P $(JOBS) -n 4 clang-tidy --quiet -p build/release

clean: ## remove what was built
	rm -rf build

packages-%:
	@scripts/install_packages.sh $*
