#!/bin/sh
# Usage: Tools/proof.sh HOURS
#
# Runs the proofs with new seeds until the hours are over, and prints what they went through. A line
# of build/proof/summary.txt for each suite that ended: interrupt it and start it again as you like,
# seeds go on where they were. Failures stay in build/proof/failures.txt; a suite that takes more
# than an hour hangs, and has failed.
set -eu
hours=${1:-5}
cd "$(dirname "$0")/.."
folder=build/proof
mkdir -p "$folder"
summary=$folder/summary.txt
touch "$summary"

# Suites by the tests of the plan, and how many seeds a round takes at most.
suites="CrashPointTests CompactionCrashTests ShortWorkloadTests CrashDuringRecoveryTests BitFlipTests
  StructuralDamageTests EveryPrefixTests FaultTests ResumeTests ModelCallTests OptionSetTests KillTests
  DiskFullTests InspectorBesideWriterTests StoreFuzzTests DecoderFuzzTests InputFuzzTests
  SizeBorderTests FolderCopyTests EarlierStateCrashTests GoldenStoreTests StressTests SoakTests"
stride=10000000

echo "building the tests"
swift test list -c release --disable-xctest >/dev/null
end=$(($(date +%s) + $(awk "BEGIN { print int($hours * 3600) }")))
round=$(awk '$1 > most { most = $1 } END { print most + 0 }' "$summary")
# The first round takes minutes, so that every suite has its turn; the later ones take hours.
size=push
while [ "$(date +%s)" -lt "$end" ]; do
  round=$((round + 1))
  for suite in $suites; do
    [ "$(date +%s)" -lt "$end" ] || break
    log=$folder/tally.txt
    output=$folder/output.txt
    rm -f "$log" "$folder/trace.txt"
    start=$(date +%s)
    result=passed
    MEMOKV_TESTS=$size MEMOKV_SEED=$((round * stride)) MEMOKV_PROOF_LOG=$log \
      MEMOKV_FUZZ_TRACE=$folder/trace.txt \
      timeout 3600 swift test -c release --disable-xctest --skip-build --filter "\\.$suite" >"$output" 2>&1 ||
      result=failed
    seconds=$(($(date +%s) - start))
    if [ $result = failed ]; then
      {
        echo "== round $round, MEMOKV_SEED=$((round * stride)), $suite"
        tail -n 5 "$folder/trace.txt" 2>/dev/null || true
        cat "$output"
      } >>"$folder/failures.txt"
    fi
    # round suite result seconds, and test, what, cases for each kind of count
    counts=$(awk '{ sum[$2 " " $3] += $4 } END { for (key in sum) printf " %s %d", key, sum[key] }' \
      "$log" 2>/dev/null || true)
    echo "$round $suite $result $seconds$counts" | tee -a "$summary"
  done
  size=nightly
done

echo
awk '
  { seconds[$2] += $4; failures[$2] += $3 == "failed"; runs[$2]++
    for (field = 5; field + 2 <= NF; field += 3) {
      kind = $2 SUBSEP $field SUBSEP $(field + 1)
      cases[kind] += $(field + 2)
    } }
  END {
    printf "%-5s %-28s %-10s %14s %9s %9s\n", "test", "suite", "counted", "cases", "seconds", "failures"
    for (kind in cases) {
      split(kind, part, SUBSEP)
      printf "%-5s %-28s %-10s %14d %9d %9d\n", part[2], part[1], part[3], cases[kind],
        seconds[part[1]], failures[part[1]] | "sort -V"
    }
  }' "$summary"
