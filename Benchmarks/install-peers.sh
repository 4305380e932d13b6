#!/bin/sh
# Installs the engines that MemoKV is measured against, and valgrind, which counts instructions,
# on Debian and its relatives.
set -eu
packages='liblmdb-dev libsqlite3-dev sqlite3 libleveldb-dev librocksdb-dev pkg-config valgrind'
missing=''
for package in $packages; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
    missing="$missing $package"
done
if [ -z "$missing" ]; then exit 0; fi
if ! command -v apt-get >/dev/null 2>&1; then
  echo "install the development packages of LMDB, SQLite, LevelDB and RocksDB:$missing" >&2
  exit 1
fi
if [ "$(id -u)" = 0 ]; then as_root=''; else as_root=sudo; fi
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
# shellcheck disable=SC2086
$as_root apt-get install -y -qq $missing >/dev/null
echo "installed$missing"
