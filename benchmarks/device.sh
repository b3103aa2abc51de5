#!/bin/sh
# All comparisons on a device, in ten minutes at most: bits, rates of copies, kernels beside the roofline and the naive
# loops, ways to exchange, watts. Installs Tradewind and what it needs into a folder of its own. By NCCL only ranks
# exchange that have a device each.
#
#   sh benchmarks/device.sh                        # an NVIDIA GPU, 2 ranks that share it
#   RANKS=4 DEVICE=rocm sh benchmarks/device.sh    # CuPy for ROCm must be in PYTHON's environment
#   DEVICE=simulated PYTHON=.venv/bin/python sh benchmarks/device.sh    # a rehearsal without a device, in seconds
#
# PYTHON names an environment that has Tradewind already. Figures are printed and kept in RESULTS, device-results.json.
set -eu
cd "$(dirname "$0")/.."
DEVICE=${DEVICE:-cuda}
RANKS=${RANKS:-2}
RESULTS=${RESULTS:-device-results.json}
if [ "$DEVICE" = cuda ] && ! ls /dev/nvidia0 >/dev/null 2>&1 && ! ls /dev/dxg >/dev/null 2>&1; then
    echo "no NVIDIA device is found here; DEVICE=simulated rehearses without one" >&2
    exit 2
fi
if [ -z "${PYTHON:-}" ] && [ "$DEVICE" != cuda ]; then
    echo "PYTHON must name an environment with Tradewind where DEVICE is $DEVICE" >&2
    exit 2
fi
if [ -z "${PYTHON:-}" ]; then
    PYTHON=build/device/bin/python
    if [ ! -e build/device/installed ]; then
        python3 -m venv build/device
        "$PYTHON" -m pip install --quiet '.[mpich,cuda]' nvidia-nccl-cu12
        touch build/device/installed
    fi
fi
exec "$PYTHON" benchmarks/devices/compare.py --device "$DEVICE" --ranks "$RANKS" --results "$RESULTS"
