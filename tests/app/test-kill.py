#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Khadim authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Kills `khadim run` at random moments and resumes it.

The judge is the file that the automation appends to, which cannot be repeated
without a trace: every line must be there exactly once. A step whose outcome
is unknown parks the run; the test then looks at the file, as a person would,
and answers.

Usage: test-kill.py KHADIM [RUNS [SEED]]
"""
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

KHADIM = os.path.abspath(sys.argv[1])
RUNS = int(sys.argv[2]) if len(sys.argv) > 2 else 40
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
LINES = 30
LIMIT_S = 60
# A kill comes at a random moment in this time. It grows, so that a run comes to
# its end on a busy machine too, where hardly a step is done before the kill.
WINDOW_S = 0.12
GROWTH = 1.15

DOCUMENT = {
    "khadim": 1,
    "name": "Kill me",
    "inputs": {"type": "object", "properties": {"n": {"type": "integer", "default": LINES}}},
    "steps": [
        {"id": "each", "repeat": "inputs.n", "as": "i", "steps": [
            {"id": "add", "tool": "files.append",
             "args": {"path": "out.txt", "text": "line {{ i }}\n"}},
            {"id": "look", "tool": "files.read", "args": {"path": "out.txt"}, "save": "now"},
            {"id": "some", "if": "i % 3 == 0", "then": [
                {"id": "copy", "tool": "files.write",
                 "args": {"path": "last.txt", "text": "{{ i }}"}}]},
        ]},
        {"id": "end", "check": {"file": "last.txt", "text": str(LINES // 3 * 3)}},
    ],
}
EXPECTED = "".join("line %d\n" % (i + 1) for i in range(LINES))


def run(arguments, env, cwd, kill_after=None):
    process = subprocess.Popen([KHADIM] + arguments, env=env, cwd=cwd, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # It is read from all the time: a full pipe would stop it for ever
    try:
        out, err = process.communicate(timeout=LIMIT_S if kill_after is None else kill_after)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        out, err = process.communicate(timeout=LIMIT_S)
        assert kill_after is not None, "it hangs"
    return process.returncode, out, err


def sessions(env, cwd):
    code, out, err = run(["sessions", "--json"], env, cwd)
    assert code == 0, err
    return [json.loads(line) for line in out.splitlines()]


def one(number, rng, stats):
    folder = tempfile.mkdtemp(prefix="khadim-kill-")
    try:
        auto = os.path.join(folder, "kill.khadim")
        work = os.path.join(folder, "work")
        os.mkdir(auto)
        os.mkdir(work)
        with open(os.path.join(auto, "automation.json"), "w") as file:
            json.dump(DOCUMENT, file)
        env = dict(os.environ, KHADIM_HOME=os.path.join(folder, "home"))
        out_txt = os.path.join(work, "out.txt")
        arguments = ["run", auto, "--json"]
        deadline = time.monotonic() + LIMIT_S
        window = WINDOW_S
        while True:
            assert time.monotonic() < deadline, "it does not come to an end"
            code, out, err = run(arguments, env, work, rng.uniform(0.0, window))
            window *= GROWTH
            if code == -signal.SIGKILL:
                stats["kills"] += 1
            elif code == 3:
                stats["sealed"] += 1
                listed = sessions(env, work)
                text = question_text(env, work, listed[0]["id"])
                lines = open(out_txt).read() if os.path.exists(out_txt) else ""
                said = "continue" if lines.endswith(text) else "redo"
                code, out, err = run(["approve", listed[0]["id"], said], env, work)
                assert code == 0, err
            elif code == 0:
                break
            else:
                raise AssertionError("exit code %d: %s%s" % (code, out[-2000:], err))
            listed = sessions(env, work)
            if listed and listed[0]["state"] == "completed":
                break
            arguments = ["run", auto, "--json"] if not listed else [
                "run", "--resume", listed[0]["id"], "--json"]
        found = open(out_txt).read()
        assert found == EXPECTED, "the file says:\n" + found
        return None
    except (AssertionError, subprocess.TimeoutExpired, OSError) as error:
        return str(error) or repr(error)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def question_text(env, work, session):
    """The text of the append that was under way, from the store itself."""
    db = sqlite3.connect("file:%s?mode=ro" % os.path.join(env["KHADIM_HOME"], "khadim.db"), uri=True)
    try:
        rows = db.execute("SELECT args FROM tool_calls WHERE session_id = ? AND state = 'SEALED'",
                          (session,)).fetchall()
    finally:
        db.close()
    assert len(rows) == 1, rows
    return json.loads(rows[0][0])["text"]


def main():
    rng = random.Random(SEED)
    stats = {"kills": 0, "sealed": 0}
    print("1..%d" % (RUNS + 1))
    for number in range(RUNS):
        fault = one(number, rng, stats)
        print("%s %d killed and resumed, run %d" % ("not ok" if fault else "ok", number + 1,
                                                    number + 1), flush=True)
        if fault:
            print("# " + fault.replace("\n", "\n# "), flush=True)
    print("# %(kills)d kills, %(sealed)d of them needed a person" % stats)
    # The control: the kills did hit runs under way.
    print("%s %d enough runs were hit" % ("ok" if stats["kills"] >= RUNS // 2 else "not ok",
                                          RUNS + 1))


main()
