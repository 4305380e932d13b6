#!/bin/sh
# Prints this repository's history as memos, one JSON object a line, oldest first.
#
# Git writes NUL behind each field, so that no character of a message can be taken for a border; awk
# escapes what JSON wants escaped.
set -eu
git log --reverse --format='%H%x00%aI%x00%B%x00' | LC_ALL=C awk '
  BEGIN {
    RS = "\0"
    for (code = 1; code < 32; code++) escape[sprintf("%c", code)] = sprintf("\\u%04x", code)
    escape["\n"] = "\\n"; escape["\t"] = "\\t"; escape["\""] = "\\\""; escape["\\"] = "\\\\"
  }
  function quoted(text,   result, index_, letter) {
    result = ""
    for (index_ = 1; index_ <= length(text); index_++) {
      letter = substr(text, index_, 1)
      result = result (letter in escape ? escape[letter] : letter)
    }
    return "\"" result "\""
  }
  { sub(/^\n/, "") }
  NR % 3 == 1 { id = $0; next }
  NR % 3 == 2 { time = $0; next }
  { sub(/\n+$/, ""); print "{\"id\":" quoted(id) ",\"createdAt\":" quoted(time) ",\"body\":" quoted($0) "}" }
'
