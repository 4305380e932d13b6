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

.PHONY: help run test lint format kvinspect setup clean

help:
	@echo 'make run             build kvinspect, import memos, print the newest $(COUNT)'
	@echo 'make run FILE=F      the same with the memos of F (JSON Lines, - is standard input)'
	@echo 'make test            run all tests'
	@echo 'make lint            check the format of the sources'
	@echo 'make kvinspect       build the tool alone: $(KVINSPECT)'

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

test: setup
	$(SWIFT) test $(TEST_FLAGS)

lint:
	$(SWIFT) format lint --strict --recursive --parallel Sources Tools Tests Package.swift

format:
	$(SWIFT) format --in-place --recursive --parallel Sources Tools Tests Package.swift

clean:
	rm -rf .build build
