#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Khadim authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tools of the screen say when a place is not there.

An editor that nobody here wrote is open on a virtual display; the judge is the
report, whose pictures are measured.

Usage: test-screen-tools.py KHADIM
"""
import json
import os
import subprocess
import sys
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import desk as desks  # noqa: E402

KHADIM = os.path.abspath(sys.argv[1])
WIDTH, HEIGHT = 1000, 700
OPEN = {"id": "open", "tool": "app.open", "args": {"command": ["mousepad", "a.txt"]},
        "save": "editor"}
TEXT = {"a11y": {"app": "mousepad", "path": [{"role": "text"}]}}
NOWHERE = {"a11y": {"app": "mousepad", "path": [{"role": "text", "name": "Nowhere"}]}}


class Play:
    """A run on the desk: its exit code, and its steps as the report has them."""

    def __init__(self, desk, name, steps):
        work = os.path.join(desk.root, name)
        folder = os.path.join(work, "a.khadim")
        os.makedirs(folder)
        with open(os.path.join(folder, "automation.json"), "w") as file:
            json.dump({"khadim": 1, "name": name, "steps": steps}, file)
        ran = desk.call([KHADIM, "run", folder, "--display", "current", "--cwd", work, "--report",
                         os.path.join(work, "report")])
        self.code, self.out = ran.returncode, ran.stdout + ran.stderr
        with open(os.path.join(work, "report", "report.json"), encoding="utf-8") as file:
            self.steps = json.load(file)["steps"]
        self.store = desk.env["KHADIM_HOME"]

    def get_picture_size(self, desk, step):
        pictures = [a for a in step["artifacts"] if a["role"] == "screen"]
        assert len(pictures) == 1, step
        path = os.path.join(self.store, "artifacts", pictures[0]["sha256"])
        return desk.output(["identify", "-format", "%w %h", path])


def check_miss(desk, play, whole):
    step = play.steps[-1]
    assert play.code == 1 and step["error_code"] == "not-found", (step, play.out)
    assert "nearest" in step["detail"], step["detail"]
    size = play.get_picture_size(desk, step)
    assert (size == "%d %d" % (WIDTH, HEIGHT)) == whole, size


def test_target(desk):
    """The picture is that of the window that was looked in."""
    check_miss(desk, Play(desk, "target", [OPEN, {
        "id": "a", "tool": "screen.click", "in": "editor", "target": NOWHERE, "timeout": "2s"}]),
        False)


def test_window(desk):
    """Where the window is missing, the picture is that of the screen."""
    check_miss(desk, Play(desk, "window", [OPEN, {
        "id": "a", "tool": "screen.click", "args": {"in": {"title": "No such window"}},
        "target": TEXT, "timeout": "2s"}]), True)


def test_drag(desk):
    """The second place of a drag has the time of its step, too."""
    check_miss(desk, Play(desk, "drag", [OPEN, {
        "id": "a", "tool": "screen.drag", "in": "editor", "args": {"to": NOWHERE},
        "target": TEXT, "timeout": "3s"}]), False)


def test_padded_name(desk):
    """GTK 3 pads the names of menu items that have a key."""
    play = Play(desk, "padded", [
        OPEN,
        {"id": "menu", "tool": "screen.click", "in": "editor",
         "target": {"a11y": {"app": "mousepad", "path": [{"role": "menu", "name": "File"}]}}},
        {"id": "close", "tool": "screen.click", "in": "editor", "timeout": "10s",
         "target": {"a11y": {"app": "mousepad",
                             "path": [{"role": "menu item", "name": "Close Window"}]}}}])
    assert play.code == 0, play.out


TESTS = [test_target, test_window, test_drag, test_padded_name]


def main():
    print("1..%d" % len(TESTS))
    for number, test in enumerate(TESTS):
        name = test.__name__[5:].replace("_", "-")
        desk = desks.Desk(WIDTH, HEIGHT)
        try:
            test(desk)
            print("ok %d %s" % (number + 1, name), flush=True)
        except (AssertionError, OSError, subprocess.TimeoutExpired) as error:
            line = traceback.extract_tb(error.__traceback__)[1].lineno
            print("not ok %d %s\n# line %d: %s" % (number + 1, name, line,
                                                   str(error).replace("\n", "\n# ")), flush=True)
        finally:
            desk.close()


main()
