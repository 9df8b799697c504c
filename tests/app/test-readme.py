#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Khadim authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Does what the README says: its first automation, word by word.

Usage: test-readme.py KHADIM README
"""
import os
import re
import subprocess
import sys
import tempfile

# What makes our own warnings fatal is not meant for the programs that are opened.
os.environ.pop("G_DEBUG", None)

KHADIM = os.path.abspath(sys.argv[1])
LIMIT_S = 60


def block(text, language, number=0):
    """A block of code in a language."""
    return re.findall(r"```%s\n(.*?)```" % language, text, re.S)[number]


def khadim(folder, *arguments):
    env = dict(os.environ, KHADIM_HOME=os.path.join(folder, "home"))
    # The programs of others are not to die of their own warnings
    for name in ("G_DEBUG", "MALLOC_PERTURB_", "MALLOC_CHECK_"):
        env.pop(name, None)
    return subprocess.run([KHADIM] + list(arguments), env=env, cwd=folder, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=LIMIT_S, check=False)


def write(folder, name, text):
    os.mkdir(os.path.join(folder, name))
    with open(os.path.join(folder, name, "automation.json"), "w") as file:
        file.write(text)


def read_texts(folder):
    texts = {}
    for name in os.listdir(folder):
        if name.endswith(".txt"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                texts[name] = file.read()
    return texts


def play_first(readme):
    with tempfile.TemporaryDirectory(prefix="khadim-readme-") as folder:
        write(folder, "letters.khadim", block(readme, "json"))
        with open(os.path.join(folder, "orders.csv"), "w") as file:
            file.write(block(readme, "csv"))
        checked = khadim(folder, "check", "letters.khadim")
        played = khadim(folder, "run", "letters.khadim")
        listed = khadim(folder, "sessions")
        letters = read_texts(folder)

    return [
        ("check", checked.returncode == 0, checked.stdout),
        ("run", played.returncode == 0, played.stdout),
        ("letters", letters == {"Anna.txt": "Dear Anna,\nyou owe 139.93.\n"}, repr(letters)),
        ("sessions", "completed" in listed.stdout and "Letters" in listed.stdout, listed.stdout),
    ]


def play_screen(readme):
    with tempfile.TemporaryDirectory(prefix="khadim-readme-") as folder:
        write(folder, "note.khadim", block(readme, "json", 1))
        played = khadim(folder, "run", "note.khadim")
        notes = read_texts(folder)

    return [
        ("screen-run", played.returncode == 0, played.stdout),
        ("screen-note", notes == {"note.txt": "Nobody typed this.\n"}, repr(notes)),
    ]


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        readme = file.read()
    results = play_screen(readme) if "--screen" in sys.argv[3:] else play_first(readme)
    print("1..%d" % len(results))
    for number, (name, good, output) in enumerate(results, 1):
        print("%s %d /app/readme/%s" % ("ok" if good else "not ok", number, name))
        if not good:
            print("# " + output.replace("\n", "\n# "))


main()
