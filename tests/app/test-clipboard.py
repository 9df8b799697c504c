#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Khadim authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tools of the clipboard, in an automation that is run.

The other side is xclip; the judges are what it had before, and what a real
editor saved.

Usage: test-clipboard.py KHADIM
"""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import desk as desks  # noqa: E402

KHADIM = os.path.abspath(sys.argv[1])
BEFORE = "before: Grüße 漢字 😀"
PASTED = "pasted: Привет\n\tmir “q”\n"

DOCUMENT = {
    "khadim": 1,
    "name": "Clipboard",
    "steps": [
        {"id": "get", "tool": "clipboard.get", "save": "first"},
        {"id": "open", "tool": "app.open", "args": {"command": ["mousepad", "note.txt"]},
         "save": "editor"},
        {"id": "paste", "tool": "clipboard.paste", "in": "editor", "args": {"text": PASTED}},
        {"id": "save", "tool": "screen.key", "in": "editor", "args": {"keys": "ctrl+s"}},
        {"id": "saved", "wait_for": {"file": "note.txt", "stable": "200ms"}, "timeout": "10s"},
        {"id": "note", "check": {"file": "note.txt", "text": PASTED}},
        {"id": "again", "tool": "clipboard.get", "save": "second"},
        {"id": "set", "tool": "clipboard.set", "args": {"text": "mine"}},
        {"id": "last", "tool": "clipboard.get", "save": "third"},
    ],
}


def xclip(desk, text):
    path = os.path.join(desk.root, "clip")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    desk.start(["xclip", "-quiet", "-selection", "clipboard", "-t", "UTF8_STRING", "-i", path])
    desks.wait_until(lambda: desk.output(["xclip", "-selection", "clipboard", "-t", "UTF8_STRING",
                                          "-o"]) == text, what="setting the clipboard")


def run(desk, document):
    work = os.path.join(desk.root, "work")
    path = os.path.join(desk.root, "clipboard.khadim")
    os.makedirs(work)
    os.makedirs(path)
    with open(os.path.join(path, "automation.json"), "w", encoding="utf-8") as file:
        json.dump(document, file)
    return work, desk.call([KHADIM, "run", path, "--cwd", work, "--display", "current", "--json"])


def find_texts(lines):
    events = [json.loads(line) for line in lines.splitlines()]
    return [event["metadata"]["result"]["text"] for event in events
            if event["event_type"] == "step_complete" and event["content"] == "clipboard.get"]


def tools():
    desk = desks.Desk()
    try:
        xclip(desk, BEFORE)
        work, ran = run(desk, DOCUMENT)
        assert ran.returncode == 0, "exit code %d: %s%s" % (ran.returncode, ran.stdout[-3000:],
                                                            ran.stderr[-2000:])
        with open(os.path.join(work, "note.txt"), encoding="utf-8") as file:
            assert file.read() == PASTED
        texts = find_texts(ran.stdout)
        assert texts == [BEFORE, BEFORE, "mine"], texts
    finally:
        desk.close()


def empty():
    desk = desks.Desk()
    try:
        _, ran = run(desk, {"khadim": 1, "name": "Empty",
                            "steps": [{"id": "get", "tool": "clipboard.get"}]})
        assert ran.returncode != 0
        assert "not-found" in ran.stdout + ran.stderr, ran.stdout + ran.stderr
    finally:
        desk.close()


TESTS = [("tools", tools), ("empty", empty)]


def main():
    print("1..%d" % len(TESTS))
    for number, (name, test) in enumerate(TESTS):
        try:
            test()
            print("ok %d %s" % (number + 1, name), flush=True)
        except (AssertionError, OSError) as error:
            print("not ok %d %s\n# %s" % (number + 1, name, str(error).replace("\n", "\n# ")),
                  flush=True)


main()
