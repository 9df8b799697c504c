#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Khadim authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Faulty documents: each made from a valid one by one change.

For every fault `khadim run` ends with exit code 2, names the very place that
was changed, and has run nothing: the file that the first step would write is
not there.

Usage: test-bad-input.py KHADIM
"""
import copy
import json
import os
import shutil
import subprocess
import sys
import tempfile

KHADIM = os.path.abspath(sys.argv[1])

VALID = {
    "khadim": 1,
    "name": "Valid",
    "inputs": {"type": "object", "properties": {"file": {"type": "string", "default": "a.txt"}}},
    "budget": {"steps": 1000, "time": "10m"},
    "permissions": {"mode": "auto", "deny": ["files.delete"]},
    "steps": [
        {"id": "mark", "tool": "files.write", "args": {"path": "ran.txt", "text": "ran"}},
        {"id": "tool", "tool": "files.read", "args": {"path": "{{ inputs.file }}"}, "save": "text",
         "timeout": "10s", "retry": {"times": 2, "delay": "1s", "growth": 1.5}},
        {"id": "if", "if": "1 < 2", "then": [{"id": "then", "script": "x = 1"}],
         "else": [{"id": "else", "fail": "no {{ inputs.file }}"}]},
        {"id": "each", "for_each": "{1, 2}", "as": "n", "key": "n", "max": 10,
         "steps": [{"id": "inner", "check": "n > 0", "message": "n is {{ n }}"}]},
        {"id": "while", "while": "x < 1", "steps": [{"id": "turn", "script": "x = x + 1"}]},
        {"id": "repeat", "repeat": 2, "as": "i",
         "steps": [{"id": "again", "tool": "wait", "args": {"seconds": 0}}]},
        {"id": "try", "try": [{"id": "risky", "script": "y = 1"}],
         "catch": {"not-found": [{"id": "caught", "script": "y = 2"}]},
         "finally": [{"id": "finally", "script": "y = 3"}]},
        {"id": "wait", "wait_for": {"file": "a.txt"}, "timeout": "5s"},
        {"id": "poll", "wait_for": "x > 0", "every": "10ms",
         "steps": [{"id": "look", "script": "x = 1"}]},
        {"id": "ask", "ask": {"question": "Go on?", "kind": "choice", "options": ["yes", "no"]}},
        {"id": "call", "call": "other.khadim", "inputs": {"a": "{{ x }}"}},
        {"id": "check", "check": {"file": "a.txt", "text": "hello"}},
    ],
    "outputs": {"x": "x"},
}


def put(*path_and_value):
    """Sets a member; the place is where it is."""
    *path, value = path_and_value

    def change(document):
        node = document
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = value
        return None
    return change


def drop(*path):
    def change(document):
        node = document
        for key in path[:-1]:
            node = node[key]
        del node[path[-1]]
    return change


def nest(depth, kind):
    """Steps inside steps, deeper than is allowed."""
    def change(document):
        steps = [{"id": "deepest", "script": "x = 1"}]
        for level in range(depth):
            step = {"id": "deep%d" % level}
            step.update({kind: "true", "then": steps} if kind == "if" else
                        {kind: 1, "steps": steps} if kind == "repeat" else
                        {kind: steps, "finally": []} if kind == "try" else
                        {kind: [1], "as": "v", "steps": steps} if kind == "for_each" else
                        {kind: "true", "steps": steps})
            steps = [step]
        document["steps"] = [VALID["steps"][0]] + steps
    return change


S = "steps"
CLASSES = {
    "wrong type": [
        (put(S, 1, "tool", 5), "steps[1].tool"),
        (put(S, 1, "args", []), "steps[1].args"),
        (put(S, 2, "then", {}), "steps[2].then"),
        (put("name", 7), "name"),
        (put(S, 3, "steps", "no"), "steps[3].steps"),
    ],
    "unknown key": [
        (put("stpes", []), "stpes"),
        (put(S, 1, "tolo", "x"), "steps[1].tolo"),
        (put(S, 3, "steps", 0, "mesage", "x"), "steps[3].steps[0].mesage"),
        (put(S, 1, "retry", "tims", 3), "steps[1].retry.tims"),
        (put("budget", "money", 1), "budget.money"),
    ],
    "a key of another kind of step": [
        (put(S, 2, "save", "x"), "steps[2].save"),
        (put(S, 3, "else", []), "steps[3].else"),
        (put(S, 0, "steps", []), "steps[0].steps"),
        (put(S, 6, "then", []), "steps[6].then"),
        (put(S, 4, "key", "x"), "steps[4].key"),
    ],
    # What is missing has no place of its own: it is missing where it belongs.
    "missing key": [
        (drop("name"), ""),
        (drop("khadim"), ""),
        (drop(S, 1, "id"), "steps[1]"),
        (drop(S, 2, "then"), "steps[2]"),
        (drop(S, 3, "as"), "steps[3]"),
    ],
    "two kinds in one step": [
        (put(S, 0, "script", "x = 1"), "steps[0]"),
        (put(S, 2, "fail", "x"), "steps[2]"),
        (put(S, 3, "steps", 0, "fail", "x"), "steps[3].steps[0]"),
        (put(S, 4, "repeat", 2), "steps[4]"),
        (put(S, 9, "check", "true"), "steps[9]"),
    ],
    "no kind": [
        (drop(S, 0, "tool"), "steps[0]"),
        (drop(S, 3, "steps", 0, "check"), "steps[3].steps[0]"),
        (drop(S, 10, "call"), "steps[10]"),
        (put(S, 1, {"id": "nothing"}), "steps[1]"),
        (put(S, 2, "then", 0, {"id": "nothing", "note": "x"}), "steps[2].then[0]"),
    ],
    "the same id twice": [
        (put(S, 1, "id", "mark"), "steps[1].id"),
        (put(S, 2, "then", 0, "id", "if"), "steps[2].then[0].id"),
        (put(S, 2, "else", 0, "id", "then"), "steps[2].else[0].id"),
        (put(S, 6, "finally", 0, "id", "mark"), "steps[6].finally[0].id"),
        (put(S, 3, "steps", 0, "id", "tool"), "steps[3].steps[0].id"),
    ],
    "bad id": [
        (put(S, 0, "id", ""), "steps[0].id"),
        (put(S, 0, "id", "a b"), "steps[0].id"),
        (put(S, 0, "id", "1st"), "steps[0].id"),
        (put(S, 0, "id", "x" * 100), "steps[0].id"),
        (put(S, 0, "id", "a.b"), "steps[0].id"),
    ],
    "bad duration": [
        (put(S, 1, "timeout", "10"), "steps[1].timeout"),
        (put(S, 1, "timeout", "soon"), "steps[1].timeout"),
        (put(S, 1, "retry", "delay", "-1s"), "steps[1].retry.delay"),
        (put(S, 8, "every", "1 s"), "steps[8].every"),
        (put("budget", "time", "1y"), "budget.time"),
    ],
    "faulty expression": [
        (put(S, 2, "if", "1 <"), "steps[2].if"),
        (put(S, 3, "for_each", "{1, 2"), "steps[3].for_each"),
        (put(S, 4, "while", "x = 1"), "steps[4].while"),
        (put(S, 3, "steps", 0, "check", "n >> > 0"), "steps[3].steps[0].check"),
        (put("outputs", "x", "x +"), "outputs.x"),
    ],
    "faulty template": [
        (put(S, 0, "args", "text", "a {{ 1 + }}"), "steps[0].args.text"),
        (put(S, 1, "args", "path", "{{ inputs.file"), "steps[1].args.path"),
        (put(S, 2, "else", 0, "fail", "{{ }}"), "steps[2].else[0].fail"),
        (put(S, 3, "steps", 0, "message", "{{ n n }}"), "steps[3].steps[0].message"),
        (put(S, 10, "inputs", "a", "{{ ) }}"), "steps[10].inputs.a"),
    ],
    "faulty script": [
        (put(S, 2, "then", 0, "script", "x ="), "steps[2].then[0].script"),
        (put(S, 4, "steps", 0, "script", "if x then"), "steps[4].steps[0].script"),
        (put(S, 6, "try", 0, "script", "end"), "steps[6].try[0].script"),
        (put(S, 6, "catch", "not-found", 0, "script", "'"),
         "steps[6].catch.not-found[0].script"),
        (put(S, 8, "steps", 0, "script", "\x1bLua"), "steps[8].steps[0].script"),
    ],
    "unknown tool": [
        (put(S, 0, "tool", "files.wirte"), "steps[0].tool"),
        (put(S, 1, "tool", "file.read"), "steps[1].tool"),
        (put(S, 1, "tool", "read"), "steps[1].tool"),
        (put(S, 5, "steps", 0, "tool", "wait.for"), "steps[5].steps[0].tool"),
        (put(S, 1, "tool", "Files.Read"), "steps[1].tool"),
    ],
    "unknown argument": [
        (put(S, 0, "args", "txet", "x"), "steps[0].args.txet"),
        (put(S, 1, "args", "file", "x"), "steps[1].args.file"),
        (put(S, 5, "steps", 0, "args", "minutes", 1), "steps[5].steps[0].args.minutes"),
        (put(S, 0, "target", {"image": {"file": "x.png"}}), "steps[0].target"),
        (put(S, 0, "in", "window"), "steps[0].in"),
    ],
    "missing argument": [
        (drop(S, 0, "args", "path"), "steps[0].args"),
        (drop(S, 0, "args", "text"), "steps[0].args"),
        (drop(S, 1, "args", "path"), "steps[1].args"),
        (drop(S, 5, "steps", 0, "args", "seconds"), "steps[5].steps[0].args"),
        (put(S, 1, "args", {}), "steps[1].args"),
    ],
    "wrong argument": [
        (put(S, 0, "args", "path", 5), "steps[0].args.path"),
        (put(S, 0, "args", "text", ["x"]), "steps[0].args.text"),
        (put(S, 1, "args", "path", None), "steps[1].args.path"),
        (put(S, 5, "steps", 0, "args", "seconds", -1), "steps[5].steps[0].args.seconds"),
        (put(S, 5, "steps", 0, "args", "seconds", "1"), "steps[5].steps[0].args.seconds"),
    ],
    "a secret where none may stand": [
        (put(S, 0, "args", "text", {"secret": "a/b"}), "steps[0].args.text"),
        (put(S, 0, "args", "path", {"secret": "a/b"}), "steps[0].args.path"),
        (put(S, 5, "steps", 0, "args", "seconds", {"secret": "a/b"}),
         "steps[5].steps[0].args.seconds"),
        (put(S, 1, "args", "path", {"secret": "a/b", "format": "%s"}), "steps[1].args.path"),
        (put(S, 2, "if", {"secret": "a/b"}), "steps[2].if"),
    ],
    "unknown error code": [
        (put(S, 6, "catch", "notfound", []), "steps[6].catch.notfound"),
        (put(S, 6, "catch", "cancelled", []), "steps[6].catch.cancelled"),
        (put(S, 6, "catch", "", []), 'steps[6].catch[""]'),
        (put(S, 6, "catch", "Timeout", []), "steps[6].catch.Timeout"),
        (put(S, 6, "catch", "404", []), 'steps[6].catch["404"]'),
    ],
    "bad variable": [
        (put(S, 1, "save", "end"), "steps[1].save"),
        (put(S, 1, "save", "a-b"), "steps[1].save"),
        (put(S, 1, "save", "inputs"), "steps[1].save"),
        (put(S, 3, "as", "1x"), "steps[3].as"),
        (put(S, 3, "as", "while"), "steps[3].as"),
    ],
    "a loop without an end": [
        (put(S, 3, "max", 0), "steps[3].max"),
        (put(S, 3, "max", 10000000), "steps[3].max"),
        (put(S, 5, "repeat", -1), "steps[5].repeat"),
        (put(S, 1, "retry", "times", 1000), "steps[1].retry.times"),
        (put(S, 8, "max", -5), "steps[8].max"),
    ],
    "nested too deep": [
        (nest(40, "if"), "inside one another"),
        (nest(40, "repeat"), "inside one another"),
        (nest(40, "try"), "inside one another"),
        (nest(40, "for_each"), "inside one another"),
        (nest(40, "while"), "inside one another"),
    ],
    "another automation that is not there": [
        (put(S, 10, "call", "none.khadim"), "steps[10].call"),
        (put(S, 10, "call", ""), "steps[10].call"),
        (put(S, 10, "call", "../none"), "steps[10].call"),
        (put(S, 10, "call", "/none"), "steps[10].call"),
        (put(S, 10, "call", "other"), "steps[10].call"),
    ],
    "not built yet, or of a newer format": [
        (put("khadim", 2), "khadim"),
        (put("handlers", []), "handlers"),
        (put("runner", "docker"), "runner"),
        (put(S, 1, "on_error", "heal"), "steps[1].on_error"),
        (put("environment", {}), "environment"),
    ],
    "faulty question": [
        (put(S, 9, "ask", "options", []), "steps[9].ask.options"),
        (put(S, 9, "ask", "kind", "secret"), "steps[9].ask.kind"),
        (drop(S, 9, "ask", "question"), "steps[9].ask"),
        (drop(S, 9, "ask", "options"), "steps[9].ask"),
        (put(S, 9, "ask", "options", ["yes"]), "steps[9].ask.options"),
    ],
}


def text_faults():
    """Faults of the text itself: the place is a line and a column."""
    good = json.dumps(VALID, indent=1)
    return {
        "not JSON": [
            (good[:-20], "line"),
            (good.replace('"name": "Valid"', '"name": "Valid", // no'), "line 3"),
            (good.replace('"name": "Valid"', "'name': 'Valid'"), "line 3"),
            (good.replace('"name": "Valid"', '"name": "Valid", "name": "Twice"'), "name"),
            (good.replace('"Valid"', '"Val\0id"'), "NUL"),
        ],
        "too much": [
            (good + " " * (5 * 1024 * 1024), "4194304"),
            ("[" * 100000, "inside one another"),
            (good.replace('"Valid"', '"%s"' % ("x" * 300)), "name"),
            (good.replace('"steps": 1000', '"steps": 99999999999999999999'), "budget.steps"),
            (good.replace('"Valid"', '"\\ud800"'), "line 3"),
        ],
    }


class Folder:
    def __init__(self):
        self.root = tempfile.mkdtemp(prefix="khadim-bad-")
        self.auto = os.path.join(self.root, "bad.khadim")
        self.work = os.path.join(self.root, "work")
        self.env = dict(os.environ, KHADIM_HOME=os.path.join(self.root, "home"))
        other = os.path.join(self.auto, "other.khadim")
        os.makedirs(other)
        os.mkdir(self.work)
        with open(os.path.join(self.auto, "a.txt"), "w") as file:
            file.write("hello")
        with open(os.path.join(other, "automation.json"), "w") as file:
            json.dump({"khadim": 1, "name": "Other", "steps": [],
                       "inputs": {"type": "object", "properties": {"a": {}}}}, file)

    def write(self, text):
        with open(os.path.join(self.auto, "automation.json"), "w") as file:
            file.write(text)

    def khadim(self, *arguments):
        return subprocess.run([KHADIM] + list(arguments), env=self.env, cwd=self.work,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)

    def ran(self):
        return os.path.exists(os.path.join(self.work, "ran.txt"))

    def fault(self, text, place, exact):
        """What is wrong with how @text was refused, or None."""
        self.write(text)
        checked = self.khadim("check", "--json", self.auto)
        ran = self.khadim("run", self.auto)
        if checked.returncode != 2 or ran.returncode != 2:
            return "exit codes %d and %d: %s" % (checked.returncode, ran.returncode, ran.stderr)
        if self.ran() or ran.stdout:
            return "something was run: " + ran.stdout
        answer = json.loads(checked.stdout)
        if exact and answer["place"] != place:
            return "the place is “%s”, not “%s”: %s" % (answer["place"], place, answer["message"])
        if not exact and place not in answer["message"]:
            return "“%s” is not in: %s" % (place, answer["message"])
        if exact and place not in ran.stderr:
            return "the place is not in: " + ran.stderr
        return None


def main():
    folder = Folder()
    cases = []
    for name, faults in CLASSES.items():
        for number, (change, place) in enumerate(faults):
            document = copy.deepcopy(VALID)
            change(document)
            # What nests too deep is refused by the reader, with line and column.
            exact = name != "nested too deep"
            cases.append(("%s %d" % (name, number + 1), json.dumps(document), place, exact))
    for name, faults in text_faults().items():
        for number, (text, place) in enumerate(faults):
            cases.append(("%s %d" % (name, number + 1), text, place, False))

    print("1..%d" % (len(cases) + 1))
    # The control: without a change it is accepted and runs.
    folder.write(json.dumps(VALID))
    checked = folder.khadim("check", folder.auto)
    ran = folder.khadim("run", folder.auto)
    good = checked.returncode == 0 and ran.returncode == 3 and folder.ran()
    print("%s 1 the document itself is valid" % ("ok" if good else "not ok"))
    if not good:
        print("# %s %s %s" % (checked.stderr, ran.stdout.replace("\n", "\n# "), ran.stderr))
    if folder.ran():
        os.unlink(os.path.join(folder.work, "ran.txt"))
    for number, (name, text, place, exact) in enumerate(cases):
        fault = folder.fault(text, place, exact)
        print("%s %d %s" % ("not ok" if fault else "ok", number + 2, name))
        if fault:
            print("# " + fault.replace("\n", "\n# "))
    shutil.rmtree(folder.root)


main()
