#!/bin/sh
# Builds the detector: build.sh [OUT]. CLANG names another compiler; any clang with the WebAssembly target and its linker will do. Where wasm-opt
# is on the path, clang runs it too, and the bytes differ.
set -eu
out=${1:-detector.wasm}
"${CLANG:-clang-19}" --target=wasm32-unknown-unknown -Os -mbulk-memory -ffreestanding -nostdlib -Wall -Wextra -Werror \
  -Wl,--no-entry -o "$out" "$(dirname "$0")/detector.c"
