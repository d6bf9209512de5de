# SPDX-License-Identifier: BSD-3-Clause
#
# The front door. Under the hood: one CMake project (CMakeLists.txt) and the
# scripts in tools/dev. `make help` lists what there is.

BUILD      ?= build
PREFIX     ?= /usr/local
CMAKE      ?= cmake
CMAKE_ARGS ?=
STAGES     ?=
PART       ?=
# Which tests `make test` runs: a regular expression; nothing means all.
TEST       ?=
# Outside `make -j N`, use all cores.
JOBS       ?= $(shell nproc 2>/dev/null || echo 2)

# What `make demo` runs once the program is built.
DEMO = $(BUILD)/storm run examples/decks/hohlraum.yaml --out out/demo \
           --overwrite && \
       $(BUILD)/storm plot out/demo && $(BUILD)/storm report out/demo

# Open MPI refuses to start as root, or more ranks than cores, unless allowed.
demo bench bench-scaling: export OMPI_ALLOW_RUN_AS_ROOT = 1
demo bench bench-scaling: export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM = 1
demo bench bench-scaling: export OMPI_MCA_rmaps_base_oversubscribe = 1

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := all

.PHONY: all configure tests test demo check check-long check-rdma bench \
        bench-scaling lab lab-full format lint docs install dist deb bundle clean help

all: configure ## build library, program and examples into build/
	$(CMAKE) --build $(BUILD) -j $(JOBS) --target product

configure:
	@if [ ! -f $(BUILD)/cmake_install.cmake ] || [ -n "$(CMAKE_ARGS)" ]; then \
	    $(CMAKE) -S . -B $(BUILD) $(CMAKE_ARGS); fi

tests: all ## build the tests too
	$(CMAKE) --build $(BUILD) -j $(JOBS)

test: tests ## build and run the tests in build/ (TEST=engine_relay@3 for some)
	cd $(BUILD) && ctest -j $(JOBS) -LE '^(long|rdma)$$' --no-tests=error \
	    --output-on-failure $(if $(TEST),-R '$(TEST)')

demo: ## set up the machine, build, run a hohlraum, draw it in out/demo/plots
	@tools/dev/setup demo
	@$(MAKE) all
	$(DEMO)
	@echo "To look at it all: open out/demo/report.html"

lab: ## build the simulated ranks (SimGrid) that `storm lab` starts
	@tools/dev/setup lab
	@$(MAKE) all
	$(CMAKE) -S . -B $(BUILD)/lab -DSTORM_SIM=ON
	$(CMAKE) --build $(BUILD)/lab -j $(JOBS) --target storm-sim

lab-full: lab ## all of the laboratory (hours); goes on where it stopped
	@tools/dev/lab_full $(BUILD)/storm

check: ## set up the machine, then every check there is (STAGES= for some)
	@tools/dev/setup check
	@tools/dev/check $(STAGES)

check-long: ## tests labelled long (PART=faults for some)
	@tools/dev/setup check
	@tools/dev/check_long $(PART)

check-rdma: ## tests that need an RDMA device, on an emulated machine; log too
	@tools/dev/setup demo
	@$(MAKE) tests
	@tools/dev/check_rdma $(BUILD)

bench: all ## run the benchmarks; writes bench/results/*.json
	@tools/dev/bench $(BUILD)/storm

bench-scaling: all ## scaling of all backends, to bench/results
	@tools/dev/bench_scaling $(BUILD)/storm

format: ## format all C files
	@tools/dev/format

lint: configure ## clang-tidy, cppcheck, layers, sizes, paths
	@tools/dev/lint $(BUILD)

docs: ## write generated pages, check links, build the site in build/docs/html
	@tools/dev/setup docs
	@$(MAKE) all
	@tools/dev/docs $(BUILD)/storm

install: all ## install to PREFIX (default /usr/local; DESTDIR works)
	$(CMAKE) --install $(BUILD) --prefix $(PREFIX)

dist: ## tarball of HEAD and its checksum in build/packages
	@tools/dev/dist

deb: ## Debian packages of HEAD in build/packages
	@tools/dev/setup demo
	@tools/dev/deb

bundle: all ## what it takes to run where nothing can be installed: build/bundle
	@tools/dev/setup bundle
	@tools/dev/bundle $(BUILD)/storm

clean: ## remove all build trees
	rm -rf $(BUILD)

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | \
	    awk -F '|' '{ printf "%-18s %s\n", $$1, $$2 }'
	@echo "JOBS=1 limits builds and tests to one process (default: all cores)"
