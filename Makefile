# .ci/run calls the same targets.
GO          ?= go
STATICCHECK ?= honnef.co/go/tools/cmd/staticcheck@v0.8.2
CYCLONEDX   ?= github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.9.0
GORELEASER  ?= github.com/goreleaser/goreleaser/v2@v2.15.1
GOVULNCHECK ?= golang.org/x/vuln/cmd/govulncheck@v1.1.4
FUZZTIME    ?= 10s
SHARES      ?=
BENCH       ?= .
BENCHTIME   ?= 1s
STEPS       ?= 1000
HOURS       ?= 0.05
CUTS        ?= 100
DAMAGES     ?= 600
QUESTIONS   ?= 10000
EVENTS      ?= 10000
DAYS        ?= 7
DAY         ?= 60s
CLIENTS     ?= 64
MINUTES     ?= 10
SIZES       ?= 1000 10000 100000 1000000
# The packages that start goroutines, in their code or their tests: the race detector would
# only slow the rest down. Tests of these packages that have no concurrency leave themselves
# out, by testkit/underrace.
STARTS       = '[.]Go[(]|\<go (func|[a-z][A-Za-z.]*)[(]'
RACE        ?= $(sort $(dir $(shell grep -rlE --include='*.go' $(STARTS) ./index ./embedder ./worker ./internal | grep -v /training/)))
# The slowest packages. go test starts packages in the order given, so these come first: a slow one
# that begins last leaves a processor idle.
LONGEST      = ./internal/store/ ./internal/daemon/ ./internal/source/code/
longest      = $(filter $(1),$(LONGEST)) $(filter-out $(LONGEST),$(1))
# The packages with files for some systems only, in their code or their tests.
SYSTEMS      = $(sort $(dir $(shell find . \( -name '*_linux*.go' -o -name '*_darwin*.go' -o -name '*_windows*.go' -o -name '*.go' -exec grep -qE '^//go:build.*(darwin|linux|unix|windows)' {} ';' \) -print)))
# The trainer of the built-in model, a module of its own.
TRAINER     ?= embedder/builtin/training
# The files with tests that go test ./... leaves out or shortens.
LONG         = $(shell grep -rl --include='*_test.go' -e 'testlong[.]' -e newMachine ./cmd ./internal)
# The files with tests against the real Ollama.
REAL         = $(shell grep -rl --include='*_test.go' -e 'ollamatest[.]Start' ./embedder ./internal)
# A pattern of the tests that use $(1), in the files $(2).
tests        = ^($(shell awk -v use='$(1)' -f .ci/tests.awk $(2) | paste -sd'|'))$$
# Where the real Ollama of the tests is built; git ignores it.
OLLAMA      ?= $(CURDIR)/.build/ollama
# The version and platforms of make artefacts.
VERSION     ?= v0.1.0
TARGETS     ?= linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64
REPOS       ?=
TREE        ?=
SET         ?=
SETS        ?= $(SET)
OUT         ?=
ONLY        ?=
SKIP        ?=
SEED        ?=
FAULT       ?=
ANSWERS     ?=
# Runs programs of another processor; Debian and Ubuntu have it in qemu-user-static.
QEMU        ?= $(shell command -v qemu-aarch64 || command -v qemu-aarch64-static)

.DEFAULT_GOAL := help
.PHONY: help build test long trainer race lint cross emulate bench bench-code bench-adapt rivals eval e2e secrets licenses sbom reproducible vulncheck torture power changes busy hooks damage fuzz agents agentlogs conformance team openapi soak crowd store-fixture snapshot release-check artefacts release-test growth picture browser screenshots golden ollama test-ollama ci clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/recalld
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/ ./cmd/recalld

test: ## run every test that needs only Go
	$(GO) test ./...

trainer: ## build, check and test the module of the trainer, which go test ./... does not see
	cd $(TRAINER) && $(GO) build ./... && $(GO) vet ./... && $(GO) run $(STATICCHECK) ./... && $(GO) mod tidy -diff && $(GO) test ./...

# Before it exits, a process waits for races of goroutines that still run: a second by default.
# Each test binary does, and each child that a test starts from it; a tenth is enough.
race: ## run the tests under the race detector (needs a C compiler)
	GORACE="atexit_sleep_ms=100 $(GORACE)" CGO_ENABLED=1 $(GO) test -race -skip '^Fuzz' -timeout 45m $(call longest,$(RACE))

long: ## run the long tests: kills, full disks, random steps, and all of e2e
	RECALLD_TEST_LONG=1 $(GO) test -count 1 -timeout 45m -run "$(call tests,testlong[.]|newMachine,$(LONG))" $(if $(SKIP),-skip '$(SKIP)') $(call longest,$(sort $(dir $(LONG))))

lint: ## gofmt, go vet, staticcheck
	@test -z "$$(gofmt -l .)" || { echo "not formatted (gofmt -w them):"; gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

# No file is for linux/arm64 alone: what is for arm64 is built for macOS, too. Nothing built
# here runs, so it is built without optimisation, which takes a quarter less.
cross: ## build for macOS and Windows, and vet what differs between systems
	@for target in darwin/arm64 windows/amd64; do \
		echo "build and vet for $$target"; export CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/}; \
		$(GO) build -gcflags 'all=-N -l' -o /dev/null ./cmd/recalld && \
		$(GO) vet -gcflags 'all=-N -l' $$($(GO) list -e -f '{{if or .GoFiles .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' $(SYSTEMS)) || exit 1; \
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

torture: ## hurt a daemon for HOURS, in every way, and count what is lost: make torture HOURS=2 [SEED=n] [FAULT=killed]
	RECALLD_TEST_TORTURE=$(HOURS)h RECALLD_TEST_TORTURE_SEED=$(SEED) RECALLD_TEST_TORTURE_FAULT="$(FAULT)" $(GO) test -count 1 -run '^TestTorture$$' -v -timeout 0 ./bench/torture

power: ## cut the power CUTS times, and count what is lost: make power CUTS=500 [SEED=n] (needs root and /dev/fuse)
	RECALLD_TEST_POWER=$(CUTS) RECALLD_TEST_TORTURE_SEED=$(SEED) $(GO) test -count 1 -run '^TestPowerLoss$$' -v -timeout 0 ./bench/torture

changes: ## make STEPS random changes to a repository during recalls, under the race detector
	RECALLD_TORTURE=$(STEPS) CGO_ENABLED=1 $(GO) test -race -count 1 -run '^TestTorture$$' -timeout 60m ./internal/daemon

busy: ## ask QUESTIONS times during a start while all cores are busy
	RECALLD_BUSY=$(QUESTIONS) $(GO) test -count 1 -run '^TestBusyStart$$' -v -timeout 60m ./internal/daemon

hooks: ## send EVENTS by hooks, six at a time, while the daemon is stopped, frozen and killed
	RECALLD_TEST_LONG=1 RECALLD_HOOK_EVENTS=$(EVENTS) $(GO) test -count 1 -run '^TestE2EHooksLoseNothing$$' -v -timeout 60m ./cmd/recalld

damage: ## damage stores in every known way and in DAMAGES others by chance, open and repair them: make damage [DAMAGES=n] [SEED=n]
	RECALLD_TEST_DAMAGE=$(DAMAGES) RECALLD_TEST_DAMAGE_SEED=$(SEED) $(GO) test -count 1 -run '^TestDamageTable$$' -v -timeout 60m ./internal/store

fuzz: ## fuzz every parser of foreign input, and indexes against brute force, FUZZTIME each: make fuzz [FUZZ=pattern] [FUZZTIME="in 1200s" for all] [SHARES=n]
	SHARES=$(SHARES) .ci/fuzz "$(FUZZTIME)" $(FUZZ)

soak: ## let an agent work with a daemon for DAYS short days, DAY each, and measure what grows (Linux)
	RECALLD_SOAK=$(DAYS) RECALLD_SOAK_DAY=$(DAY) $(GO) test -count 1 -run '^TestSoak$$' -v -timeout 60m ./internal/daemon

crowd: ## let CLIENTS remember and ask for MINUTES while Go's source is indexed
	RECALLD_CROWD=$(CLIENTS) RECALLD_CROWD_MINUTES=$(MINUTES) $(GO) test -count 1 -run '^TestCrowd$$' -v -timeout 60m ./internal/daemon

# The stores of former versions are made from the last commits before the next version:
# 394e524^ e924dd4^ 5cfa232^ 8f51b1b^ 86230dc^ for 1 to 5. Without COMMIT it is this tree.
store-fixture: ## make the store of schema VERSION that tests migrate: make store-fixture VERSION=7 [COMMIT=commit]
	@test -n "$(VERSION)" || { echo "VERSION is the schema version that the program writes"; exit 2; }
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && mkdir "$$dir/tree" && \
	if test -n "$(COMMIT)"; then git archive "$(COMMIT)" | tar -xf - -C "$$dir/tree"; cd "$$dir/tree"; fi && \
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -o "$$dir/recalld" ./cmd/recalld && cd $(CURDIR) && \
	internal/daemon/testdata/stores/make.sh "$$dir/recalld" internal/daemon/testdata/stores/v$(VERSION).tar.gz
	$(GO) test ./internal/daemon -run StoresOfFormer -update

agents: ## drive real coding agents from npm through whole turns and write the table in docs/agents.md: make agents [ONLY=codex]
	RECALLD_TEST_AGENTS=$(or $(ONLY),all) $(if $(ONLY),,RECALLD_AGENTS_TABLE=docs/agents.md) $(GO) test -count 1 -run '^(TestAgents|TestCompaction|TestPackaged|TestBundleManifest)$$' -v -timeout 30m ./bench/agents

agentlogs: ## make 300 logs of real sessions of six agents, 126 MB in all, and import them
	RECALLD_TEST_AGENTLOGS=1 $(GO) test -count 1 -run '^TestAgentLogs$$' -v -timeout 30m ./bench/agents

team: ## share lessons over real PostgreSQL servers, killed and replaced: make team [KILLS=20] (needs Debian's packages postgresql and pgbouncer)
	RECALLD_TEST_POSTGRES=$(or $(POSTGRES),1) RECALLD_TEAM_KILLS=$(KILLS) $(GO) test -count 1 -timeout 30m $(if $(KILLS),-run Failover -v) ./internal/team

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
	RECALLD_TEST_OLLAMA=$(OLLAMA) $(GO) test -count 1 -timeout 30m -run "$(call tests,ollamatest[.]Start,$(REAL))" $(sort $(dir $(REAL)))

snapshot: ## build what a release consists of, into dist, as goreleaser does (building it takes minutes, once; the image, signatures and SBOM are the forge's)
	$(GO) run $(GORELEASER) release --snapshot --clean --skip=docker,sign,sbom,publish

release-check: ## check .goreleaser.yaml with goreleaser (building it takes minutes, once)
	$(GO) run $(GORELEASER) check

artefacts: ## build archives, packages, npm packages and bundles of VERSION for TARGETS, into dist, without goreleaser
	$(GO) run ./deploy/artefacts build -version $(VERSION) -targets $(TARGETS)
	$(GO) run ./deploy/artefacts pack -version $(VERSION) -targets $(TARGETS)

release-test: ## install, upgrade and remove a release on an empty machine (root, busybox-static, npm)
	RECALLD_TEST_RELEASE=1 $(GO) test -count 1 -v -timeout 15m ./bench/release

growth: ## measure what a daemon costs with SIZES lessons, and draw it (with a million: 6 to 20 minutes)
	RECALLD_GROWTH="$(SIZES)" RECALLD_GROWTH_PICTURE="$(CURDIR)/docs/images/growth.svg" $(GO) test ./cmd/recalld -run '^$$' -bench '^BenchmarkGrowth$$' -benchtime 1x -timeout 90m

picture: build ## draw the terminal of the README from what the program prints (script, of util-linux)
	$(GO) run ./deploy/picture -recalld bin/recalld -out docs/terminal.svg

ci: ## run every check, from a bare machine on
	.ci/run

clean: ## remove what was built
	rm -rf bin .build dist
