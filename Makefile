# Every task that a person or CI runs. "make" alone lists them.

BUF = tools/node_modules/.bin/buf
WEB = clients/web/dist/main.js

.PHONY: help
help: ## List the tasks
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

# Programs that tests start, where they are missing, as packages of Debian 12.
INITDB = $(shell command -v initdb || ls /usr/lib/postgresql/*/bin/initdb 2>/dev/null)
BROWSER = $(shell command -v chromium-headless-shell || command -v chromium || command -v google-chrome)
MISSING = $(strip \
	$(if $(INITDB)$(TARE_TEST_POSTGRES),,postgresql-15) \
	$(if $(BROWSER),,chromium-headless-shell) \
	$(if $(shell command -v curl),,curl))
CAN_INSTALL = $(shell test "$$(id -u)" = 0 && command -v apt-get)

.PHONY: servers
servers: ## Install the programs that tests start, where they are missing (Debian, as root)
	$(if $(MISSING),$(if $(CAN_INSTALL),apt-get update && apt-get install -y --no-install-recommends $(MISSING),\
	@echo 'Missing: $(MISSING). Only root can install them (make servers): tests that take them will fail'))

# The race detector takes a C compiler.
RACE = $(if $(shell command -v cc gcc),-race)

.PHONY: test
# Most of the time of the command line's tests is waiting, so that more of them than
# there are cores run side by side.
test: servers $(WEB) ## Run all tests, with the race detector where there is a C compiler
	go test -timeout 30m -parallel 6 $(RACE) ./...
	go test -run 'Twin|Allocate|PooledBuffers|PhasesOf' ./codec/... ./protocol/... ./lean/... ./load/... ./peers/...

.PHONY: bench
bench: ## Run the benchmarks
	go test -run '^$$' -bench . -benchmem ./...

.PHONY: calibrate
calibrate: ## Weigh known weights, to show whether tare weighs right on this machine
	go run ./cmd/tare calibrate

.PHONY: crash
crash: ## Kill services under load, and see that nothing is lost and nothing paid twice
	go run ./service/crash

.PHONY: lint
lint: $(BUF) ## Check Go, schemas, formatting and modules
	go vet ./...
	go tool -modfile=tools/lint/go.mod golangci-lint run
	$(BUF) lint
	$(BUF) format --diff --exit-code
	go mod tidy -diff

.PHONY: web
web: $(WEB) ## Build the page that orders, clients/web

.PHONY: generate
# buf empties gen/ first.
generate: $(BUF) compilers ## Generate gen/, clients/web/gen/ and others' schema/ from proto/
	$(BUF) generate
	go test ./codec/avro ./codec/capnp/idl -run TestSchemasAreCurrent -update
	schema/capnp/compile

# Compilers of schemas that no Go module brings, where they are missing, as packages of
# Debian 12.
.PHONY: compilers
compilers:
	$(if $(shell command -v capnp),,$(if $(CAN_INSTALL),apt-get update && apt-get install -y --no-install-recommends capnproto,\
	$(error Missing: capnproto, as Debian 12 has it. Only root can install it (make compilers))))

.PHONY: generated
generated: generate ## Fail if what is generated is not what proto/ generates
	git diff --exit-code -- gen clients/web/gen schema
	test -z "$$(git status --porcelain -- gen clients/web/gen schema)"

$(BUF): tools/package-lock.json
	cd tools && npm ci --no-fund --no-audit
	touch $@

$(WEB): clients/web/node_modules $(wildcard clients/web/*.json) $(shell find clients/web/src clients/web/gen -type f)
	cd clients/web && npm run build

clients/web/node_modules: clients/web/package-lock.json
	cd clients/web && npm ci --no-fund --no-audit
	touch $@
