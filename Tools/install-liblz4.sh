#!/bin/sh
# Installs liblz4's headers and library on Debian and its relatives.
set -eu
if ! command -v apt-get >/dev/null 2>&1; then
  echo 'liblz4 is missing: install its development package (lz4.h, liblz4.a, lz4.pc) and try again' >&2
  exit 1
fi
if [ "$(id -u)" = 0 ]; then as_root=''; else as_root=sudo; fi
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
$as_root apt-get install -y -qq liblz4-dev >/dev/null
echo 'installed liblz4-dev'
