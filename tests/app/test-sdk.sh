#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Khadim authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Another program's view: installs into a folder and builds against what is
# there, by pkg-config. TAP on stdout. Usage: test-sdk.sh BUILD PREFIX

set -u
build=$1
prefix=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

installed ()
{
  meson install -C "$build" --no-rebuild --destdir "$work/dest" || return 1
  mkdir "$work/pc"
  folder=$(dirname "$(find "$work/dest" -name khadim-1.pc)")
  for file in "$folder"/khadim*.pc
  do
    sed "s|^prefix=.*|prefix=$work/dest$prefix|" "$file" >"$work/pc/${file##*/}" || return 1
  done
}

cat >"$work/sample.c" <<END
#include <engine/khadim.h>
#include <rpa/khadim-rpa.h>

int
main (void)
{
  g_autofree char *id = khadim_uuid7_new ();

  g_print ("%s %d\n", khadim_rpa_get_version (), (int) strlen (id));
  return 0;
}
END

# compiled PACKAGE: builds the sample with what pkg-config says of PACKAGE
compiled ()
{
  flags=$(PKG_CONFIG_PATH="$work/pc" pkg-config --cflags --libs "$1") || return 1
  # shellcheck disable=SC2086 # a list of words
  (cd "$work" && ${CC:-cc} -Wall -Werror -o sample sample.c $flags)
}

runs ()
{
  compiled khadim-rpa-1 || return 1
  library=$(dirname "$(find "$work/dest" -name libkhadim-rpa.so.0)")
  [ "$(LD_LIBRARY_PATH="$library" "$work/sample")" = \
    "$(PKG_CONFIG_PATH="$work/pc" pkg-config --modversion khadim-rpa-1) 36" ]
}

# The engine alone does not bring the screen
engine_only ()
{
  ! compiled khadim-1 && grep -q 'khadim_rpa_get_version' "$work/log"
}

# No header is private, none includes another library's
headers ()
{
  count=$(find "$work/dest" -name '*.h' | wc -l)
  [ "$count" -gt 2 ] && [ -z "$(find "$work/dest" -name '*-private.h')" ] &&
    ! grep -rlE '#include <(X11|atspi|xdo|gtk|sqlite3|lua)' "$work/dest$prefix/include"
}

number=0
echo 1..4
for name in installed runs engine_only headers
do
  number=$((number + 1))
  if "$name" >"$work/log" 2>&1
  then
    echo "ok $number /app/sdk/$name"
  else
    echo "not ok $number /app/sdk/$name"
    sed 's/^/# /' "$work/log"
  fi
done
