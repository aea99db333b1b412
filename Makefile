# `make help` lists the commands.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt
PYTEST := $(BIN)/python -m pytest
AXE := 4.14.1
# Programs of Debian that some tests use; without one they are skipped.
SYSTEM := caddy chromium default-jre-headless nginx openssl postgresql prometheus prometheus-alertmanager systemd wrk
# Three workers for two cores: half of the tests' time is waiting for peers that are slow on purpose.
# Linear algebra on more threads than one would only take turns.
WORKERS := $(shell echo $$(($$(nproc 2>/dev/null || echo 2) * 3 / 2)))
# Modules are compiled once, not in each of the hundreds of processes that tests start.
PARALLEL := OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(PYTEST) -n $(WORKERS) --dist worksteal
# Where its tests are: to collect all of tests/ takes longer than some of them.
ON_POSTGRES := tests/deploy/test_operating.py tests/proxy/access tests/proxy/batches tests/proxy/corpus \
	tests/proxy/pipeline tests/proxy/records tests/proxy/storage tests/proxy/test_logs.py
# Debian's wrapper: a server for the time of one command. Without it, one that runs on this machine is used.
WITH_POSTGRES := $(shell command -v pg_virtualenv >/dev/null && echo pg_virtualenv -t -o fsync=off)

.PHONY: help install install-system demo check docs recordings format test test-postgres test-statistical test-open-webui test-hostile
.PHONY: install-console test-console install-ray test-ray screenshots dist test-container install-clients test-clients pictures test-wheel install-vllm test-vllm bench bench-load changelog hashes sbom clean

help:
	@echo "make demo             install what is needed and show the whole path on this machine"
	@echo "make check            lint, format check and strict type check"
	@echo "make install-system   programs of Debian that some tests use (root)"
	@echo "make test             install the test tools and run the suite in parallel"
	@echo "make test-postgres    the tests of storage, ledger, batches and records on PostgreSQL"
	@echo "make test-statistical the tests that draw or compute for minutes"
	@echo "make test-wheel       the built wheel in an empty environment (downloads what it needs)"
	@echo "make test-open-webui  which of Open WebUI's own prompts are recognised (downloads its package)"
	@echo "make test-hostile     fuzz, kill and load tests against a running proxy; hostile texts"
	@echo "make test-container   the container image, built without pulling anything (root, buildah, mmdebstrap)"
	@echo "make test-clients     real clients, Open WebUI and LiteLLM against a running proxy (downloads them)"
	@echo "make test-ray         corpora on Ray Data, and integrations with datasets and Spark (downloads them)"
	@echo "make docs             build the documentation into site/; a dead link fails"
	@echo "make recordings       run the commands and the notebook that the documentation shows, and keep what they print"
	@echo "make pictures         take the pictures of Open WebUI in the documentation (needs Chromium)"
	@echo "make test-console     the console in Chromium with axe-core (downloads Playwright and axe-core)"
	@echo "make screenshots      take the pictures of the console in the documentation (needs Chromium)"
	@echo "make dist             the wheel and the source distribution into dist/, the files for other programs into build/"
	@echo "make sbom             the bill of materials of the image's Python packages, CycloneDX, into build/sbom/"
	@echo "make hashes           renew the hashes of what the image and the release install"
	@echo "make changelog        the changes that are not released yet, as the changelog will have them"
	@echo "make test-vllm        the contract tier: a real vLLM on CPU in a venv of its own"
	@echo "make bench            speed benchmarks"
	@echo "make bench-load       the proxy under load beside other gateways, and docs/performance.md (an hour)"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed (make PYTHON=…)")'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/demo.stamp: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing (once) …"
	@$(PIP) -e '.[embedded]'
	@touch $@

$(VENV)/dev.stamp: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing (once) …"
	@$(PIP) -e '.[embedded,dev,docs]'
	@touch $@ $(VENV)/demo.stamp

demo: $(VENV)/demo.stamp
	@$(BIN)/inferdpt demo

install: $(VENV)/dev.stamp

# RUNLEVEL: no service is started.
install-system:
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
			apt-get install -y -qq --no-install-recommends $(SYSTEM) >/dev/null \
		|| echo "some of these cannot be installed, and tests are skipped: $(SYSTEM)"; \
	else echo "needs root and apt-get; tests are skipped without $(SYSTEM)"; fi

test: install
	@$(PARALLEL) -m 'not clients and not console and not container and not hostile and not postgres and not ray and not statistical and not vllm and not wheel'

test-postgres: install
	@$(WITH_POSTGRES) env $(PARALLEL) -m 'postgres and not hostile' -rs $(ON_POSTGRES)

test-statistical: install
	@$(PARALLEL) -m 'statistical and not postgres'

test-wheel: install
	@$(PYTEST) -m wheel tests/test_wheel.py tests/test_build.py tests/test_release.py

# Playwright's driver uses Debian's Chromium; axe-core judges the pages, and is no part of them.
$(VENV)/console/axe.stamp: $(VENV)/dev.stamp
	@mkdir -p $(@D)
	@$(PIP) playwright || echo "Playwright cannot be installed"
	@cd $(@D) && npm pack --silent axe-core@$(AXE) >/dev/null && tar xzf axe-core-$(AXE).tgz && touch $(@F) \
		|| echo "axe-core cannot be downloaded"

install-console: $(VENV)/console/axe.stamp

test-console: install-console
	@$(PYTEST) -m console -rs tests/console

screenshots: install-console
	@$(BIN)/python -m scripts.record_console

test-container: install
	@$(PYTEST) -m container -rs tests/deploy/test_container.py

# The proxy under load and attack is tested alone, whatever kills, resumes or draws texts in parallel.
test-hostile: install
	@$(PARALLEL) -m hostile --ignore=tests/hostile
	@$(PYTEST) -m hostile tests/hostile

install-clients: install
	@$(BIN)/python -m tests.clients.install

test-clients: install-clients
	@$(WITH_POSTGRES) env $(PYTEST) -m clients -rs tests/clients

install-ray: install
	@$(PIP) -e '.[ray]' datasets pyspark

test-ray: install-ray
	@$(PYTEST) -m ray -rs tests/proxy/corpus tests/integrations

test-open-webui: install
	@$(PIP:install=download) --no-deps --dest $(VENV)/open-webui open-webui || echo "Open WebUI cannot be downloaded"
	@OPEN_WEBUI=$$(ls $(VENV)/open-webui/*.whl 2>/dev/null | tail -n 1) \
		$(PYTEST) -rs tests/proxy/requests/test_open_webui_templates.py

check: install
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: install
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

docs: install
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

recordings: install
	@$(BIN)/python -m scripts.record
	@$(BIN)/python -m scripts.record_notebook

dist: install
	@rm -rf dist
	@$(BIN)/python -m scripts.release.build
	@$(BIN)/python -m scripts.release.integrations
	@$(BIN)/python -m twine check --strict dist/*

sbom: install
	@$(BIN)/python -m scripts.release.sbom

hashes: install
	@$(PIP) uv
	@$(BIN)/python -m scripts.release.hashes

changelog: install
	@$(BIN)/python -m towncrier build --draft --version Unreleased

pictures: install-clients
	@$(BIN)/python scripts/record_open_webui.py

install-vllm:
	@PYTHON=$(PYTHON) scripts/setup_vllm.sh .venv-vllm

test-vllm: install-vllm
	@.venv-vllm/bin/python -m pytest -m vllm tests/vllm

bench: install
	@$(BIN)/python -m benchmarks.speed

bench-load: install
	@$(BIN)/python -m benchmarks.load --rounds 3 --profile
	@$(BIN)/python -m benchmarks.load page

clean:
	rm -rf $(VENV) .venv-clients .venv-vllm build dist site *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
