#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Khadim authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads reports as others do: a parser of HTML, one of XML, one of JSON.

Usage: test-report.py KHADIM
"""
import html.parser
import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
import xml.etree.ElementTree

KHADIM = os.path.abspath(sys.argv[1])
VOID = {"meta", "img", "br", "link", "input", "hr"}
HOSTILE = ("</title><script>alert(1)</script><img src=x onerror=alert(2)>\"'&]]>-->"
           " \x01\x1b[31m\x7f\uffff\u202e")


class Page(html.parser.HTMLParser):
    """The elements of a page, with the text in each, and whether they nest."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open = []
        self.elements = []
        self.text = ""
        self.feed(text)
        self.close()
        assert not self.open, "not closed: %s" % self.open

    def handle_starttag(self, tag, attrs):
        element = {"tag": tag, "attrs": dict(attrs), "text": "",
                   "inside": [e for e in self.open]}
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1]["tag"] == tag, "</%s> closes %s" % (tag, self.open[-1:])
        self.open.pop()

    def handle_data(self, data):
        self.text += data
        for element in self.open:
            element["text"] += data

    def find(self, tag, cls=None):
        return [e for e in self.elements
                if e["tag"] == tag and (cls is None or e["attrs"].get("class") == cls)]


def play(document, expected, *others):
    root = tempfile.mkdtemp(prefix="khadim-report-")
    try:
        folder = os.path.join(root, "a.khadim")
        for name, text in [("a", document)] + list(others):
            os.mkdir(os.path.join(root, name + ".khadim"))
            path = os.path.join(root, name + ".khadim", "automation.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(text, file)
        env = dict(os.environ, KHADIM_HOME=os.path.join(root, "home"))
        ran = subprocess.run([KHADIM, "run", folder, "--cwd", root, "--report",
                              os.path.join(root, "report")], env=env, capture_output=True,
                             text=True, stdin=subprocess.DEVNULL, timeout=60)
        assert ran.returncode == expected, (ran.returncode, ran.stdout, ran.stderr)
        texts = {}
        for name in ("index.html", "junit.xml", "report.json"):
            with open(os.path.join(root, "report", name), encoding="utf-8") as file:
                texts[name] = file.read()
        page = Page(texts["index.html"])
        suite = xml.etree.ElementTree.fromstring(texts["junit.xml"].encode())[0]
        return page, suite, json.loads(texts["report.json"]), texts["index.html"]
    finally:
        shutil.rmtree(root)


def document(steps, name="Report"):
    return {"khadim": 1, "name": name, "steps": steps}


def cases(suite, element):
    return [case.get("name") for case in suite if case.find(element) is not None]


def check_counts(suite):
    assert int(suite.get("tests")) == len(suite)
    for attribute, element in (("failures", "failure"), ("errors", "error"),
                               ("skipped", "skipped")):
        assert int(suite.get(attribute)) == len(cases(suite, element)), attribute


def test_hostile():
    page, suite, report, raw = play(document([
        {"id": "a", "title": HOSTILE, "script": "x = %s" % json.dumps(HOSTILE[:40])},
        {"id": "b", "tool": "files.write", "args": {"path": "b.txt", "text": HOSTILE}},
        {"id": "c", "check": "false", "message": HOSTILE},
    ], name=HOSTILE), 1)
    tags = {e["tag"] for e in page.elements}
    assert tags.isdisjoint({"script", "iframe", "object", "link", "img"})
    assert not [e for e in page.elements for name in e["attrs"] if name.startswith("on")]
    # The control: the text is there, as text
    assert page.text.count("<script>alert(1)</script>") >= 4
    assert len(page.find("title")) == 1 and "<script>" in page.find("title")[0]["text"]
    assert not [c for c in raw if ord(c) < 32 and c not in "\n\t"]
    assert "\u241b[31m" in page.text
    check_counts(suite)
    assert "<script>alert(1)</script>" in suite.get("name")
    assert report["title"] == HOSTILE


def test_self_contained():
    page, _, _, raw = play(document([{"id": "a", "script": "x = 1"}]), 0)
    assert not [e for e in page.elements if "href" in e["attrs"] or "src" in e["attrs"]]
    assert "url(" not in raw and "@import" not in raw
    policy = [e["attrs"]["content"] for e in page.find("meta")
              if e["attrs"].get("http-equiv") == "Content-Security-Policy"]
    assert len(policy) == 1 and policy[0].startswith("default-src 'none'"), policy


def test_huge():
    page, _, report, raw = play(document([
        {"id": "a", "tool": "files.write", "args": {"path": "a.txt", "text": "ü" * 500000}},
        {"id": "b", "tool": "files.write", "args": {"path": "b.txt", "text": "short"}},
    ]), 0)
    assert len(raw.encode()) < 50000, len(raw)
    assert report["steps"][0]["args"]["text"] == "ü" * 500000
    folds = page.find("details", "v")
    assert len(folds) == 1
    assert folds[0]["text"].replace("\xa0", " ").startswith("Arguments 1.0 MB")
    assert "…" in folds[0]["text"]


def test_loops():
    page, _, _, _ = play(document([
        {"id": "first", "title": "First", "script": "x = 1"},
        {"id": "each", "for_each": "{'Anna', 'Bo <b>'}", "as": "n", "key": "n", "steps": [
            {"id": "one", "title": "One for {{ n }}", "script": "x = 1"},
            {"id": "twice", "repeat": 2, "as": "i",
             "steps": [{"id": "in", "title": "In {{ i }}", "script": "x = 1"}]},
            {"id": "no", "title": "Not for Bo", "check": "n == 'Anna'"}]},
    ]), 1)
    turns = page.find("details", "g")
    names = [[e for e in page.elements if e["attrs"].get("class") == "t" and turn in e["inside"]][0]
             ["text"] for turn in turns]
    assert names == ["Anna", "Turn 1", "Turn 2", "Bo <b>", "Turn 1", "Turn 2"], names
    assert [("open" in turn["attrs"]) for turn in turns] == [False] * 3 + [True, False, False]
    assert len(turns[1]["inside"]) == len(turns[0]["inside"]) + 2   # in the turn, in its .in
    steps = [e for e in page.find("details") if e["attrs"].get("class") is None]
    assert len(steps) == 1 + 2 * 4
    failed = [e for e in steps if e["attrs"].get("id") == "failed"]
    assert len(failed) == 1 and "Not for Bo" in failed[0]["text"] and "open" in failed[0]["attrs"]
    assert [e["attrs"]["href"] for e in page.find("a")] == ["#failed"]


def test_junit_kinds():
    _, suite, _, _ = play(document([
        {"id": "ok", "script": "x = 1"},
        {"id": "t", "try": [{"id": "gone", "tool": "files.read", "args": {"path": "none"}}],
         "finally": [{"id": "check", "check": "1 > 2"}]}]), 1)
    check_counts(suite)
    assert len(cases(suite, "failure")) == 1 and cases(suite, "failure")[0].startswith("t.check")
    assert len(cases(suite, "error")) == 1 and cases(suite, "error")[0].startswith("t.gone")
    assert suite.find(".//error").get("type") == "not-found"
    assert suite.find(".//failure").get("type") == "check-failed"
    assert float(suite.get("time")) >= 0


def test_junit_caught():
    """A run that went on to its end has not failed."""
    _, suite, _, _ = play(document([
        {"id": "t", "try": [{"id": "gone", "tool": "files.read", "args": {"path": "none"}}],
         "catch": {"not-found": [{"id": "else", "script": "x = 1"}]}}]), 0)
    check_counts(suite)
    assert suite.get("failures") == "0" and suite.get("errors") == "0"
    assert len(cases(suite, "skipped")) == 1 and "none" in suite.find(".//skipped").get("message")


def test_junit_outside():
    """A run that failed outside of its calls has failed all the same."""
    page, suite, report, _ = play(document([
        {"id": "ok", "script": "x = 1"},
        {"id": "each", "for_each": "'no list'", "as": "n",
         "steps": [{"id": "a", "script": "x = 2"}]}
    ]), 1)
    check_counts(suite)
    assert suite.get("errors") == "1" and report["error_code"] in page.text
    assert not page.find("a")


def test_called():
    """What a called automation did is under the step that called it."""
    page, _, report, _ = play(
        document([{"id": "k", "title": "Call it", "call": "../kid.khadim"}]), 1,
        ("kid", document([{"id": "one", "title": "Kid's first", "script": "x = 1"},
                          {"id": "two", "title": "Kid's second", "fail": "no"}], name="Kid")))
    called = report["steps"][0]["called"]
    assert called["title"] == "Kid" and called["outcome"] == "failed", called
    assert [step["title"] for step in called["steps"]] == ["Kid's first", "Kid's second"]
    steps = page.find("details")
    assert len(steps) == 3 and all(steps[0] in step["inside"] for step in steps[1:])
    assert "Kid's second" in steps[2]["text"] and "open" in steps[2]["attrs"]


TESTS = [test_hostile, test_self_contained, test_huge, test_loops, test_junit_kinds,
         test_junit_caught, test_junit_outside, test_called]


def main():
    print("1..%d" % len(TESTS))
    for number, test in enumerate(TESTS):
        name = test.__name__[5:].replace("_", "-")
        try:
            test()
            print("ok %d %s" % (number + 1, name), flush=True)
        except (AssertionError, OSError, xml.etree.ElementTree.ParseError) as error:
            line = traceback.extract_tb(error.__traceback__)[-1].lineno
            print("not ok %d %s\n# line %d: %s" % (number + 1, name, line,
                                                   str(error).replace("\n", "\n# ")), flush=True)


main()
