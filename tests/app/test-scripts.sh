#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Khadim authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The scripts that people and continuous integration call. TAP on stdout.
# Usage: test-scripts.sh TOP

set -u
top=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
number=0

# check NAME COMMAND…: one test
check ()
{
  name=$1
  shift
  number=$((number + 1))
  if "$@" >"$work/output" 2>&1
  then
    echo "ok $number $name"
  else
    echo "not ok $number $name"
    sed 's/^/# /' "$work/output"
  fi
}

# A test program for the project below: writes BODY to NAME, made executable
program ()
{
  printf '#!/bin/sh\n%s\n' "$2" >"$work/fake/$1"
  chmod +x "$work/fake/$1"
  printf "test('%s', find_program('./%s'), protocol: '%s')\n" "$1" "$1" "${3:-tap}" \
    >>"$work/fake/meson.build"
}

# new_project: an empty meson project that programs are added to
new_project ()
{
  rm -rf "$work/fake"
  mkdir "$work/fake"
  echo "project('fake')" >"$work/fake/meson.build"
}

# counts EXPECTED STATUS: real meson runs the project, the count must be this
counts ()
{
  meson setup "$work/fake/build" "$work/fake" >/dev/null || return 1
  meson test -C "$work/fake/build" >/dev/null 2>&1
  python3 "$top/tests/count.py" "$work/fake/build/meson-logs/testlog.json" >"$work/count"
  status=$?
  cat "$work/count"
  [ "$(tail -n 1 "$work/count")" = "$1" ] && [ "$status" = "$2" ]
}

count_good ()
{
  new_project
  program good 'echo 1..2; echo "ok 1 /a"; echo "    not ok 1 nested"; echo "ok 2 /b"'
  program plain 'exit 0' exitcode
  counts '3 passed, 0 failed, 0 skipped' 0
}

count_fail ()
{
  new_project
  program bad 'echo 1..2; echo "ok 1 /a"; echo "not ok 2 /b"; exit 1'
  counts '1 passed, 1 failed, 0 skipped' 1
}

count_fail_zero ()
{
  new_project
  program bad 'echo 1..2; echo "ok 1 /a"; echo "not ok 2 /b"; exit 0'
  counts '1 passed, 1 failed, 0 skipped' 1
}

count_crash ()
{
  new_project
  program crash 'echo 1..3; echo "ok 1 /a"; kill -SEGV $$'
  program silent 'kill -ABRT $$' exitcode
  counts '1 passed, 2 failed, 0 skipped' 1 &&
    grep -q 'crash: 2 of 3 tests did not run' "$work/count"
}

count_early_exit ()
{
  new_project
  program early 'echo 1..3; echo "ok 1 /a"; exit 0'
  counts '1 passed, 1 failed, 0 skipped' 1
}

count_skip ()
{
  new_project
  program skip 'echo 1..3; echo "ok 1 /a # SKIP no display"; echo "ok 2 /b"
                echo "not ok 3 /c # TODO later"'
  program all 'echo "1..0 # SKIP nothing here"'
  program code 'exit 77' exitcode
  counts '1 passed, 0 failed, 4 skipped' 0
}

count_bail ()
{
  new_project
  program bail 'echo 1..2; echo "ok 1 /a"; echo "Bail out! no"; exit 1'
  counts '1 passed, 1 failed, 0 skipped' 1
}

count_nothing ()
{
  new_project
  counts '0 passed, 1 failed, 0 skipped' 1
}

# The options: help is 0 and says usage; what is unknown is 2
options ()
{
  for script in app/start tests/run
  do
    (cd / && "$top/$script" --help) | grep -q '^Usage:' || return 1
    "$top/$script" --no-such-option
    [ $? = 2 ] || return 1
  done
}

# With no apt: the list of what is needed, and failure
no_apt ()
{
  mkdir -p "$work/bin"
  for tool in sh dirname sed id
  do
    ln -sf "$(command -v "$tool")" "$work/bin/$tool"
  done
  if PATH="$work/bin" sh "$top/app/start" >"$work/list" 2>&1
  then
    return 1
  fi
  cat "$work/list"
  grep -q '^This system has no apt' "$work/list" && grep -q '^  galculator$' "$work/list" &&
    ! grep -q '^  fonts-noto-cjk$' "$work/list"
}

# A package is in one list only, and each line is a name that Debian allows
lists ()
{
  sed -e 's/#.*//' -e '/^$/d' "$top"/data/install/debian-*.txt | sort >"$work/packages"
  [ -s "$work/packages" ] && [ -z "$(uniq -d "$work/packages")" ] &&
    ! grep -vE '^[a-z0-9][a-z0-9+.-]+$' "$work/packages"
}

checked ()
{
  cd "$top" && shellcheck -x .ci/run app/start tests/run data/install/lib.sh \
    tests/app/test-scripts.sh tests/app/test-sdk.sh
}

echo 1..12
check /app/scripts/count/good count_good
check /app/scripts/count/fail count_fail
check /app/scripts/count/fail-with-exit-zero count_fail_zero
check /app/scripts/count/crash count_crash
check /app/scripts/count/early-exit count_early_exit
check /app/scripts/count/skip count_skip
check /app/scripts/count/bail-out count_bail
check /app/scripts/count/nothing count_nothing
check /app/scripts/options options
check /app/scripts/no-apt no_apt
check /app/scripts/lists lists
if command -v shellcheck >/dev/null
then
  check /app/scripts/shellcheck checked
else
  echo "ok 12 /app/scripts/shellcheck # SKIP shellcheck is not installed"
fi
