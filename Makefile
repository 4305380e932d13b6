# The few commands a newcomer needs; `make help` lists them.

SWIFT ?= swift
# Tests run optimised: byte code is 14 to 45 times slower without.
TEST_FLAGS ?= -c release --disable-xctest
KVINSPECT = .build/release/kvinspect
# Static, stripped, so that a whole process starts in under a millisecond. The linker's only warning,
# about dlopen in a static program, concerns nothing that is called here.
STATIC_FLAGS = -c release --product kvinspect -Xswiftc -static-executable -Xlinker -s
STORE ?= build/memos.kv
COUNT ?= 200
FORMATTED = Sources Tools Tests Package.swift Benchmarks/Sources Benchmarks/Package.swift

# Sizes of the benchmarks: see Benchmarks/README.md.
MEMOBENCH = Benchmarks/.build/release/memobench
BENCH_FLAGS ?=

.PHONY: help run test test-alone sanitize test-build lint format kvinspect setup clean
.PHONY: memobench bench bench-quick bench-life bench-ci bench-bounds apple-check docs api-check proof
.PHONY: coverage planted-faults

help:
	@echo 'make run             build kvinspect, import memos, print the newest $(COUNT)'
	@echo 'make run FILE=F      the same with the memos of F (JSON Lines, - is standard input)'
	@echo 'make test            run all tests'
	@echo 'make test-alone      run the tests without liblz4, as apps get the package'
	@echo 'make sanitize        run the tests under the thread and the address sanitizer'
	@echo 'make proof HOURS=5   crashes, faults, damage and models with new seeds for some hours'
	@echo 'make coverage        what the tests do not reach'
	@echo 'make planted-faults  which tests notice deliberate mistakes in the engine'
	@echo 'make lint            check the format of the sources'
	@echo 'make apple-check     type-check everything for iOS and macOS, without a Mac'
	@echo 'make docs            build the documentation: build/docs'
	@echo 'make api-check       compare the public interface with the one of the last release'
	@echo 'make kvinspect       build the tool alone: $(KVINSPECT)'
	@echo 'make bench           measure MemoKV and its peers with 1,000,000 memos (installs the peers)'
	@echo 'make bench-life      bytes that reach the device in the life of an app (as root)'
	@echo 'make bench-quick     the same with 100,000 memos and few samples'
	@echo 'make bench-ci        fail when a start, a ratio or a count of instructions passes its bound'
	@echo 'make bench-bounds    count the instructions and write the bounds anew'

# liblz4 is the only thing the package needs beside a Swift toolchain.
setup:
	@test -f /usr/include/lz4.h || Tools/install-liblz4.sh

kvinspect: setup
	@$(SWIFT) build $(STATIC_FLAGS) 2>&1 | grep -v 'dlopen' | tail -n 1
	@test -x $(KVINSPECT)

# Without FILE the memos are this repository's own history: one memo a commit.
run: kvinspect
	@mkdir -p $(dir $(STORE))
	@rm -rf $(STORE)
ifdef FILE
	$(KVINSPECT) import $(STORE) $(FILE)
else
	Tools/history-as-memos.sh | $(KVINSPECT) import $(STORE) -
endif
	$(KVINSPECT) latest $(STORE) $(COUNT)

memobench: setup
	@Benchmarks/install-peers.sh
	@$(SWIFT) build -c release --static-swift-stdlib --package-path Benchmarks 2>&1 | tail -n 1
	@test -x $(MEMOBENCH)

bench: kvinspect memobench
	$(MEMOBENCH) --minutes 12 --html build/bench.html --goals build/bench.md $(BENCH_FLAGS)

bench-quick: kvinspect memobench
	$(MEMOBENCH) --count 100000 --quick $(BENCH_FLAGS)

bench-ci: kvinspect memobench
	$(MEMOBENCH) --gates

bench-bounds: kvinspect memobench
	$(MEMOBENCH) --write-bounds

# Bytes that reach the device, with a device of its own: needs root.
bench-life: memobench
	Benchmarks/with-own-device.sh $(MEMOBENCH) --filter life --folder @ $(BENCH_FLAGS)

test: setup
	$(SWIFT) test $(TEST_FLAGS)

# Under a sanitizer everything takes five to ten times as long, so enumerations take a part, and only
# those tests run in which it can find something: what reads hostile bytes for the address sanitizer,
# what has threads for the other. Leaks are not looked for: Foundation's Process, Pipe and Data, which
# only tests use, have some. The address sanitizer looks at what apps get: without liblz4, whose place
# our own code takes, so it needs no setup.
sanitize: sanitize-thread sanitize-address

SANITIZE_FLAGS = $(TEST_FLAGS) --sanitize=$* --scratch-path .build-$* $(FLAGS_OF_$*)
SANITIZE = $(KIND_OF_$*) $(SWIFT) test
FLAGS_OF_address = --disable-default-traits
KIND_OF_address = MEMOKV_TEST_TARGETS=LZ4BlocksTests,KVDurabilityTests
# Compiling the tests optimised takes minutes, and is worth it only for the slower sanitizer.
KIND_OF_thread = MEMOKV_OPTIMIZED_TESTS=1 MEMOKV_STRESS_SECONDS=60 \
  MEMOKV_TEST_TARGETS=KVEngineTests,KVDurabilityTests,MemoHistoryTests,KVInspectTests

sanitize-thread: setup

# Reports come last, where a log that is cut at its beginning still has them.
sanitize-%:
	@rm -f .build-$*/report.*; mkdir -p .build-$*
	ASAN_OPTIONS=detect_leaks=0:log_path=$(CURDIR)/.build-$*/report \
	TSAN_OPTIONS=log_path=$(CURDIR)/.build-$*/report MEMOKV_TESTS=quick \
	$(SANITIZE) $(SANITIZE_FLAGS) || { cat .build-$*/report.* 2>/dev/null; exit 1; }

# Can be interrupted and started again: see Tools/proof.sh.
HOURS ?= 5
proof: setup
	Tools/proof.sh $(HOURS)

# Some minutes each: see the scripts.
coverage planted-faults: setup
	Tools/$@.sh

# What apps get: no C library, no trait. At least a quarter of each enumeration: what the codec has to
# do with it is soon seen.
test-alone:
	MEMOKV_TESTS=quarter $(SWIFT) test $(TEST_FLAGS) --disable-default-traits --scratch-path .build-alone

# Listing tests builds them; with -j the builds share the cores.
test-build: setup
	$(SWIFT) test list $(TEST_FLAGS) >/dev/null

test-build-thread: setup

test-build-%:
	$(SANITIZE) list $(SANITIZE_FLAGS) >/dev/null

lint:
	$(SWIFT) format lint --strict --recursive --parallel $(FORMATTED)

# The second call plants mistakes and fails when they are not found.
apple-check:
	@Tools/apple-typecheck
	@Tools/apple-typecheck --self-test

docs: kvinspect
	@Tools/build-docs.sh

api-check: setup
	@tag=$$(git describe --tags --abbrev=0 2>/dev/null) || tag=; \
	if [ -z "$$tag" ]; then echo 'no tag yet, so no interface to keep'; \
	else $(SWIFT) package diagnose-api-breaking-changes "$$tag"; fi

format:
	$(SWIFT) format --in-place --recursive --parallel $(FORMATTED)

clean:
	rm -rf .build .build-* build Benchmarks/.build
