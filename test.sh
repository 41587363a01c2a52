#!/bin/sh
# Sets the machine up for tests, builds, and runs every test. Ends with "N passed, N failed".
set -eu
cd "$(dirname "$0")"
./scripts/setup.sh test
exec make --no-print-directory test
