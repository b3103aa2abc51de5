#!/usr/bin/env bash
# Builds the tests of the core and libtradewind with the address and undefined-behaviour sanitizers, and the tests of the
# core with the thread sanitizer, and runs them. Needs only what `make test` needs.
# usage: tests/sanitizers.sh [build|run|one-definition]   (default: build, then run)
#   one-definition   looks for types that are defined twice
set -euo pipefail
cd "$(dirname "$0")/.."
case "${1:-}" in
    "" | build | run | one-definition) ;;
    *) echo "sanitizers.sh: unknown word '$1' (build, run, one-definition, or nothing for build and run)" >&2 && exit 2 ;;
esac
python=$PWD/.venv/bin/python
PATH=$PWD/.venv/bin:$PATH
export CCACHE_DEPEND=1  # where there is ccache: no other build compiles alike, so it need not preprocess to find out
runtime() { "${CXX:-g++}" -print-file-name="$1"; }

build() { # name, sanitizers, targets
    # -Og and line numbers only: copy loops and the routings of all topologies together take minutes to compile otherwise.
    cmake -S . -B "build/$1" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTRADEWIND_SANITIZE="$2" \
        -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-Og -g1 -DNDEBUG" -DTRADEWIND_PYTHON=ON -DPython_EXECUTABLE="$python" >/dev/null
    cmake --build "build/$1" --target "${@:3}" >/dev/null
}

one_definition() {
    # Only when files are linked does the compiler see their types side by side: all of src/ and bindings/c as one, also
    # what is never in one program. What it says is merged, no code is made of it (-r, rel): that takes seconds.
    # One by one: each file includes what it uses.
    rm -rf build/odr  # or what older sources left would be linked, too
    cmake -S . -B build/odr -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O0 -Wno-psabi" \
        -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON -DCMAKE_UNITY_BUILD=OFF -DTRADEWIND_FORTRAN=OFF >/dev/null
    cmake --build build/odr --target tradewind_core tradewind >/dev/null
    local objects
    # But for the trial of devices, a program of some of the same files.
    mapfile -t objects < <(find build/odr/CMakeFiles/tradewind*.dir -name '*.o' -not -path '*/tradewind_device_trial.dir/*')
    "${CXX:-g++}" -r -O0 -flto -flinker-output=rel -Wodr -Werror=odr -Werror=lto-type-mismatch -o build/odr/all.o "${objects[@]}"
    echo "one definition of each type: ${#objects[@]} objects linked as one"
}

if [ "${1:-}" = one-definition ]; then
    one_definition
    exit
fi
if [ "${1:-build}" = build ]; then
    build address address,undefined core_tests _core tradewind
    fortran=$(grep -q "^build tradewind_fortran:" build/address/build.ninja && echo tradewind_fortran || true)  # where there is a compiler
    if [ -n "$fortran" ]; then cmake --build build/address --target "$fortran" >/dev/null; fi
    build thread thread core_tests
    if [ "${1:-}" = build ]; then exit; fi
fi

echo "address and undefined-behaviour sanitizers: the core"
export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1
build/address/core_tests --jobs "$(nproc)" --limit 900 --divide 10

echo "address and undefined-behaviour sanitizers: the bindings of Python"
# A package of its own: the Python files of the checkout, the compiled module of this build. Without site (-S), so that
# the editable installation does not come first.
mkdir -p build/address/package/tradewind
cp -r python/tradewind/. machines studies build/address/package/tradewind/
cp build/address/_core.*.so build/address/package/tradewind/
packages=$("$python" -c "import sysconfig; print(sysconfig.get_path('purelib'))")
LD_PRELOAD="$(runtime libasan.so) $(runtime libubsan.so)" PYTHONPATH=build/address/package:$packages "$python" -S tests/sanitized.py

echo "address and undefined-behaviour sanitizers: libtradewind"
# Their programs are linked with the sanitizers, too, whose libraries must come first.
LDFLAGS=-fsanitize=address,undefined TRADEWIND_BUILD=$PWD/build/address \
    "$python" -m pytest -q tests/languages/test_language_{fetch,refusals,examples,tuning,field_server}.py

echo "thread sanitizer: the core"
for folder in sim kernel; do
    TSAN_OPTIONS="halt_on_error=1 report_signal_unsafe=0" \
        build/thread/core_tests --jobs "$(nproc)" --limit 900 --divide 10 --only "$folder/"
done
echo "sanitizers: nothing found"
