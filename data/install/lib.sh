# shellcheck shell=sh
# SPDX-FileCopyrightText: 2026 The Khadim authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What app/start and tests/run share: packages and builds. To be sourced,
# with $top set to the top of the source.

# The guess of how long an installation takes: bytes and packages a second.
khadim_bytes_per_s=4000000
khadim_packages_per_s=4

khadim_say ()
{
  printf '%s\n' "$*"
}

khadim_fail ()
{
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# khadim_list FILE…: the packages named in the lists, without comments
khadim_list ()
{
  sed -e 's/#.*//' -e 's/[[:space:]]*$//' -e '/^$/d' "$@"
}

# khadim_missing FILE…: those of the lists that are not installed
khadim_missing ()
{
  khadim_list "$@" | while read -r package
  do
    case $(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null) in
      ?i*) ;;
      *) printf '%s ' "$package" ;;
    esac
  done
}

# khadim_apt ARG…: apt-get that never asks, as root
khadim_apt ()
{
  if [ "$(id -u)" = 0 ]
  then
    env DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 LC_ALL=C \
      apt-get -y -o DPkg::Lock::Timeout=300 "$@" </dev/null
  else
    sudo env DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 LC_ALL=C \
      apt-get -y -o DPkg::Lock::Timeout=300 "$@"
  fi
}

# khadim_plan PACKAGE…: "BYTES COUNT" of what apt would fetch; fails when apt
# does not know a package
khadim_plan ()
{
  khadim_uris=$(LC_ALL=C apt-get -y --print-uris --no-install-recommends \
    install "$@" 2>/dev/null) || return 1
  printf '%s\n' "$khadim_uris" |
    awk '/^\047/ { bytes += $3; count++ } END { printf "%d %d\n", bytes, count }'
}

# khadim_announce BYTES COUNT: how much, and about how long
khadim_announce ()
{
  awk -v bytes="$1" -v count="$2" \
    -v fetch="$khadim_bytes_per_s" -v unpack="$khadim_packages_per_s" 'BEGIN {
      minutes = int ((bytes / fetch + count / unpack) / 60 + 1)
      printf "Installing %d packages: %.0f MB to fetch, about %d minute%s.\n",
        count, bytes / 1e6, minutes, minutes == 1 ? "" : "s"
    }'
}

# khadim_install FILE…: everything that the lists name
khadim_install ()
{
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null
  then
    khadim_say "This system has no apt. What is needed, by its Debian 12 names:"
    khadim_list "$@" | sed 's/^/  /'
    khadim_fail "install these, then build with: meson setup build && ninja -C build"
  fi

  khadim_missing=$(khadim_missing "$@")
  [ -n "$khadim_missing" ] || return 0
  if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null
  then
    khadim_fail "as root, run: apt-get --no-install-recommends install $khadim_missing"
  fi

  # shellcheck disable=SC2086 # a list of words
  if ! khadim_plan=$(khadim_plan $khadim_missing)
  then
    khadim_say "Reading the package lists (apt-get update)."
    khadim_apt -q update || khadim_fail "apt-get update failed: is there a network?"
    # shellcheck disable=SC2086
    khadim_plan=$(khadim_plan $khadim_missing) ||
      khadim_fail "apt does not know all of: $khadim_missing"
  fi
  # shellcheck disable=SC2086 # two numbers
  khadim_announce $khadim_plan

  # shellcheck disable=SC2086
  if ! khadim_apt -q --no-install-recommends install $khadim_missing
  then
    khadim_say "Once more, with new package lists."
    khadim_apt -q update || khadim_fail "apt-get update failed: is there a network?"
    # shellcheck disable=SC2086
    khadim_apt -q --no-install-recommends install $khadim_missing ||
      khadim_fail "apt-get could not install: $khadim_missing"
  fi
}

# khadim_build DIR OPTION…: configures once, then builds
khadim_build ()
{
  khadim_dir=$1
  shift
  if [ -e "$khadim_dir/build.ninja" ]
  then
    meson configure "$khadim_dir" "$@" || return 1
  else
    meson setup "$khadim_dir" "${top:?}" "$@" || return 1
  fi
  ninja -C "$khadim_dir"
}
