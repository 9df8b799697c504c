#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Khadim authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plays automations on private displays, kills the player, and resumes.

The judges are the records of the displays in the runtime folder and the file
that the automation writes.

Usage: test-private-run.py KHADIM
"""
import glob
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

KHADIM = os.path.abspath(sys.argv[1])
LIMIT_S = 60
DOCUMENT = {
    "khadim": 1,
    "name": "Wait for me",
    "display": "private",
    "steps": [
        {"id": "begin", "tool": "files.append", "args": {"path": "out.txt", "text": "begin\n"}},
        {"id": "wait", "tool": "files.wait_for", "args": {"path": "go.txt"}, "timeout": "50s"},
        {"id": "end", "tool": "files.append", "args": {"path": "out.txt", "text": "end\n"}},
    ],
}


def until(condition, what):
    """Waits for a condition, with a limit; gives what it gave."""
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError("waited in vain for " + what)


class Place:
    """A folder of its own for one test, with what runs in it."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="kr-", dir="/tmp")
        self.auto = os.path.join(self.folder, "wait.khadim")
        self.work = os.path.join(self.folder, "work")
        self.env = dict(os.environ, KHADIM_HOME=os.path.join(self.folder, "home"),
                        XDG_RUNTIME_DIR=os.path.join(self.folder, "run"))
        self.env.pop("KHADIM_DISPLAY_ID", None)
        for name in ("wait.khadim", "work", "run"):
            os.mkdir(os.path.join(self.folder, name), 0o700)
        with open(os.path.join(self.auto, "automation.json"), "w") as file:
            json.dump(DOCUMENT, file)

    def start(self, *arguments):
        return subprocess.Popen([KHADIM] + list(arguments), env=self.env, cwd=self.work,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def record(self):
        """The record of the only display, or None."""
        paths = glob.glob(os.path.join(self.env["XDG_RUNTIME_DIR"], "khadim/displays/*.json"))
        if not paths:
            return None
        with open(paths[0]) as file:
            record = json.load(file)
        return record if record["display"] else None

    def out(self):
        path = os.path.join(self.work, "out.txt")
        return open(path).read() if os.path.exists(path) else ""

    def go(self):
        open(os.path.join(self.work, "go.txt"), "w").write("go\n")

    def session(self):
        out, _ = self.start("sessions", "--json").communicate(timeout=LIMIT_S)
        return json.loads(out.splitlines()[0])["id"]

    def waits(self):
        """Whether the store says that the second step is under way."""
        path = os.path.join(self.env["KHADIM_HOME"], "khadim.db")
        try:
            db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
            try:
                return db.execute("SELECT count(*) FROM tool_calls WHERE step_id = 'wait'"
                                  " AND state = 'EXECUTING'").fetchone()[0] == 1
            finally:
                db.close()
        except sqlite3.OperationalError:
            return False

    def start_and_kill(self):
        """A run whose player is killed while it waits; its display stays."""
        process = self.start("run", self.auto)
        until(self.waits, "the second step")
        record = self.record()
        os.kill(record["child_pid"], signal.SIGKILL)
        process.communicate(timeout=LIMIT_S)
        assert process.returncode == 128 + signal.SIGKILL, process.returncode
        left = self.record()
        assert left["id"] == record["id"] and left["child_pid"] == 0, left
        return record

    def finish(self, process):
        self.go()
        _, err = process.communicate(timeout=LIMIT_S)
        assert process.returncode == 0, (process.returncode, err)
        assert self.out() == "begin\nend\n", self.out()
        assert self.record() is None, "the display did not end"
        return err


def test_run(place):
    """Plays to its end on a display that it leaves nothing of."""
    process = place.start("run", place.auto)
    record = until(place.record, "a display")
    assert record["width_px"] == 1920, record
    place.finish(process)


def test_resume(place):
    """A resume takes the display up that the killed run was on."""
    record = place.start_and_kill()
    process = place.start("run", "--resume", place.session())
    until(lambda: (place.record() or record)["child_pid"] not in (0, record["child_pid"]),
          "the display to be claimed")
    assert place.record()["id"] == record["id"]
    err = place.finish(process)
    assert "display-lost" not in err, err


def test_lost(place):
    """The display is gone meanwhile: the resume says so, on another one."""
    record = place.start_and_kill()
    os.kill(record["supervisor_pid"], signal.SIGTERM)
    until(lambda: place.record() is None, "the end of the display")
    process = place.start("run", "--resume", place.session())
    other = until(place.record, "another display")
    assert other["id"] != record["id"]
    err = place.finish(process)
    assert "display-lost" in err, err


def test_stop(place):
    """A stop is the player's to carry out, and ends the display."""
    process = place.start("run", place.auto)
    until(place.waits, "the second step")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=LIMIT_S)
    assert process.returncode == 130, process.returncode
    assert place.record() is None and place.out() == "begin\n"


def test_current(place):
    """Asked to stay on the current display, it starts none."""
    process = place.start("run", place.auto, "--display", "current")
    until(place.waits, "the second step")
    assert place.record() is None
    place.finish(process)


def main():
    tests = [test_run, test_resume, test_lost, test_stop, test_current]
    print("1..%d" % len(tests))
    for number, test in enumerate(tests, 1):
        place = Place()
        try:
            test(place)
            print("ok %d /app/private-run/%s" % (number, test.__name__[5:]), flush=True)
        except (AssertionError, OSError, subprocess.TimeoutExpired, ValueError) as error:
            print("not ok %d /app/private-run/%s" % (number, test.__name__[5:]))
            print("# " + repr(error), flush=True)
        finally:
            place.go()
            shutil.rmtree(place.folder, ignore_errors=True)


main()
