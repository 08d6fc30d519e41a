# .ci/run calls the same targets.
GO          ?= go
STATICCHECK ?= honnef.co/go/tools/cmd/staticcheck@v0.8.2
CYCLONEDX   ?= github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.9.0
GOVULNCHECK ?= golang.org/x/vuln/cmd/govulncheck@v1.1.4
FUZZTIME    ?= 10s
BENCH       ?= .
BENCHTIME   ?= 1s
STEPS       ?= 1000
QUESTIONS   ?= 10000
EVENTS      ?= 10000
# What runs goroutines: the rest would only slow the race detector down.
RACE        ?= ./index/... ./embedder/... ./worker/... ./internal/...
# The trainer of the built-in model, a module of its own.
TRAINER     ?= embedder/builtin/training
# The files with tests that go test ./... leaves out or shortens.
LONG         = $(shell grep -rl --include='*_test.go' -e 'testlong[.]' -e newMachine ./cmd ./internal)
# The files with tests against the real Ollama.
REAL         = $(shell grep -rl --include='*_test.go' -e 'ollamatest[.]Start' ./embedder ./internal)
# A pattern of the tests in files.
tests        = ^($(shell grep -hoE '^func Test[A-Za-z0-9_]+' $(1) | cut -c6- | paste -sd'|'))$$
# Where the real Ollama of the tests is built; git ignores it.
OLLAMA      ?= $(CURDIR)/.build/ollama
REPOS       ?=
TREE        ?=
SET         ?=
SETS        ?= $(SET)
OUT         ?=
ONLY        ?=
ANSWERS     ?=
# Runs programs of another processor; Debian and Ubuntu have it in qemu-user-static.
QEMU        ?= $(shell command -v qemu-aarch64 || command -v qemu-aarch64-static)

.DEFAULT_GOAL := help
.PHONY: help build test long trainer race lint cross emulate bench bench-code bench-adapt rivals eval e2e torture busy hooks damage fuzz agents agentlogs browser screenshots conformance team openapi golden ollama test-ollama ci clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/recalld
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/ ./cmd/recalld

test: ## run every test that needs only Go
	$(GO) test ./...

trainer: ## build, check and test the module of the trainer, which go test ./... does not see
	cd $(TRAINER) && $(GO) build ./... && $(GO) vet ./... && $(GO) run $(STATICCHECK) ./... && $(GO) mod tidy -diff && $(GO) test ./...

race: ## run the tests under the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race -timeout 45m $(RACE)

long: ## run the long tests: kills, full disks, random steps, and all of e2e
	RECALLD_TEST_LONG=1 $(GO) test -count 1 -timeout 45m -run "$(call tests,$(LONG))" $(sort $(dir $(LONG)))

lint: ## gofmt, go vet, staticcheck
	@test -z "$$(gofmt -l .)" || { echo "not formatted (gofmt -w them):"; gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

cross: ## build for every supported platform
	@for target in linux/amd64 linux/arm64 darwin/arm64 windows/amd64; do \
		echo "build for $$target"; \
		CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} $(GO) build -o /dev/null ./cmd/recalld || exit 1; \
	done
	@for os in darwin windows; do \
		echo "vet for $$os"; CGO_ENABLED=0 GOOS=$$os GOARCH=arm64 $(GO) vet ./... || exit 1; \
	done

emulate: ## compare the vectors of linux/arm64, under QEMU, with the golden files
	@if test -n "$(QEMU)"; then \
		echo "embed for linux/arm64 under $(QEMU)"; \
		CGO_ENABLED=0 GOOS=linux GOARCH=arm64 $(GO) test -count 1 -exec '$(QEMU)' -run 'Golden|Conformance|Vector' \
			./embedder/builtin ./embedder/builtin/table; \
	else echo "not checked: the vectors of linux/arm64, for want of QEMU (package qemu-user-static)"; fi

bench: ## run the benchmarks matching BENCH, BENCHTIME each
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) -p 1 -timeout 60m ./...

bench-code: ## measure indexing of real git repositories: make bench-code REPOS=dir:dir
	@test -n "$(REPOS)" || { echo "REPOS names git repositories, in the manner of PATH"; exit 2; }
	RECALLD_BENCH_REPOS=$(REPOS) $(GO) test -run '^$$' -bench 'CodeBases|IndexStages' -benchtime 1x -timeout 60m ./cmd/recalld

bench-adapt: ## measure adapting the built-in model: make bench-adapt REPOS=dir:dir
	@test -n "$(REPOS)" || { echo "REPOS names folders, in the manner of PATH"; exit 2; }
	RECALLD_BENCH_REPOS=$(REPOS) $(GO) test -run '^$$' -bench 'Adapt$$' -benchtime 1x -timeout 60m ./cmd/recalld

rivals: build ## compare recalld with the code search tools of this machine: make rivals [TREE=folder of Go code]
	cd $(TRAINER) && $(GO) run ./rivals -recalld $(CURDIR)/bin/recalld -tree $(or $(TREE),$(shell $(GO) env GOROOT)/src)

eval: build ## measure recall on data sets: make eval SETS="folder folder" [ANSWERS=1] [OUT=file, of several sets a folder]
	@test -n "$(SETS)" || { echo "SETS names folders with corpus.jsonl, queries.jsonl and qrels.tsv"; exit 2; }
	bin/recalld eval $(addprefix --set ,$(SETS)) $(if $(ANSWERS),--answers) $(if $(OUT),--out $(OUT))

e2e: ## test the built program from outside, as a person and as an MCP client (part of long)
	RECALLD_TEST_LONG=1 $(GO) test -count 1 -run E2E -timeout 10m ./cmd/recalld

torture: ## make STEPS random changes to a repository during recalls, under the race detector
	RECALLD_TORTURE=$(STEPS) CGO_ENABLED=1 $(GO) test -race -count 1 -run '^TestTorture$$' -timeout 60m ./internal/daemon

busy: ## ask QUESTIONS times during a start while all cores are busy
	RECALLD_BUSY=$(QUESTIONS) $(GO) test -count 1 -run '^TestBusyStart$$' -v -timeout 60m ./internal/daemon

hooks: ## send EVENTS by hooks, six at a time, while the daemon is stopped, frozen and killed
	RECALLD_TEST_LONG=1 RECALLD_HOOK_EVENTS=$(EVENTS) $(GO) test -count 1 -run '^TestE2EHooksLoseNothing$$' -v -timeout 60m ./cmd/recalld

damage: ## damage stores in every known way, open and repair them
	RECALLD_TEST_DAMAGE=1 $(GO) test -count 1 -run '^TestDamageTable$$' -v -timeout 30m ./internal/store

fuzz: ## fuzz every parser of foreign input, FUZZTIME each
	@{ $(GO) list -f '{{.Dir}}' ./...; cd $(TRAINER) && $(GO) list -f '{{.Dir}}' ./...; } | while read -r dir; do \
		grep -hso '^func Fuzz[A-Za-z0-9_]*' "$$dir"/*_test.go | while read -r _ name; do \
			echo "$$dir $$name"; \
			(cd "$$dir" && $(GO) test -run '^$$' -fuzz "^$$name$$" -fuzztime $(FUZZTIME) .) || exit 1; \
		done || exit 1; \
	done

agents: ## drive real coding agents from npm through whole turns and write the table in docs/agents.md: make agents [ONLY=codex]
	RECALLD_TEST_AGENTS=$(or $(ONLY),all) $(if $(ONLY),,RECALLD_AGENTS_TABLE=docs/agents.md) $(GO) test -count 1 -run '^(TestAgents|TestCompaction)$$' -v -timeout 30m ./bench/agents

agentlogs: ## make 300 logs of real sessions of six agents, 126 MB in all, and import them
	RECALLD_TEST_AGENTLOGS=1 $(GO) test -count 1 -run '^TestAgentLogs$$' -v -timeout 30m ./bench/agents

team: ## share lessons over real PostgreSQL servers, killed and replaced (needs Debian's package postgresql)
	RECALLD_TEST_POSTGRES=$(or $(POSTGRES),1) $(GO) test -count 1 -timeout 15m ./internal/team

openapi: ## check the description of the HTTP API with an independent validator, and call the daemon by a client that an outside generator makes
	RECALLD_TEST_OPENAPI=1 $(GO) test -count 1 -run '^TestGeneratedClient$$' -v -timeout 15m ./bench/agents

conformance: ## run the Model Context Protocol's own suite, from npm, against a daemon
	RECALLD_TEST_CONFORMANCE=1 $(GO) test -count 1 -run '^TestConformance$$' -v -timeout 15m ./bench/agents

browser: ## drive the web page in a real Chromium: every page, changes, axe (from npm), attacks of foreign pages
	RECALLD_TEST_BROWSER=1 $(GO) test -count 1 -timeout 15m ./bench/browser

screenshots: ## write pictures of every page, at three widths, light and dark: make screenshots [OUT=bin/screenshots]
	RECALLD_TEST_BROWSER=1 RECALLD_SCREENSHOTS=$(abspath $(or $(OUT),bin/screenshots)) $(GO) test -count 1 -timeout 15m -run '^TestScreenshots$$' -v ./bench/browser

secrets: ## plant 500 secrets of 40 kinds, and count what is found, missed and a false alarm
	RECALLD_TEST_LONG=1 $(GO) test -count 1 -run '^(TestCorpus|TestFalseAlarms)$$' -v ./internal/redact

licenses: ## compare the licences of all modules in the program with docs/licenses.csv
	$(GO) test -count 1 -run License .

sbom: build ## write the modules in bin/recalld as bin/recalld.cdx.json (CycloneDX)
	$(GO) run $(CYCLONEDX) bin -json -output bin/recalld.cdx.json bin/recalld

# The second build is made in a copy, in a folder with another name, and compiles everything
# anew. It has no commit to name, so neither names one.
reproducible: ## build twice, in two folders and with two caches, and compare the bytes
	@dir=$$(mktemp -d) && trap 'chmod -R u+w "$$dir"; rm -rf "$$dir"' EXIT && mkdir "$$dir/another-folder" && \
	git ls-files -z --cached --others --exclude-standard | xargs -0 tar -cf - | tar -xf - -C "$$dir/another-folder" && \
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -o "$$dir/one" ./cmd/recalld && \
	(cd "$$dir/another-folder" && GOCACHE="$$dir/cache" CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -o "$$dir/two" ./cmd/recalld) && \
	cmp "$$dir/one" "$$dir/two" && echo "two builds have the same bytes"

# An answer that there are vulnerabilities fails; that there is no answer is said.
vulncheck: ## compare the program with the Go vulnerability database, if it can be reached
	@out=$$($(GO) run $(GOVULNCHECK) ./cmd/recalld 2>&1); code=$$?; echo "$$out"; \
	if test $$code -ne 0 && echo "$$out" | grep -q 'fetching vulnerabilities:'; then \
		echo "not checked: known vulnerabilities, for want of https://vuln.go.dev"; \
	else exit $$code; fi

golden: ## rewrite the golden files; read the difference before you commit it
	$(GO) test $$(grep -rlE --include='*_test.go' 'flag.Bool\("update"|testkit/golden"' . | grep -v '/training/' | xargs -n1 dirname | sort -u) -update

ollama: ## build the real Ollama and a tiny model for the tests (minutes, once); it says what to set
	embedder/ollama/ollamatest/build.sh $(OLLAMA)

test-ollama: ## run the tests that need the real Ollama, after make ollama
	RECALLD_TEST_OLLAMA=$(OLLAMA) $(GO) test -count 1 -timeout 30m -run "$(call tests,$(REAL))" $(sort $(dir $(REAL)))

ci: ## run every check, from a bare machine on
	.ci/run

clean: ## remove what was built
	rm -rf bin .build
