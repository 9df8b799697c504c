#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Khadim authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Kills `khadim run` at random moments while it types into a real editor.

The editor outlives the kills. The judge is the file that it saves: every line
once, in order. A step whose outcome is unknown parks the run; the test then
looks at the editor, as a person would, and answers.

Usage: test-screen-kill.py KHADIM [KILLS [SEED [LINES]]]
"""
import json
import os
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import desk as desks  # noqa: E402

KHADIM = os.path.abspath(sys.argv[1])
KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 25
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
# With more than nine lines the click lands in the text, not below it.
LINES = int(sys.argv[4]) if len(sys.argv) > 4 else 8
LIMIT_S = 120
# Of all kills, so many may need a person.
MAX_SHARE = 0.02

FIELD = {"a11y": {"app": "mousepad", "path": [{"role": "frame"}, {"role": "text"}]}}
DOCUMENT = {
    "khadim": 1,
    "name": "Type on",
    "steps": [
        {"id": "each", "repeat": LINES, "as": "i", "steps": [
            {"id": "click", "tool": "screen.click", "target": FIELD},
            {"id": "end", "tool": "screen.key", "args": {"keys": "ctrl+End"},
             "on_sealed": "redo"},
            {"id": "type", "tool": "screen.type", "target": FIELD, "timeout": "20s",
             "args": {"text": "Line {{ i }}: Grüße, Ωμέγα – 漢字\n"}},
            {"id": "save", "tool": "screen.key", "args": {"keys": "ctrl+s"},
             "on_sealed": "redo"},
        ]},
    ],
}
EXPECTED = "".join("Line %d: Grüße, Ωμέγα – 漢字\n" % (i + 1) for i in range(LINES))


class Round:
    """One document from its beginning to its end, killed again and again."""

    def __init__(self, number):
        self.desk = desks.Desk()
        self.path = os.path.join(self.desk.home, "typed.txt")
        open(self.path, "w").close()
        self.auto = os.path.join(self.desk.root, "type.khadim")
        os.mkdir(self.auto)
        with open(os.path.join(self.auto, "automation.json"), "w") as file:
            json.dump(DOCUMENT, file)
        self.desk.start(["mousepad", self.path])
        desks.wait_until(lambda: "Mousepad" in self.desk.output(
            ["xdotool", "search", "--name", "Mousepad", "getwindowname"]), what="the editor")

    def sessions(self):
        out = self.desk.call([KHADIM, "sessions", "--json"])
        assert out.returncode == 0, out.stderr
        return [json.loads(line) for line in out.stdout.splitlines()]

    def run(self, arguments, kill_after):
        process = subprocess.Popen([KHADIM] + arguments, env=self.desk.env, cwd=self.desk.root,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        killed = False
        if kill_after is not None:
            try:
                process.wait(timeout=kill_after)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                killed = True
        out = process.communicate(timeout=LIMIT_S)[0]
        return process.returncode, out, killed

    def saved(self):
        self.desk.output(["xdotool", "key", "ctrl+s"])
        wanted = [None]

        def steady():
            with open(self.path, encoding="utf-8") as file:
                text = file.read()
            same = text == wanted[0]
            wanted[0] = text
            return same
        desks.wait_until(steady, what="the editor's save")
        return wanted[0]

    def answer(self, session):
        """What a person says who looks: a click does no harm twice, a text that
        is there is there, one that is there in part is taken out first."""
        text = self.saved()
        whole = EXPECTED.startswith(text)
        return "redo" if whole else "continue"

    def play(self, rng, stats, kills_left):
        arguments = ["run", self.auto]
        end = time.monotonic() + 4 * LIMIT_S
        kills = 0
        while True:
            assert time.monotonic() < end, "it does not come to an end"
            kill_after = rng.uniform(0.05, 1.2) if kills < kills_left else None
            code, out, killed = self.run(arguments, kill_after)
            if killed:
                kills += 1
            elif code == 3:
                stats["asked"] += 1
                stats["questions"].append(out[-300:])
                listed = self.sessions()
                said = self.desk.call([KHADIM, "approve", listed[0]["id"],
                                       self.answer(listed[0]["id"])])
                assert said.returncode == 0, said.stderr
            elif code == 0:
                break
            else:
                raise AssertionError("exit code %d: %s" % (code, out[-2000:]))
            listed = self.sessions()
            if listed and listed[0]["state"] == "completed":
                break
            arguments = ["run", self.auto] if not listed else ["run", "--resume", listed[0]["id"]]
        text = self.saved()
        assert text == EXPECTED, "the file says:\n" + text
        return kills


def main():
    rng = random.Random(SEED)
    stats = {"asked": 0, "questions": []}
    kills = 0
    number = 0
    while kills < KILLS:
        number += 1
        round_ = Round(number)
        try:
            done = round_.play(rng, stats, KILLS - kills)
            kills += done
            print("ok %d after %d kills every line is there once" % (number, done), flush=True)
            if done == 0:
                break
        except (AssertionError, subprocess.TimeoutExpired, OSError) as error:
            print("not ok %d round %d\n# %s" % (number, number, str(error).replace("\n", "\n# ")),
                  flush=True)
            break
        finally:
            round_.desk.close()
    number += 1
    share = stats["asked"] / max(kills, 1)
    print("# %d kills, %d of them needed a person (%.1f %%)" % (kills, stats["asked"], share * 100))
    for question in stats["questions"]:
        print("# " + question.replace("\n", "\n# "))
    good = kills >= KILLS and stats["asked"] <= max(1, int(MAX_SHARE * kills))
    print("%s %d the kills hit runs, and few needed a person" % ("ok" if good else "not ok", number))
    print("1..%d" % number)


main()
