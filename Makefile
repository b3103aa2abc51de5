# The two commands of the README are `make study` and `make test`; each sets up what it needs in .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# A cluster's own MPI instead of the mpich wheel: make MPI_C_COMPILER=/path/to/mpicc
MPI_C_COMPILER ?=
EXTRAS := dev,docs,cluster,output,$(if $(MPI_C_COMPILER),mpi,mpich)
CXX_FILES := $(shell find src bindings include -name '*.hpp' -o -name '*.cpp' -o -name '*.h')
FORTRAN_FILES := $(wildcard bindings/fortran/* bindings/fortran/mpi_f08/*)
C_PROGRAMS := $(shell find examples bindings/fortran tests benchmarks/c benchmarks/calls -name '*.[ch]' -o -name '*.[ch]pp')
PY_FOLDERS := python tests benchmarks validation docs cmake

# Python and pytest keep what they have compiled: hundreds of processes import the same files.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: study test lint stubs test-all ranks later validation benchmark docs clean

study: $(VENV)/installed
	$(BIN)/tradewind study studies/quickstart.toml

# Tests that start MPI ranks take all cores; the others run in as many processes as there are cores, as tests/conftest.py
# orders and shares them.
SPREAD := -n auto --maxprocesses 8 --no-loadscope-reorder
test: $(VENV)/installed lint
	$(BIN)/python -m pytest -m 'not slow and not ranks' $(SPREAD)
	$(BIN)/python -m pytest -m 'not slow and ranks'

lint: $(VENV)/installed
	$(BIN)/ruff check $(PY_FOLDERS)
	$(BIN)/ruff format --check $(PY_FOLDERS)
	$(BIN)/python tests/core_floors.py
	$(BIN)/python tests/words.py
	$(BIN)/clang-format --dry-run --Werror $(CXX_FILES) $(C_PROGRAMS) validation/simgrid/replay.cpp
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo

# Type stubs of the compiled modules; a test fails where they are stale.
stubs: $(VENV)/installed
	for m in _core _mpi; do $(BIN)/python -m nanobind.stubgen -q -m tradewind.$$m -o python/tradewind/$$m.pyi; done

# Also what `make test` has no time for, or what needs packages of the system. Ranks wait for each other half of the time:
# what measures no time, and what is compiled for the stages after them, has the cores then.
test-all: $(VENV)/installed lint
	tests/again.sh $(BIN)/python -m pytest -m 'not ranks' $(SPREAD)
	$(MAKE) --jobs=2 ranks later
	tests/sanitizers.sh run
	tests/second_mpi.sh run

ranks: $(VENV)/installed
	tests/again.sh $(BIN)/python -m pytest -m ranks

# The compilations last: they take both cores as soon as those are free.
later: $(VENV)/installed
	nice -n 19 $(BIN)/python tests/mutants.py 2000 2
	nice -n 19 $(BIN)/mkdocs build --strict --site-dir build/site
	env -u MAKEFLAGS nice -n 19 tests/sanitizers.sh build  # ninja would ask make for its cores
	env -u MAKEFLAGS nice -n 19 tests/second_mpi.sh build

# Against formulas, bounds, packets reckoned by hand, SST/macro and, where they are installed, SimGrid and PETSc.
validation: $(VENV)/installed
	$(BIN)/python -m validation.closed_forms
	$(BIN)/python -m validation.bounds
	$(BIN)/python -m validation.traces
	$(BIN)/python -m validation.sstmacro
	$(BIN)/python -m validation.simgrid --if-installed
	$(BIN)/python -m validation.petsc --if-installed

benchmark: $(VENV)/installed
	$(BIN)/python benchmarks/run.py

docs: $(VENV)/installed
	$(BIN)/mkdocs serve

clean:
	rm -rf $(VENV) build site

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Tradewind needs Python 3.11 or newer; name one: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

# Built in place, without isolation, so that a change compiles only what it touches.
$(VENV)/installed: $(VENV)/bin/python pyproject.toml CMakeLists.txt $(wildcard cmake/*) $(CXX_FILES) $(FORTRAN_FILES)
	requires=$$($(BIN)/python cmake/build_backend.py $(MPI_C_COMPILER)) && \
	    $(BIN)/python -m pip install --quiet $$requires
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip install --quiet --no-build-isolation \
	    $(if $(MPI_C_COMPILER),-Ccmake.define.MPI_C_COMPILER=$(MPI_C_COMPILER)) -e '.[$(EXTRAS)]'
	touch $@
