# What a developer of Baton types. `make` alone prints this list.

GO           ?= go
# How many packages are tested at once. Tests start real agents, so more than
# this needs memory (about 1 GB each) rather than cores.
TEST_P       ?= 2
SEEDS        ?= 20000
LINT_VERSION := v2.15.0
LINT         := bin/golangci-lint-$(LINT_VERSION)
# npm writes this file at the end of an install; it is as new as what is there.
AGENTS       := agents/node_modules/.package-lock.json
CLIENT       := cmd/baton/testdata/ts

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help build man demo test quick agents client lint fmt generate sim bench record clean need-go need-test

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: need-go ## Build bin/baton
	$(GO) build -trimpath -o bin/baton ./cmd/baton

man: build ## Write the manual pages into bin/man/man1
	bin/baton man bin/man/man1

demo: build ## Show Baton at work with a scripted agent (needs Go and git only)
	bin/baton demo

test: need-test lint build agents client ## Install what is missing, then lint, build and test everything, real agents and all
	$(GO) vet ./...
	$(GO) test -race -p $(TEST_P) -timeout 20m ./...

quick: need-go ## Test what needs neither the real agents nor much time
	$(GO) test -short -timeout 5m ./...

agents: $(AGENTS) ## Install the agents that the tests drive, as agents/package-lock.json pins them

$(AGENTS): agents/package.json agents/package-lock.json
	@scripts/need npm
	npm ci --prefix agents --ignore-scripts --no-audit --no-fund </dev/null
	@touch $@

client: $(CLIENT)/node_modules/.package-lock.json ## Install what the test of a TypeScript client takes

$(CLIENT)/node_modules/.package-lock.json: $(CLIENT)/package.json $(CLIENT)/package-lock.json
	@scripts/need npm
	npm ci --prefix $(CLIENT) --ignore-scripts --no-audit --no-fund </dev/null
	@touch $@

lint: need-go $(LINT) ## Hold the tree to the house rules and to golangci-lint
	$(GO) run ./internal/lint/cmd/lint
	$(LINT) run ./...

# Built from source by Go, so that the checksum database vouches for it. Takes a
# minute or two, once.
$(LINT):
	@mkdir -p bin
	GOFLAGS= GOBIN="$(CURDIR)/bin" $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	@rm -f bin/golangci-lint-v*
	@mv bin/golangci-lint $@

fmt: need-go ## Format the Go files
	$(GO) fmt ./...

generate: need-go ## Write the pages that are generated from the code
	$(GO) run ./internal/lint/cmd/lint -generate

sim: need-go ## Run the simulation with SEEDS=20000 seeds
	BATON_SIM_SEEDS=$(SEEDS) $(GO) test ./internal/sim -run TestSim -count=1 -timeout 60m

bench: need-go agents ## Measure Baton against its budgets, about 2 minutes
	$(GO) test -count=1 -run '^$$' -bench . -benchtime 1x -timeout 10m ./internal/bench

# Only the packages whose tests know the flag.
record: agents ## Record the drivers' testdata again from the real agents
	$(GO) test -count=1 -timeout 20m -run TestRecord $$(grep -rl --include='*_test.go' 'Bool("record"' internal/agent | xargs -n1 dirname | sort -u | sed 's|^|./|') -record

clean: ## Remove what was built and installed here
	rm -rf bin agents/node_modules $(CLIENT)/node_modules

need-go:
	@scripts/need go git

need-test: need-go
	@scripts/need gcc npm
