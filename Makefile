# The targets for people. `make` alone lists them.
#
#   SWIFT   the Swift 6.3 to use             PREFIX   where to install, /usr/local
#   DESTDIR a directory to stage into        FUZZ_SECONDS, BENCH_ARGS, CRASH_ARGS, SCENES_ARGS, LAB_ARGS,
#                                                    ATTACK_ARGS, SIM_ARGS, FLEET_CRASH_ARGS, MUTANTS_ARGS
#   ONLY    the test targets, or files of tests (TARGET/FILE), that `make test` builds and runs; without it, all
#   VERSION what `make release` releases             TAG     "yes" makes it tag the release
#   FLEET   "no" leaves reach-fleet and libnats out of `make build` and `make install`
#   DESKTOP "no" leaves reach-desktop and libsystemd out of them
#   ONLY_BUILD "yes" has `make test` and `make debian13` build their tests, and run none
#   OPENRC  "yes" installs the OpenRC script in /etc/init.d; the default on machines with OpenRC

SWIFT ?= swift
PREFIX ?= /usr/local
DESTDIR ?=
OPENRC ?= $(if $(wildcard /sbin/openrc-run),yes)
FUZZ_SECONDS ?= 20
ONLY ?=
FLEET ?= yes
DESKTOP ?= yes
ONLY_BUILD ?=
export FLEET DESKTOP ONLY_BUILD
BENCH_ARGS ?=
SCENES_ARGS ?=
WALK_ARGS ?= --seconds 120 --first 1000
LAB_ARGS ?=
CRASH_ARGS ?=
ATTACK_ARGS ?=
SIM_ARGS ?=
FLEET_CRASH_ARGS ?=
MUTANTS_ARGS ?=

CC ?= cc

# Optimising across modules makes the time from a notice to its line a quarter shorter. Debug builds and the tests check
# exclusive access at run time, so a release need not.
# No RUNPATH of $ORIGIN: the programs load libraries from the system's directories alone.
release_flags := --static-swift-stdlib --disable-local-rpath -Xswiftc -cross-module-optimization -Xswiftc -enforce-exclusivity=unchecked
release_flags += -Xswiftc -use-ld=lld -Xlinker -z -Xlinker pack-relative-relocs
# All symbols are bound before the program begins, and their table is then read-only, as Debian asks of every program.
release_flags += -Xlinker -z -Xlinker now
# Sources/Programs/reachd/Main.swift has the function, which only the library calls that libcurl brings along.
release_flags += -Xlinker --export-dynamic-symbol=_gnutls_global_init_skip
# Swift exports each symbol of a static program, which nothing uses: 1.4 MB of tables, parts of which the loader reads for each
# symbol of a library that is loaded later.
release_flags += -Xlinker --no-export-dynamic
# Swift finds a generic type by its mangled name, at run time, once for each place that names one; a call of the type's own
# accessor takes 44 % of the instructions of `reach status` away. The flag is the compiler's own, so one that does not know it goes without.
direct_types := -disable-concrete-type-metadata-mangled-name-accessors
release_flags += $(if $(shell $(SWIFT)c -frontend -help-hidden 2>&1 | grep -e $(direct_types)),-Xswiftc -Xfrontend -Xswiftc $(direct_types))
# The C++ runtime, which Swift's needs, comes from archives as Swift's does: loading the libraries and looking up their symbols
# was a sixth of the time of `reach status`. Where an archive is missing the linker takes the library.
static_runtime := .build/static-runtime
release_flags += -Xswiftc -L$(CURDIR)/$(static_runtime) -Xswiftc -Xclang-linker -Xswiftc -static-libgcc

bin := .build/release/reach
daemon_bin := .build/release/reachd
debug_bin := .build/debug/reach
bench_tools := .build/bench
swift_code := Package.swift Sources Tests Examples contrib/fuzz contrib/bench/peers
man_pages = $(wildcard man/*.1 man/*.5 man/*.7 man/*.8)
install_settings = DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" OPENRC="$(OPENRC)"

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL: # SwiftPM builds in parallel by itself, and locks .build

.PHONY: help
help: ## List these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: deps
deps: ## Install the Debian packages that are missing for building and testing (as root, or by sudo)
	@SWIFT="$(SWIFT)" contrib/deps

.PHONY: build-deps
build-deps: ## Install only those for building
	@SWIFT="$(SWIFT)" contrib/deps build

# Names what is missing, before the compiler does in a hundred lines.
.PHONY: need
need:
	@SWIFT="$(SWIFT)" contrib/deps check

programs = reach reachd $(if $(filter no,$(FLEET)),,reach-fleet) $(if $(filter no,$(DESKTOP)),,reach-desktop)

.PHONY: build
build: need $(static_runtime)/libstdc++.a ## Build .build/release/reach, reachd, reach-fleet and reach-desktop
	REACH_TARGETS="$(programs)" $(SWIFT) build -c release $(release_flags)
	@contrib/generate $(dir $(bin))made $(bin) $(daemon_bin) $(if $(filter no,$(FLEET)),,$(bin)-fleet) \
	  $(if $(filter no,$(DESKTOP)),,$(bin)-desktop)

$(static_runtime)/libstdc++.a:
	@mkdir -p $(@D)
	@ln -sf "$$($(CC) -print-file-name=$(@F))" $@

# Builds `reach` alone: half of what `make build` compiles.
.PHONY: run
run: export FLEET = no
run: export DESKTOP = no
run: build-deps need $(static_runtime)/libstdc++.a ## Show this machine's status, then every change until Ctrl-C
	REACH_TARGETS=reach $(SWIFT) build -c release $(release_flags)
	@$(bin) status || true
	@exec $(bin) watch

# ONLY="ReachCoreTests/HoldDownTests ReachQueueTests" has two targets, and of the first one only a file of tests.
target_of = $(firstword $(subst /, ,$1))
only_targets = $(sort $(foreach name,$(ONLY),$(call target_of,$(name))))
only_files = $(foreach name,$(ONLY),$(if $(findstring /,$(name)),$(name)))
files_of = $(shell find Tests/*/$1 -name '*Tests.swift')
named_in = $(or $(filter %/$(notdir $1).swift,$(call files_of,$(call target_of,$1))),$(error $(call target_of,$1) has no $(notdir $1).swift))
left_out = $(filter-out $(foreach name,$(only_files),$(call named_in,$(name))), \
  $(foreach target,$(sort $(foreach name,$(only_files),$(call target_of,$(name)))),$(call files_of,$(target))))

.PHONY: test
test: export REACH_TARGETS = $(only_targets)
test: export REACH_TESTS_LEFT_OUT = $(left_out)
# ReachServices with all that its traits bring; where no test of it is chosen, nothing of that is fetched.
test: export REACH_SERVICES = $(if $(ONLY),$(if $(filter ReachServicesTests,$(only_targets)),yes),yes)
test: deps ## Run all tests, or ONLY="ReachCoreTests ReachLoopTests/MailboxTests"; they make the network namespaces they need
	$(SWIFT) build --build-tests
	@[ -n "$(ONLY_BUILD)" ] || contrib/test/run "$$($(SWIFT) build --show-bin-path)/reachPackageTests.xctest" \
	  $(or $(only_targets),$(notdir $(wildcard Tests/*/*Tests)))

.PHONY: mutants
mutants: deps ## Put faults into the values, and count those that tests notice; MUTANTS_ARGS="--seed 2 ReachQueue"
	@SWIFT="$(SWIFT)" contrib/test/mutants $(MUTANTS_ARGS)

# The libraries' other versions. Without root or a mirror it says so, and succeeds.
.PHONY: debian13
debian13: ## Build in a Debian 13 below .build-trixie, and run the tests that touch libraries there (as root)
	SWIFT="$(SWIFT)" contrib/debian/release trixie || [ $$? = 77 ]

.PHONY: test-thread
test-thread: deps ## Run all tests under the thread sanitizer
	SWIFT="$(SWIFT)" contrib/sanitizers/run thread

.PHONY: test-address
test-address: deps ## Run all tests under the address sanitizer
	SWIFT="$(SWIFT)" contrib/sanitizers/run address

.PHONY: check
check: lint check-packages warnings check-man completions fuzz ## Formatting, packages, warnings, man pages, completions, a bounded fuzz

.PHONY: lint
lint: ## Check the formatting of the Swift code, the names in the DocC articles, and the version
	$(SWIFT) format lint --strict --parallel --recursive $(swift_code)
	contrib/docs/check
	contrib/lint-groups
	contrib/lint-text
	contrib/bench/figures >/dev/null
	contrib/release --check

.PHONY: format
format: ## Format the Swift code
	$(SWIFT) format --in-place --parallel --recursive $(swift_code)

# Package.swift turns every warning into an error.
.PHONY: warnings
warnings: need
	$(SWIFT) build

.PHONY: check-man
check-man:
ifeq ($(man_pages),)
	@echo "man: there are no pages to check"
else
	@if command -v mandoc >/dev/null; then echo "mandoc -T lint -W warning $(man_pages)"; \
	  mandoc -T lint -W warning $(man_pages); else echo "man: mandoc is not here, pages not checked"; fi
endif

# Says which of its tools are missing.
.PHONY: check-packages
check-packages: ## Check the descriptions for Debian, RPM, Arch, AppArmor and the container
	@contrib/lint-packages

.PHONY: docs
docs: warnings ## Write the libraries' documentation to .build/docs, for a web server
	@SWIFT="$(SWIFT)" contrib/docs/build "$$($(SWIFT) build --show-bin-path)" .build/docs

.PHONY: completions
completions: warnings ## Write the completions of shells, and the JSON Schema of reach's lines, to .build/debug/made
	@contrib/generate .build/debug/made $(debug_bin) $(debug_bin)d $(debug_bin)-fleet $(debug_bin)-desktop

.PHONY: schema
schema: completions

.PHONY: fuzz
fuzz: ## Fuzz each parser for FUZZ_SECONDS (20)
	@printf '%s\n' contrib/fuzz/run contrib/fuzz/*/run | SWIFT="$(SWIFT)" xargs -P "$$(nproc)" -I RUN sh -c 'RUN $(FUZZ_SECONDS)'

.PHONY: bench
bench: deps build bench-tools ## Compare reach with ip and a C program; BENCH_ARGS="--quick --only latency,idle"
	contrib/bench/run --reach $(bin) --tools $(bench_tools) --pictures $(bench_tools)/pictures $(BENCH_ARGS)
ifeq ($(strip $(BENCH_ARGS)),)
	$(SWIFT) build -c release $(release_flags) --product queuedrain
	contrib/bench/queue --programs $(dir $(bin)) --tools $(bench_tools) --pictures $(bench_tools)/pictures --only large,uploads
endif

.PHONY: bench-queue
bench-queue: deps build bench-tools ## Compare queue and sessions with curl and Swift's other clients; BENCH_ARGS="--only drain --rounds 3"
	$(SWIFT) build -c release $(release_flags) --product queuedrain
	$(SWIFT) build -c release $(release_flags) --product sessiondrain
	$(SWIFT) build -c release --static-swift-stdlib --package-path contrib/bench/peers --scratch-path $(bench_tools)/peers
	contrib/bench/queue --programs $(dir $(bin)) --tools $(bench_tools) --pictures $(bench_tools)/pictures $(BENCH_ARGS)

.PHONY: crash
crash: deps build ## Kill the daemon 500 times while its queue is sent; CRASH_ARGS="--rounds 50" (as root)
	Tests/Field/crash/run --progress $(CRASH_ARGS)
	$(SWIFT) build --product queuecrash
	Tests/Field/crash/power-loss
	$(SWIFT) build --product sessiondrain
	Tests/Field/crash/sessions --session .build/debug/sessiondrain

.PHONY: scenes
scenes: deps build ## Stage outages in namespaces, and show how reach and NetworkManager report them (as root)
	Tests/Field/scenes/networkmanager .build/networkmanager || true
	Tests/Field/scenes/run --reach $(bin) $(SCENES_ARGS) || [ $$? = 77 ]

.PHONY: walk
walk: deps build ## Break and mend a network at random, and compare what all mouths say; WALK_ARGS="--seconds 3600" (as root)
	Tests/Field/scenes/walk --reach $(bin) $(WALK_ARGS) || [ $$? = 77 ]

# Without a kernel that this machine can start it says what is missing, and succeeds.
.PHONY: lab
lab: deps build ## Wi-Fi, modems, sleep and hours of flapping, in small virtual machines; LAB_ARGS="--only roaming"
	@[ ! -w /dev/kvm ] || LAB=yes SWIFT="$(SWIFT)" contrib/deps
	Tests/Field/lab/run --programs $(dir $(bin)) $(LAB_ARGS) || [ $$? = 77 ]

# User-mode Linux: it needs no KVM, and its clock jumps over waiting.
.PHONY: lab-kernel
lab-kernel: ## Build the kernel with which the lab runs an hour in a minute (about ten minutes)
	@LAB=kernel SWIFT="$(SWIFT)" contrib/deps
	Tests/Field/lab/machine build-uml

.PHONY: day
day: deps build ## Play a day with a network that breaks, and write its transcript and pictures to Documentation/day (as root)
	Tests/Field/scenes/day --reach $(bin) --output Documentation/day || [ $$? = 77 ]

.PHONY: attack
attack: deps build ## Attack the daemon by users, servers and a failing machine; ATTACK_ARGS="--only slots" (as root)
	Tests/Field/attack/run --programs $(dir $(bin)) $(ATTACK_ARGS) || [ $$? = 77 ]

.PHONY: fleet-demo
fleet-demo: deps ## Show a fleet of 1,000 simulated hosts, and as root 3 real ones, until Ctrl-C
	$(SWIFT) build --product reach-fleet
	$(SWIFT) build --product reachd
	$(SWIFT) build --product fleetsim
	@Tests/Field/fleet/demo || [ $$? = 77 ]

.PHONY: fleet-day
fleet-day: deps ## Play a day of a fleet: an outage, a stolen key, a full store, a retired host (as root)
	$(SWIFT) build --product reach-fleet
	$(SWIFT) build --product fleetsim
	$(SWIFT) build --product reachd
	Tests/Field/fleet/day || [ $$? = 77 ]

.PHONY: fleet-scale
fleet-scale: deps build ## Measure commands and server with 1,000, 10,000 and 100,000 hosts; SCALE_ARGS="--hosts 1000"
	$(SWIFT) build --product fleetfill
	Tests/Field/fleet/scale $(SCALE_ARGS) || [ $$? = 77 ]

.PHONY: fleet-crash
fleet-crash: deps build ## Kill server, agents and daemons 100 times each; FLEET_CRASH_ARGS="--rounds 10" (as root)
	Tests/Field/fleet/crash --progress $(FLEET_CRASH_ARGS) || [ $$? = 77 ]

.PHONY: fleet-sim
fleet-sim: deps ## Simulate outages of a fleet against a real nats-server; SIM_ARGS="--hosts 10000"
	$(SWIFT) build --product reach-fleet
	$(SWIFT) build --product fleetsim
	Tests/Field/fleet/sim $(SIM_ARGS) || [ $$? = 77 ]

.PHONY: bench-tools
bench-tools: $(bench_tools)/monitor $(bench_tools)/storm

$(bench_tools)/%: contrib/bench/%.c
	@mkdir -p $(@D)
	$(CC) -O2 -Wall -Wextra -Werror $$(pkg-config --cflags libnl-3.0) -o $@ $< $$(pkg-config --libs libnl-3.0)

# Installs existing programs, and builds only if there are none, so that `sudo make install` needs no Swift.
.PHONY: install
install: ## Install the built programs below DESTDIR and PREFIX
	@[ -x $(bin) ] && [ -x $(daemon_bin) ] || $(MAKE) build
	@$(install_settings) contrib/install

.PHONY: uninstall
uninstall: ## Remove what `make install` installed
	@$(install_settings) contrib/install --remove

.PHONY: deb
deb: ## Build the Debian packages .build/deb/*.deb from the built programs
	@PACKAGING=yes SWIFT="$(SWIFT)" contrib/deps build
	@[ -x $(bin) ] && [ -x $(daemon_bin) ] || $(MAKE) build
	contrib/debian/build

.PHONY: deb-source
deb-source: ## Build the Debian source package .build/deb/reach_*.dsc
	@PACKAGING=yes SWIFT="$(SWIFT)" contrib/deps build
	contrib/debian/build --source

# Without the packages of debugging symbols, and hardly compressed: each takes a minute.
.PHONY: try-deb
try-deb: export DEB_BUILD_OPTIONS = noautodbgsym
try-deb: export COMPRESSION = -Zgzip -z1
try-deb: deb ## Install, use and purge these packages under systemd, on a throwaway copy of this machine and on Debian 13 (as root)
	contrib/debian/try || [ $$? = 77 ]
	contrib/debian/try --suite trixie || [ $$? = 77 ]
	BUILD=.build/release contrib/systemd/try || [ $$? = 77 ]

# The tag comes last, so that it names something that has been built.
.PHONY: release
release: lint check-packages ## Set the version everywhere, commit it, and build all files of the release: VERSION=0.2.0 TAG=yes
	contrib/release "$(VERSION)"
	$(MAKE) build
	$(MAKE) deb deb-source
	contrib/release --files "$(VERSION)"
	$(if $(filter yes,$(TAG)),contrib/release --tag "$(VERSION)",@echo "not tagged; contrib/release --tag $(VERSION) does it")

.PHONY: clean
clean: ## Remove the build directory
	rm -rf .build .build-tsan .build-asan .build-trixie
