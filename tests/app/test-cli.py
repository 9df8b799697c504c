#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Khadim authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The program as people and scripts use it: exit codes, streams, questions.

Usage: test-cli.py KHADIM
"""
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

KHADIM = os.path.abspath(sys.argv[1])
LIMIT_S = 30
COMMANDS = ["run", "check", "automations", "sessions", "approve", "stop", "pause", "continue",
            "doctor"]

DONE = [{"id": "a", "title": "Grüße – ‹x›", "script": "x = 1"}]
FAILED = [{"id": "a", "fail": "no"}]
ASK = [{"id": "a", "ask": {"question": "Red or blue?", "kind": "choice",
                           "options": ["red", "blue"]}, "save": "c"}]
BUDGET = [{"id": "each", "repeat": 5, "as": "i",
           "steps": [{"id": "a", "tool": "wait", "args": {"seconds": 0}}]}]
LONG = [{"id": "each", "repeat": 100, "as": "i", "steps": [
    {"id": "note", "tool": "files.append", "args": {"path": "log.txt", "text": "{{ i }}\n"}},
    {"id": "a", "tool": "wait", "args": {"seconds": 0.05}}]}]
BUSY = [{"id": "x", "script": "x = 0"},
        {"id": "busy", "while": "x >= 0", "max": 1000000,
         "steps": [{"id": "a", "script": "x = x + 1"}]}]


class Place:
    """A folder with a store of its own."""

    def __init__(self):
        self.root = tempfile.mkdtemp(prefix="khadim-cli-")
        self.env = dict(os.environ, KHADIM_HOME=os.path.join(self.root, "home"))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        shutil.rmtree(self.root)

    def write(self, name, steps, **members):
        folder = os.path.join(self.root, name + ".khadim")
        os.mkdir(folder)
        with open(os.path.join(folder, "automation.json"), "w", encoding="utf-8") as file:
            json.dump(dict(khadim=1, name=name, steps=steps, **members), file)

    def call(self, *arguments, **env):
        ran = subprocess.run([KHADIM] + list(arguments), cwd=self.root, env=dict(self.env, **env),
                             stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S)
        ran.out, ran.err = ran.stdout.decode("utf-8"), ran.stderr.decode("utf-8")
        return ran

    def start(self, *arguments):
        return subprocess.Popen([KHADIM] + list(arguments), cwd=self.root, env=self.env,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def sessions(self):
        return [json.loads(line) for line in self.call("sessions", "--json").out.splitlines()]


def expect(ran, code, *words):
    text = ran.out + ran.err
    assert ran.returncode == code, "exit code %d: %s" % (ran.returncode, text)
    for word in words:
        assert word in text, "“%s” is not in: %s" % (word, text)


def wait_until(condition):
    end = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < end, "it did not happen in %d s" % LIMIT_S
        time.sleep(0.01)


def test_exit_codes():
    with Place() as place:
        for name, steps, code in (("done", DONE, 0), ("failed", FAILED, 1), ("ask", ASK, 3)):
            place.write(name, steps)
            expect(place.call("run", name + ".khadim"), code)
        place.write("budget", BUDGET, budget={"steps": 3})
        expect(place.call("run", "budget.khadim"), 4)
        place.write("faulty", [{"id": "a", "tool": "files.nothing", "args": {}}])
        expect(place.call("run", "faulty.khadim"), 2, "steps[0]")
        expect(place.call("check", "faulty.khadim"), 2, "steps[0]")
        expect(place.call("check", "done.khadim"), 0)


def test_signal():
    for number in (signal.SIGINT, signal.SIGTERM):
        with Place() as place:
            place.write("long", LONG)
            process = place.start("run", "long.khadim")
            assert process.stdout.readline().startswith("✓")
            process.send_signal(number)
            out, err = process.communicate(timeout=LIMIT_S)
            assert process.returncode == 130, (process.returncode, out, err)
            assert out.splitlines()[-1] == "Ended: interrupted", out
            assert place.sessions()[0]["state"] == "interrupted"


def test_busy():
    """Steps that never wait can be stopped, from here and from elsewhere."""
    with Place() as place:
        place.write("busy", BUSY)
        process = place.start("run", "busy.khadim")
        assert process.stdout.readline().startswith("✓")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=LIMIT_S)
        assert process.returncode == 130, process.returncode
        process = place.start("run", "busy.khadim")
        process.stdout.readline()
        expect(place.call("stop", place.sessions()[0]["id"]), 0)
        process.communicate(timeout=LIMIT_S)
        assert process.returncode == 130, process.returncode
        place.write("short", BUSY, budget={"time": "200ms"})
        expect(place.call("run", "short.khadim"), 4)


def test_usage():
    with Place() as place:
        for arguments in (["nothing"], ["run"], ["run", "nowhere"], ["run", "a", "b"],
                          ["run", "--nothing"], ["run", "a", "--resume", "b"],
                          ["run", "--resume", "none"], ["approve", "one"],
                          ["approve", "none", "yes"], ["stop"], ["stop", "none"],
                          ["sessions", "--limit", "0"], ["doctor", "more"]):
            ran = place.call(*arguments)
            expect(ran, 2)
            assert ran.out == "" and ran.err.startswith("khadim: "), (arguments, ran.out, ran.err)
        expect(place.call(), 2, "Usage:")


def test_help():
    with Place() as place:
        main = place.call("--help")
        expect(main, 0, "Exit codes", "KHADIM_HOME")
        for command in COMMANDS:
            assert re.search("^  %s  " % command, main.out, re.M), command
            ran = place.call(command, "--help")
            expect(ran, 0, "khadim " + command)
            assert ran.err == ""
        for word in ("0 done", "1 failed", "2 wrong", "3 a", "4 a budget", "130 stopped"):
            assert word in place.call("run", "--help").out, word
        assert place.call("--version").out.startswith("khadim ")


def read_stream(text, first=1):
    events = [json.loads(line) for line in text.splitlines()]
    assert [event["seq"] for event in events] == list(range(first, first + len(events)))
    assert len({event["session_id"] for event in events}) == 1
    return events


def count_ends(events):
    ends = [event for event in events
            if event["channel"] == "progress" and event["event_type"] in ("done", "error")]
    assert not ends or ends == events[-1:] or events[-1]["event_type"] == "error", events[-1]
    return len(ends)


def test_json():
    with Place() as place:
        for name, steps, ends in (("done", DONE, 1), ("failed", FAILED, 1), ("ask", ASK, 0)):
            place.write(name, steps)
            ran = place.call("run", "--json", name + ".khadim")
            events = read_stream(ran.out)
            assert count_ends(events) == ends, (name, events)
            assert ran.err == "", ran.err
        session = place.sessions()[0]["id"]
        expect(place.call("approve", session, "blue"), 0)
        # A resume goes on where the stream was
        ran = place.call("run", "--json", "--resume", session)
        assert count_ends(read_stream(ran.out, first=events[-1]["seq"] + 1)) == 1


def test_locale():
    """What is not in the locale's set of characters is not lost."""
    with Place() as place:
        place.write("done", DONE)
        for options in ([], ["--json"]):
            assert "Grüße – ‹x›" in place.call("run", "done.khadim", *options, LC_ALL="C").out


def test_approve():
    with Place() as place:
        place.write("ask", ASK, outputs={"c": "c"})
        expect(place.call("run", "ask.khadim"), 3, "? Red or blue?", "red|blue", "--resume")
        session = place.sessions()[0]
        assert session["state"] == "question" and session["question"] == "Red or blue?", session
        expect(place.call("approve", session["id"], "green"), 2, "red|blue")
        expect(place.call("approve", session["id"], "red", "--question", "none"), 2)
        expect(place.call("run", "--resume", session["id"]), 3)
        expect(place.call("approve", session["id"], "red"), 0)
        expect(place.call("run", "--resume", session["id"]), 0, '{"c":"red"}')
        expect(place.call("approve", session["id"], "red"), 2, "no such open question")


def test_approve_child():
    """The question of an automation that was called reaches the person, too."""
    with Place() as place:
        place.write("kid", ASK, outputs={"c": "c"})
        place.write("parent", [{"id": "k", "call": "../kid.khadim", "save": "r"}],
                    outputs={"r": "r"})
        expect(place.call("run", "parent.khadim"), 3, "? Red or blue?")
        session = place.sessions()[0]
        assert session["question"] == "Red or blue?", session
        expect(place.call("approve", session["id"], "blue"), 0, session["id"])
        expect(place.call("run", "--resume", session["id"]), 0, '{"r":{"c":"blue"}}')


def at_terminal(place, arguments, answers):
    """Plays at a terminal and types an answer for each prompt."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(place.root)
        os.execve(KHADIM, ["khadim"] + arguments, place.env)
    out, answers = b"", list(answers)
    while True:
        ready, _, _ = select.select([terminal], [], [], LIMIT_S)
        if not ready:
            os.kill(pid, signal.SIGKILL)
        try:
            piece = os.read(terminal, 4096) if ready else b""
        except OSError:
            piece = b""
        if not piece:
            break
        out += piece
        if out.endswith(b"> ") and answers:
            os.write(terminal, answers.pop(0))
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), out.decode()


def test_terminal():
    with Place() as place:
        place.write("ask", ASK + [dict(ASK[0], id="b", save="d")], outputs={"c": "c", "d": "d"})
        code, out = at_terminal(place, ["run", "ask.khadim"], [b"green\n", b"red\n", b"blue\n"])
        assert code == 0, out
        assert "none of the answers" in out and '{"c":"red","d":"blue"}' in out, out
        # The end of the input leaves the question open
        code, out = at_terminal(place, ["run", "ask.khadim"], [b"\x04"])
        assert code == 3 and "khadim approve" in out, (code, out)
        # A program that reads the events is not asked
        code, out = at_terminal(place, ["run", "--json", "ask.khadim"], [])
        assert code == 3 and "> " not in out, (code, out)


def read_log(place):
    try:
        with open(os.path.join(place.root, "log.txt")) as file:
            return file.read()
    except FileNotFoundError:
        return ""


def test_control():
    with Place() as place:
        place.write("long", LONG)
        process = place.start("run", "long.khadim")
        process.stdout.readline()
        session = place.sessions()[0]["id"]
        expect(place.call("pause", session), 0)
        wait_until(lambda: place.sessions()[0]["state"] == "paused")
        paused = read_log(place)
        expect(place.call("continue", session), 0)
        wait_until(lambda: len(read_log(place)) > len(paused))
        assert place.sessions()[0]["state"] == "running"
        expect(place.call("stop", session), 0)
        process.communicate(timeout=LIMIT_S)
        assert process.returncode == 130, process.returncode
        assert len(read_log(place).splitlines()) < 100
        expect(place.call("stop", session), 2, "ended already (interrupted)")
        place.write("ask", ASK)
        place.call("run", "ask.khadim")
        expect(place.call("stop", place.sessions()[0]["id"]), 2, "does not run")


def test_doctor():
    with Place() as place:
        # Where there is nothing, it says for each thing what to install
        ran = place.call("doctor", "--json", PATH="/nowhere", XDG_DATA_DIRS="/nowhere")
        expect(ran, 0)
        found = {entry["name"]: entry for entry in map(json.loads, ran.out.splitlines())}
        assert found["store"]["good"] and found["store"]["needed"]
        for name, package in (("virtual X server", "xvfb"), ("window manager", "openbox"),
                              ("session bus", "dbus-daemon"), ("accessibility", "at-spi2-core"),
                              ("text recognition", "tesseract-ocr-eng")):
            assert not found[name]["good"] and package in found[name]["advice"], found[name]
        # Without a store nothing runs
        with open(os.path.join(place.root, "file"), "w"):
            pass
        expect(place.call("doctor", KHADIM_HOME=os.path.join(place.root, "file", "home")), 1,
               "✗ store", "KHADIM_HOME")


TESTS = [test_exit_codes, test_signal, test_busy, test_usage, test_help, test_json, test_locale,
         test_approve,
         test_approve_child, test_terminal, test_control, test_doctor]


def main():
    print("1..%d" % len(TESTS))
    for number, test in enumerate(TESTS):
        name = test.__name__[5:].replace("_", "-")
        try:
            test()
            print("ok %d %s" % (number + 1, name), flush=True)
        except (AssertionError, OSError, subprocess.TimeoutExpired, ValueError) as error:
            line = traceback.extract_tb(error.__traceback__)[1].lineno
            print("not ok %d %s\n# line %d: %s" % (number + 1, name, line,
                                                   str(error).replace("\n", "\n# ")), flush=True)


main()
