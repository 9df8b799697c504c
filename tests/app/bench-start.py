#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Khadim authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How soon the program is there: its version, and the first event of a run.

The peer is a bare C program that loads the same libraries (GLib, json-glib,
libcurl, SQLite) and opens the same file. Both are started in turn; one JSON
object is written, with medians in milliseconds and their ratios.

Usage: bench-start.py KHADIM PEER
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

KHADIM, PEER = (os.path.abspath(path) for path in sys.argv[1:3])
ROUNDS = 40


def measure(argv, env):
    """Milliseconds until the first line of standard output."""
    begun = time.perf_counter()
    process = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    line = process.stdout.readline()
    took = (time.perf_counter() - begun) * 1000
    process.stdout.read()
    process.stdout.close()
    assert process.wait() == 0 and line, argv
    return took


def main():
    root = tempfile.mkdtemp(prefix="khadim-start-")
    try:
        folder = os.path.join(root, "a.khadim")
        os.mkdir(folder)
        path = os.path.join(folder, "automation.json")
        with open(path, "w") as file:
            json.dump({"khadim": 1, "name": "Start", "steps": [{"id": "a", "script": "x = 1"}]},
                      file)
        env = dict(os.environ, KHADIM_HOME=os.path.join(root, "home"))
        commands = {
            "peer": [PEER, path],
            "version": [KHADIM, "--version"],
            "first_event": [KHADIM, "run", "--json", folder],
        }
        times = {name: [] for name in commands}
        for number in range(ROUNDS + 1):
            for name, argv in commands.items():
                took = measure(argv, env)
                # The first round fills the caches and makes the store
                if number > 0:
                    times[name].append(took)
        result = {"benchmark": "start", "rounds": ROUNDS}
        for name, list_ms in times.items():
            result[name + "_ms"] = round(statistics.median(list_ms), 3)
        for name in ("version", "first_event"):
            result[name + "_ratio"] = round(result[name + "_ms"] / result["peer_ms"], 2)
        print(json.dumps(result))
    finally:
        shutil.rmtree(root)


main()
