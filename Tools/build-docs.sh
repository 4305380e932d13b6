#!/usr/bin/env bash
# Builds the documentation of the libraries into build/docs, one archive each, with nothing but the
# toolchain. A warning, above all a link to a symbol that is not there, is an error.
set -euo pipefail
cd "$(dirname "$0")/.."
graphs=build/docs/graphs
rm -rf build/docs
mkdir -p "$graphs"
# As kvinspect is built, so that nearly everything is there already.
flags=(-c release -Xswiftc -static-executable -Xlinker -s)
${SWIFT:-swift} build "${flags[@]}" --target MemoHistoryTesting >"$graphs/build.txt" 2>&1 ||
  { cat "$graphs/build.txt" && exit 1; }
built=$(${SWIFT:-swift} build "${flags[@]}" --show-bin-path)
target=$(swiftc -print-target-info | sed -n 's/.*"triple": "\(.*\)".*/\1/p' | head -n 1)

for module in KVEngine KVSalvage MemoHistory MemoHistoryTesting; do
  # An app that imports MemoHistory has the types of MemoCore and TextSearch by it.
  mkdir "$graphs/$module"
  swift-symbolgraph-extract -module-name "$module" -target "$target" -I "$built/Modules" \
    -I "$built/CKVShims.build" -I "$built/CTextTables.build" -I Sources/CLZ4 -module-cache-path "$built/ModuleCache" \
    -minimum-access-level public -skip-synthesized-members \
    -experimental-allowed-reexported-modules=MemoCore,TextSearch -output-dir "$graphs/$module"
  catalog=()
  if [ -d "Sources/$module/$module.docc" ]; then catalog=("Sources/$module/$module.docc"); fi
  docc convert "${catalog[@]}" --fallback-display-name "$module" \
    --fallback-bundle-identifier "org.memokv.$module" \
    --additional-symbol-graph-dir "$graphs/$module" --output-dir "build/docs/$module" \
    --transform-for-static-hosting --hosting-base-path "$module" --warnings-as-errors \
    2>&1 | sed '/^$/d'
  printf 'build/docs/%s\n' "$module"
done
