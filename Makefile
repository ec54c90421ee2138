# Every task that a person or CI runs. "make" alone lists them.

BUF = tools/node_modules/.bin/buf
WEIGHED = docs/results/codecs-statements.jsonl
RELEASED = proto/released.binpb
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

.PHONY: codecs
codecs: ## Weigh codecs anew for the README; takes a quiet machine and some six minutes
	kept=$$(mktemp -d) && go run ./cmd/tare codecs statements --for 5m --out "$$kept"/run > /dev/null && \
	mkdir -p $(dir $(WEIGHED)) && cp "$$kept"/run/results.jsonl $(WEIGHED) && rm -r "$$kept"
	$(MAKE) excerpt

.PHONY: excerpt
excerpt: ## Write the README's table of codecs anew from docs/results
	go test ./internal/cli -run ReadmeShows -update

.PHONY: breaking
breaking: $(BUF) ## Fail if proto/ breaks clients of the last release, or if buf would not see that
	$(BUF) breaking --against $(RELEASED)
	@copy=$$(mktemp -d) && trap 'rm -r "$$copy"' EXIT && cp -r buf.yaml proto third_party "$$copy" && \
	sed -i 's/string order_id = 1/string order_number = 1/' "$$copy"/proto/tare/orders/v1/*.proto && \
	! $(BUF) breaking "$$copy" --against $(RELEASED) > "$$copy"/said && grep -q 'changed name from "order_id"' "$$copy"/said || \
	{ echo 'buf did not see that a field was renamed'; exit 1; }

.PHONY: released
released: $(BUF) ## Take proto/ as what is released, at a release
	$(BUF) build --exclude-source-info -o $(RELEASED)

.PHONY: evolution
evolution: ## Write docs/evolution.md anew from what codecs do
	go test ./codec/codectest/evolution -run Documented -update

.PHONY: web
web: $(WEB) ## Build the page that orders, clients/web

.PHONY: generate
# What buf does not make after buf, which empties gen/ first.
generate: $(BUF) compilers ## Generate gen/, clients/web/gen/ and others' schema/ from proto/ and schema/
	$(BUF) generate
	mkdir -p gen/thrift
	for f in schema/thrift/*.thrift; do thrift -strict -out gen/thrift \
		--gen go:package_prefix=github.com/tare-bench/tare/gen/thrift/,skip_remote $$f || exit 1; done
	gofmt -w gen/thrift
	go test ./codec/avro ./codec/capnp/idl -run TestSchemasAreCurrent -update
	schema/capnp/compile

# Compilers of schemas that no Go module brings, where they are missing, as packages of
# Debian 12. Their output names their version: another one's differs.
COMPILERS = $(strip $(if $(shell command -v thrift),,thrift-compiler) $(if $(shell command -v capnp),,capnproto))

.PHONY: compilers
compilers:
	$(if $(COMPILERS),$(if $(CAN_INSTALL),apt-get update && apt-get install -y --no-install-recommends $(COMPILERS),\
	$(error Missing: $(COMPILERS), as Debian 12 has them. Only root can install them (make compilers))))

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
