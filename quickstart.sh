#!/bin/sh
# Sets the machine up, builds ecocompute and runs the demo. Seconds when all is there already.
set -eu
cd "$(dirname "$0")"
./scripts/setup.sh build
exec make --no-print-directory demo
