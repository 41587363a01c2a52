#!/bin/sh
# Fetches the vocabulary files and test vectors of llama.cpp for tests/peer/tokenizers.py:
#   ECO_LLAMA_VOCABS=$(scripts/vocabs.sh) ctest -R peer/tokenizers
# They lie in a git bundle inside the npm package node-llama-cpp (35 MB to fetch; its dependencies,
# 700 MB, are not). Kept in the user's cache; prints the folder.
set -eu

version=3.21.1
cache=${XDG_CACHE_HOME:-$HOME/.cache}/ecocompute/node-llama-cpp-$version
if [ ! -e "$cache/llama/models/ggml-vocab-llama-spm.gguf" ]; then
    mkdir -p "$cache"
    (cd "$cache" && npm pack --silent "node-llama-cpp@$version" >/dev/null)
    tar -xzf "$cache/node-llama-cpp-$version.tgz" -C "$cache" package/llama/gitRelease.bundle
    rm -rf "$cache/llama"
    git clone -q --no-checkout "$cache/package/llama/gitRelease.bundle" "$cache/llama"
    git -C "$cache/llama" checkout -q HEAD -- models
    rm -rf "$cache/package" "$cache/node-llama-cpp-$version.tgz"
fi
echo "$cache/llama/models"
