#!/bin/sh
# Runs a command with a file system of its own, on an image file, so that the bytes that reach the
# device are those of the command alone. "@" among its arguments stands for the folder. Needs root;
# the mount is gone when the command ends, however it ends.
set -eu
folder=$(mktemp -d "${TMPDIR:-/var/tmp}/memobench.XXXXXX")
trap 'rm -rf "$folder"' EXIT
truncate -s 4G "$folder/image"
mkfs.ext4 -q -F "$folder/image"
mkdir "$folder/mount"
FOLDER=$folder unshare --mount sh -c '
  mount -o loop "$FOLDER/image" "$FOLDER/mount"
  for argument do
    shift
    if [ "$argument" = @ ]; then argument=$FOLDER/mount; fi
    set -- "$@" "$argument"
  done
  "$@"
' sh "$@"
