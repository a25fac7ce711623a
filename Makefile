# SPDX-License-Identifier: Apache-2.0
# What a person types. `make` alone lists the targets.

SWIFT    ?= swift
PREFIX   ?= /usr/local
DESTDIR  ?=
DEVICES  ?= 10000
# Pushes of the soak; a second run of a tenth of them kills the daemon now and then.
SOAK_PUSHES ?= 1000000

# What Debian 12 has and the build needs; the last two are what tests and demo call.
PACKAGES := libcurl4-openssl-dev libssl-dev libnghttp2-dev libsqlite3-dev libmicrohttpd-dev pkg-config ca-certificates curl openssl sqlite3

# The Swift runtime goes into the binary, so that it runs where no toolchain is installed.
RELEASE  := -c release --static-swift-stdlib
BINARY    = .build/release/upgrade-relay

.DEFAULT_GOAL := help
.PHONY: help demo build test test-tsan test-asan soak lint bench clean install packages

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: build ## the whole job on this machine: DEVICES=10000 phones, a simulated push service, figures that must add up
	$(BINARY) demo --devices $(DEVICES)

build: packages ## the release binary, .build/release/upgrade-relay
	$(SWIFT) build $(RELEASE) --product upgrade-relay

test: packages ## all tests: rules, machines, store, HTTP/2, API, and the real binary end to end
	$(SWIFT) build --build-tests
	$(SWIFT) test --skip-build

test-tsan: packages ## the same under Thread Sanitizer
	SWIFT=$(SWIFT) .ci/sanitize thread

test-asan: packages ## the same under Address Sanitizer, with leaks
	SWIFT=$(SWIFT) .ci/sanitize address

soak: build ## SOAK_PUSHES=1000000 under every fault, with kills: nothing lost, memory and descriptors flat; takes minutes
	$(SWIFT) build --build-tests
	SOAK_PUSHES=$(SOAK_PUSHES) RELAY_BINARY=$(CURDIR)/$(BINARY) \
	    $(SWIFT) test --skip-build --filter 'SoakTests/soak'

lint: ## formatting and style, as strict as they come
	$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests

bench: build ## rate, CPU per push and peak memory of the daemon at 100,000 and 1,000,000 devices
	$(BINARY) demo --devices 100000
	$(BINARY) demo --devices 1000000

# Builds only where nothing was built: root, who installs, need not have the toolchain in the path.
$(BINARY):
	$(MAKE) build

install: $(BINARY) ## what "make build" made, into DESTDIR and PREFIX (default /usr/local)
	install -D -m 0755 $(BINARY) $(DESTDIR)$(PREFIX)/bin/upgrade-relay
	strip --strip-debug $(DESTDIR)$(PREFIX)/bin/upgrade-relay
	install -D -m 0644 etc/config.json5 $(DESTDIR)$(PREFIX)/share/upgrade-relay/config.json5
	install -d $(DESTDIR)/usr/lib/systemd/system
	sed 's|/usr/bin/upgrade-relay|$(PREFIX)/bin/upgrade-relay|' systemd/upgrade-relay.service \
	    > $(DESTDIR)/usr/lib/systemd/system/upgrade-relay.service

clean: ## forget everything that was built
	rm -rf .build

# Asks dpkg first, so that a machine that has everything needs neither network nor root.
packages:
	@missing=; for package in $(PACKAGES); do \
	    dpkg-query -W -f '$${Status}' $$package 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$package"; \
	done; \
	[ -z "$$missing" ] && exit 0; \
	echo "installing$$missing"; \
	root=; [ "$$(id -u)" = 0 ] || root=sudo; \
	$$root apt-get update -q && DEBIAN_FRONTEND=noninteractive $$root apt-get install -q -y --no-install-recommends $$missing
