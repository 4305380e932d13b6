#!/bin/sh
# Usage: Tools/planted-faults.sh [FAULT ...]
#
# Puts deliberate mistakes into the engine, one after the other, and says which suites notice; without
# names all of PlantedFault. A mistake that a part of the cases does not show is tried with all of them.
# Ends with 1 when nobody notices one, or when a suite fails without any.
set -eu
cd "$(dirname "$0")/.."
faults=${*:-$(sed -n 's/^  case \([A-Za-z]*\)$/\1/p' Sources/KVEngine/Support/PlantedFault.swift)}
folder=build/faults
mkdir -p "$folder"
: >"$folder/table.txt"
suites='^(KVDurabilityTests|KVEngineTests|KVInspectTests)\.'
run="swift test -c release --disable-xctest --scratch-path .build-faults"

export MEMOKV_PLANTED_FAULTS=1
echo "building"
swift test list -c release --disable-xctest --scratch-path .build-faults >/dev/null

# The suites that report something with a fault; `trap` and `hang` when nobody does before the
# process ends otherwise.
noticing() {
  status=0
  MEMOKV_FAULT=$1 timeout 300 $run --skip-build --filter "$suites" >"$folder/$1.txt" 2>&1 || status=$?
  # Of a run that was ended, the process of the tests goes on.
  pkill -f 'build-faults/.*MemoKVPackageTests' || true
  found=$(sed -n 's/.* recorded an issue.* at \([A-Za-z0-9]*Tests\)\.swift:.*/\1/p
    s/.*Suite \([A-Za-z0-9]*\) failed after.*/\1/p' "$folder/$1.txt" | sort -u)
  if [ -n "$found" ]; then
    echo "$found"
  elif [ $status = 124 ]; then
    echo hang
  elif [ $status != 0 ]; then
    echo trap
  fi
}

result=0
if [ $# = 0 ]; then
  found=$(MEMOKV_TESTS=quick noticing none | tr '\n' ' ')
  if [ -n "$found" ]; then
    echo "without a fault there fail: $found"
    exit 1
  fi
fi
for fault in $faults; do
  found=$(MEMOKV_TESTS=quick noticing "$fault" | tr '\n' ' ')
  if [ -z "$found" ]; then found=$(noticing "$fault" | tr '\n' ' '); fi
  if [ -z "$found" ]; then
    found='NOBODY'
    result=1
  fi
  printf '%-24s %s\n' "$fault" "$found" | tee -a "$folder/table.txt"
done
exit $result
