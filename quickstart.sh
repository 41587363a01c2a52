#!/bin/sh
# Sets the machine up, builds ecocompute, and answers the question on this machine: NF4 against FP16,
# measured where it can be. Nothing to configure. Seconds to build when all is there already.
set -eu
cd "$(dirname "$0")"
./scripts/setup.sh build
exec make --no-print-directory demo
