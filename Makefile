# SPDX-License-Identifier: Apache-2.0
# What a person types. `make` alone lists the targets.

SWIFT    ?= swift
PREFIX   ?= /usr/local
DESTDIR  ?=
DEVICES  ?= 10000
STRIP    ?= strip --strip-debug
# systemd looks below both prefixes (systemd.unit(5)); the configuration and the keys are in /etc everywhere.
UNITDIR   = $(DESTDIR)$(PREFIX)/lib/systemd/system
SHARE     = $(DESTDIR)$(PREFIX)/share
# Pushes of the soak; a second run of a tenth of them kills the daemon now and then.
SOAK_PUSHES ?= 1000000

# What Debian 12 has and the build needs; the last two are what tests and demo call.
PACKAGES := libcurl4-openssl-dev libssl-dev libnghttp2-dev libsqlite3-dev zlib1g-dev libsystemd-dev pkg-config ca-certificates tzdata curl openssl sqlite3
# What of it a build is said to have been made with.
MATERIALS := $(PACKAGES)

# What a target needs beside them. A call with several targets installs what all of them need, before the first one begins: "packages"
# runs once.
# test: manual pages and completions are checked with other programs, proxies ask the relay, PostgreSQL holds the store.
NEEDS_test = groff mandoc zsh fish nginx caddy squid tinyproxy microsocks libnss-wrapper postgresql pgbouncer
NEEDS_test-tsan = $(NEEDS_test)
NEEDS_test-asan = $(NEEDS_test)
NEEDS_test-crash = postgresql
NEEDS_test-fleet = postgresql faketime
NEEDS_soak-fleet = postgresql
NEEDS_night = $(NEEDS_test) $(NEEDS_test-fleet)
NEEDS_bench = nghttp2-client wrk postgresql sqlite3
NEEDS_bench-api = wrk nginx
NEEDS_deb = dpkg-dev
NEEDS_image = dpkg-dev mmdebstrap jq
NEEDS_test-image = $(NEEDS_image) umoci skopeo oci-image-tool crun docker-compose postgresql podman
NEEDS_release = $(NEEDS_deb) $(NEEDS_image)
NEEDS_verify-release = $(NEEDS_release) diffoscope-minimal
NEEDS_sign = minisign
NEEDS_test-reproducible = $(NEEDS_release) diffoscope-minimal disorderfs
NEEDS_check-release = $(NEEDS_release) python3-venv lintian devscripts
NEEDS_check-metrics = prometheus
NEEDS_test-api = python3-venv
NEEDS_test-interop = python3-venv
NEEDS_test-page = python3-venv chromium chromium-driver fonts-noto-cjk postgresql
PACKAGES += $(sort $(foreach target,$(MAKECMDGOALS),$(NEEDS_$(target))))

# The Swift runtime goes into the binary, so that it runs where no toolchain is installed.
# Every symbol is bound at the start, so that the table of them is read-only from then on (dpkg-buildflags, "bindnow"). No library is
# looked for beside the binary.
# The folder's name is nowhere in it, nor are the places of the compiler's caches in its debug symbols: two folders make the same
# binary, but for what etc/release/binary puts right.
RELEASE  := -c release --static-swift-stdlib --disable-local-rpath \
            -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now -Xlinker --build-id=sha1 \
            -Xswiftc -file-prefix-map -Xswiftc $(CURDIR)=. -Xswiftc -debug-prefix-map -Xswiftc $(CURDIR)=. -Xcc -ffile-prefix-map=$(CURDIR)=. \
            -Xswiftc -Xfrontend -Xswiftc -no-clang-module-breadcrumbs
BINARY    = .build/release/upgrade-relay
# "make deb BINARY=file", and so on, packs one that was built before.
BUILT     = $(if $(filter file,$(origin BINARY)),build,packages)
MANUAL    = .build/man

# Every module instrumented, with address sanitizer; gold cannot link that, lld can. The tests' view of the modules
# (-enable-testing) reaches the parsers that no other module sees.
FUZZ_SECONDS ?= 600
FUZZ         ?=
FUZZ_BINARY   = .build/fuzz/release/fuzz
FUZZ_BUILD    = UPGRADE_RELAY_FUZZ=1 $(SWIFT) build -c release --scratch-path .build/fuzz --product fuzz \
                -Xswiftc -sanitize=fuzzer,address -Xswiftc -use-ld=lld -Xswiftc -enable-testing

.DEFAULT_GOAL := help
.PHONY: help packages build install clean lint openapi demo night
.PHONY: test test-tsan test-asan test-crash test-fleet test-idle test-allocations test-api test-interop test-page test-service
.PHONY: simulate mutants mutate fuzz fuzz-keep soak soak-fleet check-metrics
.PHONY: bench bench-api measure-maintenance
.PHONY: deb image test-image release verify-release sign test-reproducible check-release

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: build ## the whole job on this machine: DEVICES=10000 phones, a simulated push service, figures that must add up
	$(BINARY) demo --devices $(DEVICES)

build: packages ## the release binary, .build/release/upgrade-relay, and its manual pages
	$(SWIFT) build $(RELEASE) --product upgrade-relay
	$(SWIFT) build $(RELEASE) --product manual
	.build/release/manual $(MANUAL)

test: packages ## all tests: rules, machines, store, HTTP/2, API, and the real binary end to end
	$(SWIFT) build --build-tests
	$(SWIFT) test --skip-build

# SEED=n tells one seed again, as a story; SCRIPT=file a kept one; SIMULATE="--length 300" and whatever else simulate takes. JOBS=n
# processes share the seeds, as many as there are cores; what they find is the same with any number of them.
SEEDS ?= 1000
JOBS  ?= $(shell nproc)
simulate: packages ## the real relay in a world of seeds: SEEDS=1000 histories of people, faults and kills, held to a model
	$(SWIFT) build $(RELEASE) --product simulate
	.build/release/simulate --known Tests/Simulation/Known --jobs $(JOBS) \
	    $(if $(SCRIPT),--script $(SCRIPT),$(if $(SEED),--seed $(SEED),--seeds $(SEEDS))) $(SIMULATE)

# SEEDS=3000 at most for each; ONLY=12,13 some of them; JOBS=n at a time (default: the cores); BASE=n the first seed; ANEW=1 forgets what was found
# before; TESTS=1 holds those that no seed finds against the tests of their rooms; WRITE=1 puts the tables into Tests/Simulation/README.md.
MUTANTS = $(SWIFT) build --product mutants && .build/debug/mutants
MUTANT_OPTIONS = --swift $(SWIFT) $(if $(filter command environment,$(firstword $(origin SEEDS))),--seeds $(SEEDS)) $(if $(JOBS),--jobs $(JOBS)) \
                 $(if $(BASE),--base $(BASE)) $(if $(ONLY),--only $(ONLY)) $(if $(ANEW),--anew) $(if $(TESTS),--tests)
mutants: packages ## each fault of Tests/Simulation/Mutants in one binary, against SEEDS=3000 fresh seeds: exit code 1 where one lives
	$(MUTANTS) patches $(MUTANT_OPTIONS) $(if $(WRITE),--write)

# DRAW=n draws others; ROOMS=FanOut,StoreSQL of some rooms.
mutate: packages ## SAMPLE=200 faults that rules make, against unit tests, conformance and SEEDS=500: a table of what lives; takes a night
	$(MUTANTS) sample $(MUTANT_OPTIONS) $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(DRAW),--draw $(DRAW)) $(if $(ROOMS),--rooms $(ROOMS))

fuzz: packages ## libFuzzer over every parser that meets foreign bytes, FUZZ_SECONDS=600 of CPU each; FUZZ="json version" for some
	$(FUZZ_BUILD)
	Tests/Fuzz/fuzz.sh run $(FUZZ_BINARY) .build/fuzz/work $(FUZZ_SECONDS) $(FUZZ)

fuzz-keep: packages ## take the fewest inputs that reach what "make fuzz" reached into Tests/Fuzz/Corpus
	$(FUZZ_BUILD)
	Tests/Fuzz/fuzz.sh keep $(FUZZ_BINARY) .build/fuzz/work $(FUZZ)

test-tsan: packages ## the same under Thread Sanitizer
	SWIFT=$(SWIFT) .ci/sanitize thread

test-asan: packages ## the same under Address Sanitizer, with leaks
	SWIFT=$(SWIFT) .ci/sanitize address

soak: build ## SOAK_PUSHES=1000000 under every fault, with kills: nothing lost, memory and descriptors flat; takes minutes
	$(SWIFT) build --build-tests
	SOAK_PUSHES=$(SOAK_PUSHES) RELAY_BINARY=$(CURDIR)/$(BINARY) \
	    $(SWIFT) test --skip-build --filter 'SoakTests/soak'

# CRASH_SEED=n repeats a run.
test-crash: packages ## kills of the daemon and of its database at random moments: a campaign of 100,000 and 24 kills, imports, migrations
	$(SWIFT) build --build-tests
	CRASH_DEVICES=100000 CRASH_KILLS=24 STORE_FAULTS=all TRANSFERS=all $(SWIFT) test --skip-build \
	    --filter 'Crashed|StoreFaultTests|TransferTests|DiskTests|FullServerTests'

# PARTS="seeds fuzz" runs some of them; the list is in .ci/night.
MINUTES ?= 480
night: packages ## what runs each night, one after the other, in MINUTES=480: seeds, sanitizers, fuzzers, kills, the soak; one table at the end
	SWIFT=$(SWIFT) MAKE=$(MAKE) .ci/night $(MINUTES) $(PARTS)

test-fleet: packages ## two and three real relays on one database: kills, suspensions, cuts, clocks, failover; the push service's record is the judge
	$(SWIFT) build --build-tests
	FLEET=all FLEET_FAULTS=6 $(SWIFT) test --skip-build --filter 'RelayFleetTests|RelaySoakTests'

# FLEET_SEED=n repeats a run's faults.
soak-fleet: packages ## FLEET_FAULTS=400 faults, one after the other, on three relays and their database; takes about an hour
	$(SWIFT) build --build-tests
	FLEET_FAULTS=$(or $(FLEET_FAULTS),400) FLEET_DEVICES=$(or $(FLEET_DEVICES),100000) \
	    $(SWIFT) test --skip-build --filter 'RelaySoakTests'

openapi: packages ## the OpenAPI document, Sources/C/COpenAPI/openapi.json, of routes, shapes and the texts in etc/openapi
	$(SWIFT) build --product openapi
	.build/debug/openapi etc/openapi/text Sources/C/COpenAPI/openapi.json

lint: ## formatting and style, as strict as they come
	$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources etc/manual etc/openapi Tests

# What the figures are is said where they are measured, in Tests/Benchmarks; "relay-bench --help" lists the sizes.
bench: build ## transport beside h2load, whole way, late answers, imports, both stores, restart, API; BENCH="--devices 5000000" for other sizes
	$(SWIFT) build $(RELEASE) --product relay-bench
	.build/release/relay-bench --json $(or $(BENCH_JSON),.build/bench.json) $(BENCH)

test-allocations: build ## malloc calls for each push, in the optimised build; fails at 0.2
	$(SWIFT) build $(RELEASE) --product relay-bench
	.build/release/relay-bench --only transport --runs 1 --pushes 100000 --streams 100,1000

bench-api: build ## requests per second and CPU per request of what apps ask, at 1, 64 and 512 connections, in turns with nginx
	Tests/Load/api-load.sh $(BINARY)

test-idle: packages ## 10,000 idle connections, and the API still answers (needs a hard limit of 20,500 open files)
	$(SWIFT) build --build-tests
	IDLE_CONNECTIONS=10000 $(SWIFT) test --skip-build --filter idleFlood

# Builds only where nothing was built: root, who installs, need not have the toolchain in the path.
$(BINARY):
	$(MAKE) build

measure-maintenance: packages ## what backup, check and pruning cost a fan-out, in a store of MAINTENANCE_DEVICES=1000000
	MAINTENANCE_DEVICES=$(or $(MAINTENANCE_DEVICES),1000000) $(SWIFT) test --filter StoreMaintenanceFigures

install: $(BINARY) ## what "make build" made, into DESTDIR and PREFIX (default /usr/local)
	@ls $(MANUAL)/*.1 > /dev/null 2>&1 || { echo 'no manual pages in $(MANUAL): "make build" makes them; MANUAL=folder names others' >&2; exit 1; }
	install -D -m 0755 $(BINARY) $(DESTDIR)$(PREFIX)/bin/upgrade-relay
	$(STRIP) $(DESTDIR)$(PREFIX)/bin/upgrade-relay
	install -D -m 0644 etc/config.json5 $(SHARE)/upgrade-relay/config.json5
	install -D -m 0644 etc/expert.json5 $(SHARE)/upgrade-relay/expert.json5
	[ -e $(DESTDIR)/etc/upgrade-relay/config.json5 ] \
	    || install -D -m 0644 etc/config.json5 $(DESTDIR)/etc/upgrade-relay/config.json5
	install -d -m 0700 $(DESTDIR)/etc/upgrade-relay/secrets
	install -d $(UNITDIR)
	sed 's|/usr/bin/upgrade-relay|$(PREFIX)/bin/upgrade-relay|' systemd/upgrade-relay.service \
	    > $(UNITDIR)/upgrade-relay.service
	install -m 0644 systemd/upgrade-relay.socket systemd/upgrade-relay-control.socket systemd/upgrade-relay-backup.timer \
	    $(UNITDIR)
	sed 's|/usr/bin/upgrade-relay|$(PREFIX)/bin/upgrade-relay|' systemd/upgrade-relay-backup.service \
	    > $(UNITDIR)/upgrade-relay-backup.service
	install -D -m 0644 -t $(SHARE)/doc/upgrade-relay/examples systemd/notify-reload.conf systemd/without-sockets.conf \
	    etc/prometheus/upgrade-relay.rules.yml etc/prometheus/METRICS.md etc/grafana/upgrade-relay.json
	install -m 0644 etc/*.md $(SHARE)/doc/upgrade-relay
	install -d $(SHARE)/bash-completion/completions $(SHARE)/zsh/vendor-completions \
	    $(SHARE)/fish/vendor_completions.d $(SHARE)/man/man1 $(SHARE)/man/man5 $(SHARE)/man/man8
	install -m 0644 etc/completions/upgrade-relay.bash $(SHARE)/bash-completion/completions/upgrade-relay
	install -m 0644 etc/completions/_upgrade-relay $(SHARE)/zsh/vendor-completions
	install -m 0644 etc/completions/upgrade-relay.fish $(SHARE)/fish/vendor_completions.d
	install -m 0644 -t $(SHARE)/man/man1 $(MANUAL)/*.1
	install -m 0644 -t $(SHARE)/man/man5 $(MANUAL)/*.5
	sed 's|/usr/share|$(PREFIX)/share|' etc/man/upgrade-relay.service.8 > $(SHARE)/man/man8/upgrade-relay.service.8

deb: $(BUILT) ## a Debian package of it, and one of its debug symbols, in .build/deb
	MAKE=$(MAKE) etc/debian/build $(BINARY) .build/deb

# What the image is made of comes from Debian by apt; MIRROR=file, a sources.list, takes it from a snapshot of an earlier day.
image: $(BUILT) ## an OCI image of it, without a container tool, in .build/image: for docker load, podman load, skopeo
	etc/image/build $(BINARY) .build/image

# LIBRARIES=folder of a binary that was not linked for release.
test-image: image ## the image: validators, a look into it, runs without any rights under crun with a push to the simulator, its guide by podman
	Tests/Image/run .build/image $(LIBRARIES)
	Tests/Image/guide .build/image $(LIBRARIES)

# SOURCE_URL=URI is where the source lies, BUILDER=URI who builds: for the statement of provenance.
release: deb image ## both with their SBOMs, where they come from, and SHA256SUMS, in .build/dist
	BUILD_PACKAGES='$(MATERIALS)' etc/release/collect .build/deb .build/image .build/dist

verify-release: release ## compare FILE=download, of the same version, with what this tree makes
	etc/release/verify '$(FILE)' .build/dist

# No key is kept here: KEY is a file that "minisign -G -s KEY" made.
sign: packages ## sign what "make release" wrote with the minisign key KEY=file
	etc/release/sign '$(KEY)' .build/dist

# BINARY=file MANUAL=folder leave out the compiler.
test-reproducible: packages ## everything twice, from two folders, with another umask, zone, locale, order of files: the same bytes
	Tests/Reproducible/run $(if $(filter file,$(origin BINARY)),,$(BINARY) $(MANUAL))

# From PyPI: the reader of SPDX's own project, and in-toto's.
check-release: release ## lintian, hardening-check, the validators of SPDX and in-toto, and whether the SBOMs have each library
	[ -e .build/statements/ready ] || { python3 -m venv .build/statements \
	    && .build/statements/bin/pip install --quiet spdx-tools==0.8.5 in-toto-attestation==0.9.3 && touch .build/statements/ready; }
	Tests/Release/run .build/dist .build/statements

check-metrics: packages ## Prometheus' own promtool over the alerts, their tests, and what a real daemon shows
	promtool check rules etc/prometheus/upgrade-relay.rules.yml
	promtool test rules etc/prometheus/upgrade-relay.rules.test.yml
	$(SWIFT) build --build-tests
	$(SWIFT) test --skip-build --filter 'MetricsTests'

# From PyPI, into a folder of its own; everything else stays on loopback.
API_CASES ?= 10000
test-api: packages ## schemathesis over the API of a real daemon: API_CASES=10000 requests made from openapi.json; takes minutes
	$(SWIFT) build --product upgrade-relay
	[ -x .build/schemathesis/bin/schemathesis ] || { python3 -m venv .build/schemathesis \
	    && .build/schemathesis/bin/pip install --quiet schemathesis==4.32.5; }
	Tests/API/run .build/debug/upgrade-relay .build/schemathesis $(API_CASES)

# Other people's clients, from PyPI as well.
test-interop: packages ## a client made of openapi.json, Standard Webhooks, aioapns, firebase-admin and Google's discovery documents, against a real daemon
	$(SWIFT) build --product upgrade-relay
	[ -e .build/interop/ready ] || { python3 -m venv .build/interop \
	    && .build/interop/bin/pip install --quiet -r Tests/Interop/requirements.txt && touch .build/interop/ready; }
	Tests/Interop/run .build/debug/upgrade-relay .build/interop

# From PyPI as well; the second one carries axe-core, and Playwright, which it asks for, is not needed.
test-page: packages ## the page in a real browser: every action, access, live parts, axe; PAGE="test_live" for some; pictures in .build/page-screenshots
	$(SWIFT) build --product upgrade-relay
	[ -e .build/page-tests/ready ] || { python3 -m venv .build/page-tests \
	    && .build/page-tests/bin/pip install --quiet selenium==4.51.0 \
	    && .build/page-tests/bin/pip install --quiet --no-deps axe-playwright-python==0.1.8 && touch .build/page-tests/ready; }
	rm -rf .build/page-screenshots
	PAGE_SCREENSHOTS=.build/page-screenshots Tests/Page/run .build/debug/upgrade-relay .build/page-tests $(PAGE)

test-service: ## the package in a Debian that systemd boots: start, reload, restart under load, watchdog, upgrade, purge
	SWIFT=$(SWIFT) Tests/Service/run

clean: ## forget everything that was built
	rm -rf .build

# Asks dpkg first, so that a machine that has everything needs neither network nor root. No service is started by what is
# installed (invoke-rc.d(8), policy-rc.d): the tests run their own proxies.
packages:
	@missing=; for package in $(PACKAGES); do \
	    dpkg-query -W -f '$${Status}' $$package 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$package"; \
	done; \
	[ -z "$$missing" ] && exit 0; \
	echo "installing$$missing"; \
	root=; [ "$$(id -u)" = 0 ] || root=sudo; \
	policy=/usr/sbin/policy-rc.d; [ -e $$policy ] && policy= || { \
	    printf '#!/bin/sh\nexit 101\n' | $$root tee $$policy > /dev/null && $$root chmod 755 $$policy; }; \
	$$root apt-get update -q && $$root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $$missing; \
	status=$$?; [ -z "$$policy" ] || $$root rm -f $$policy; exit $$status
