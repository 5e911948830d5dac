# What people type. `make` alone lists it.
#
#   SWIFT   the Swift 6.3 to use             PREFIX   where to install, /usr/local
#   DESTDIR a directory to stage into        FUZZ_SECONDS, BENCH_ARGS   see below

SWIFT ?= swift
PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 20
BENCH_ARGS ?=

CC ?= cc
INSTALL ?= install

# Optimising across rooms takes a quarter off the time from a notice to its line. Debug builds and the tests check that
# accesses are exclusive while they run, so that a release need not.
release_flags := --static-swift-stdlib -Xswiftc -cross-module-optimization -Xswiftc -enforce-exclusivity=unchecked

bin := .build/release/reach
daemon_bin := .build/release/reachd
debug_bin := .build/debug/reach
bench_tools := .build/bench
completions := contrib/completions
man_pages = $(wildcard man/*.1 man/*.5 man/*.7 man/*.8)
documents := README.md CHANGELOG.md LICENSE

bindir := $(DESTDIR)$(PREFIX)/bin
sbindir := $(DESTDIR)$(PREFIX)/sbin
share := $(DESTDIR)$(PREFIX)/share
installed_doc := $(share)/doc/reach
installed_bash := $(share)/bash-completion/completions/reach
installed_zsh := $(share)/zsh/site-functions/_reach
installed_fish := $(share)/fish/vendor_completions.d/reach.fish

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL: # SwiftPM builds in parallel by itself, and locks .build

.PHONY: help
help: ## List these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: deps
deps: ## Install the Debian packages that are missing (as root, or by sudo)
	@SWIFT="$(SWIFT)" contrib/deps

.PHONY: build
build: ## Build .build/release/reach and reachd
	$(SWIFT) build -c release $(release_flags) --product reach
	$(SWIFT) build -c release $(release_flags) --product reachd

.PHONY: run
run: deps build ## Show this machine's status, then every change until Ctrl-C
	@$(bin) status || true
	@exec $(bin) watch

.PHONY: test
test: deps ## Run all tests; those that need a network namespace make their own
	$(SWIFT) build --build-tests
	$(SWIFT) test

.PHONY: check
check: lint warnings check-man check-completions fuzz ## Formatting, warnings, man pages, completions, a bounded fuzz

.PHONY: lint
lint: ## Check the formatting of the Swift code
	$(SWIFT) format lint --strict --parallel --recursive Package.swift Sources Tests

.PHONY: format
format: ## Format the Swift code
	$(SWIFT) format --in-place --parallel --recursive Package.swift Sources Tests

# Package.swift turns every warning into an error.
.PHONY: warnings
warnings:
	$(SWIFT) build

.PHONY: check-man
check-man:
ifeq ($(man_pages),)
	@echo "man: there are no pages to check"
else
	@if command -v mandoc >/dev/null; then echo "mandoc -T lint -W warning $(man_pages)"; \
	  mandoc -T lint -W warning $(man_pages); else echo "man: mandoc is not here, pages not checked"; fi
endif

.PHONY: check-completions
check-completions: warnings
	@contrib/completions/generate --check $(debug_bin)

.PHONY: completions
completions: warnings ## Write the shell completions from the program's own description
	@contrib/completions/generate $(debug_bin)

.PHONY: fuzz
fuzz: ## Fuzz each parser for FUZZ_SECONDS (20)
	@for run in contrib/fuzz/run contrib/fuzz/*/run; do SWIFT="$(SWIFT)" $$run $(FUZZ_SECONDS) || exit; done

.PHONY: bench
bench: deps build bench-tools ## Measure reach beside ip and a C program; BENCH_ARGS="--quick --only latency,idle"
	contrib/bench/run --reach $(bin) --tools $(bench_tools) $(BENCH_ARGS)

.PHONY: bench-tools
bench-tools: $(bench_tools)/monitor $(bench_tools)/storm

$(bench_tools)/%: contrib/bench/%.c
	@mkdir -p $(@D)
	$(CC) -O2 -Wall -Wextra -Werror $$(pkg-config --cflags libnl-3.0) -o $@ $< $$(pkg-config --libs libnl-3.0)

# Installs what is there; it builds only where nothing was built, so that `sudo make install` needs no Swift.
.PHONY: install
install: ## Install what `make build` made, below DESTDIR and PREFIX
	@[ -x $(bin) ] || $(MAKE) build
	$(INSTALL) -d $(bindir) $(installed_doc)
	$(INSTALL) -s -m 755 $(bin) $(bindir)/reach
	$(INSTALL) -D -s -m 755 $(daemon_bin) $(sbindir)/reachd
	@set -e; for page in $(man_pages); do \
	  echo "$(INSTALL) -D -m 644 $$page $(share)/man/man$${page##*.}/$${page##*/}"; \
	  $(INSTALL) -D -m 644 $$page $(share)/man/man$${page##*.}/$${page##*/}; done
	@set -e; install_if_there() { [ ! -f $$1 ] || \
	    { echo "$(INSTALL) -D -m 644 $$1 $$2"; $(INSTALL) -D -m 644 $$1 $$2; }; }; \
	  install_if_there $(completions)/reach.bash $(installed_bash); \
	  install_if_there $(completions)/_reach $(installed_zsh); \
	  install_if_there $(completions)/reach.fish $(installed_fish)
	$(INSTALL) -m 644 $(documents) $(installed_doc)/

.PHONY: uninstall
uninstall: ## Remove what `make install` installed
	rm -f $(bindir)/reach $(sbindir)/reachd $(installed_bash) $(installed_zsh) $(installed_fish)
	@set -e; for page in $(man_pages); do rm -f $(share)/man/man$${page##*.}/$${page##*/}; done
	rm -f $(addprefix $(installed_doc)/,$(documents))
	-@rmdir $(installed_doc) 2>/dev/null || true

.PHONY: clean
clean: ## Remove everything that was built
	rm -rf .build
