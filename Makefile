# make demo | make test | make check | make test-vllm | make bench
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: help demo test check format test-vllm bench clean

help:
	@echo "make demo       install what is needed and show the whole path on this machine"
	@echo "make test       install the test tools and run the suite"
	@echo "make check      lint, format check and strict type check"
	@echo "make test-vllm  the contract tier: a real vLLM on CPU in a venv of its own"
	@echo "make bench      speed benchmarks"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed (make PYTHON=…)")'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/demo.stamp: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing (once) …"
	@$(PIP) -e '.[embedded]'
	@touch $@

$(VENV)/dev.stamp: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing (once) …"
	@$(PIP) -e '.[embedded,dev]'
	@touch $@ $(VENV)/demo.stamp

demo: $(VENV)/demo.stamp
	@$(BIN)/inferdpt demo

test: $(VENV)/dev.stamp
	@$(BIN)/python -m pytest -m 'not vllm'

check: $(VENV)/dev.stamp
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: $(VENV)/dev.stamp
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

test-vllm:
	@PYTHON=$(PYTHON) scripts/setup_vllm.sh .venv-vllm
	@.venv-vllm/bin/python -m pytest -m vllm tests/vllm

bench: $(VENV)/dev.stamp
	@$(BIN)/python -m benchmarks.speed

clean:
	rm -rf $(VENV) .venv-vllm build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
