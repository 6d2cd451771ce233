#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Formats the C files that git tracks with clang-format, by the .clang-format of the root. Versions of clang-format differ in
# what they make of it; the files are as version 14 writes them.
#   scripts/format.sh           formats
#   scripts/format.sh --check   changes nothing, names what it would change, and fails if that is anything; and lines of over 100 columns,
#                               which clang-format leaves where a text is longer: break the text
# Exit status 77: there is no clang-format of that version here.
set -eu

cd "$(dirname "$0")/.."
version=14

formatter=''
for program in "clang-format-$version" clang-format; do
  if "$program" --version 2>/dev/null | grep -q "version $version\."; then
    formatter=$program
    break
  fi
done
if [ -z "$formatter" ]; then
  echo "format: no clang-format of version $version here" >&2
  exit 77
fi

case ${1-} in
  '') git ls-files -z '*.c' '*.h' '*.cpp' | xargs -0 "$formatter" -i ;;
  --check)
    status=0
    git ls-files -z '*.c' '*.h' '*.cpp' | xargs -0 "$formatter" --dry-run --Werror || status=1
    if LC_ALL=C.UTF-8 git grep -nE '^.{101}' -- '*.c' '*.h' '*.cpp'; then
      echo "format: the lines above have over 100 columns: break their texts in two" >&2
      status=1
    fi
    exit "$status"
    ;;
  *)
    echo "usage: scripts/format.sh [--check]" >&2
    exit 2
    ;;
esac
