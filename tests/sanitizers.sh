#!/usr/bin/env bash
# Looks for types that are defined twice; then builds the core with the address and undefined-behaviour sanitizers, and
# with the thread sanitizer, and runs the tests that exercise it. Needs only what `make test` needs.
# usage: tests/sanitizers.sh [build|run]   (default: one after the other)
set -euo pipefail
cd "$(dirname "$0")/.."
python=$PWD/.venv/bin/python
# Without site (-S), so that the editable installation does not come first.
packages=$("$python" -c "import sysconfig; print(sysconfig.get_path('purelib'))")
runtime() { "${CXX:-g++}" -print-file-name="$1"; }

build() { # name, sanitizers, whether with libtradewind
    # -Og and line numbers only: copy loops and the routings of all topologies together take minutes to compile otherwise.
    cmake -S . -B "build/$1" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTRADEWIND_SANITIZE="$2" \
        -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-Og -g1 -DNDEBUG" -DTRADEWIND_PYTHON=ON -DTRADEWIND_C="$3" \
        -DPython_EXECUTABLE="$python" >/dev/null
    cmake --build "build/$1" --target _core >/dev/null
    # A package of its own: the Python files of the checkout, the compiled module of this build.
    mkdir -p "build/$1/package/tradewind"
    cp -r python/tradewind/. machines studies "build/$1/package/tradewind/"
    cp "build/$1/"_core.*.so "build/$1/package/tradewind/"
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
    mapfile -t objects < <(find build/odr/CMakeFiles/tradewind*.dir -name '*.o')
    "${CXX:-g++}" -r -O0 -flto -flinker-output=rel -Wodr -Werror=odr -Werror=lto-type-mismatch -o build/odr/all.o "${objects[@]}"
    echo "one definition of each type: ${#objects[@]} objects linked as one"
}

PATH=$PWD/.venv/bin:$PATH
export CCACHE_DEPEND=1  # where there is ccache: no other build compiles alike, so it need not preprocess to find out
if [ "${1:-build}" = build ]; then
    one_definition
    build address address,undefined ON
    fortran=$(grep -q "^build tradewind_fortran:" build/address/build.ninja && echo tradewind_fortran || true)  # where there is a compiler
    cmake --build build/address --target tradewind $fortran >/dev/null
    build thread thread OFF
    if [ "${1:-}" = build ]; then exit; fi
fi

echo "address and undefined-behaviour sanitizers"
LD_PRELOAD="$(runtime libasan.so) $(runtime libubsan.so)" ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1 \
    PYTHONPATH=build/address/package:$packages:$PWD/tests/sim:$PWD "$python" -S tests/sanitized.py

echo "address and undefined-behaviour sanitizers: libtradewind"
# Their programs are linked with the sanitizers, too, whose libraries must come first.
ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1 LDFLAGS=-fsanitize=address,undefined TRADEWIND_BUILD=$PWD/build/address \
    "$python" -m pytest -q tests/languages/test_language_{fetch,refusals,examples,tuning,field_server}.py

echo "thread sanitizer"
LD_PRELOAD="$(runtime libtsan.so)" TSAN_OPTIONS="halt_on_error=1 report_signal_unsafe=0" \
    PYTHONPATH=build/thread/package:$packages:$PWD/tests/sim:$PWD "$python" -S tests/sanitized.py
echo "sanitizers: nothing found"
