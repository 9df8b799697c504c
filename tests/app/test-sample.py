#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Khadim authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plays the sample automation in real programs.

On a private display, and on virtual displays of two sizes, light and dark.
The judge is what the editor saved, compared byte for byte with what a
reckoning of our own says.

Usage: test-sample.py KHADIM SAMPLE
"""
import csv
import decimal
import json
import os
import shutil
import sys
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import desk as desks  # noqa: E402

KHADIM = os.path.abspath(sys.argv[1])
SAMPLE = os.path.abspath(sys.argv[2])


def expected():
    letters = {}
    with open(os.path.join(SAMPLE, "customers.csv"), encoding="utf-8") as file:
        for row in csv.DictReader(file):
            total = decimal.Decimal(row["amount"]) * decimal.Decimal(row["price"])
            total = "{0:f}".format(total.normalize())
            letters[row["name"] + ".txt"] = (
                "Dear %s,\n\nyour %s %s cost %s €.\n\nThank you – and see you soon!\n"
                % (row["name"], row["amount"], row["item"], total)).encode()
    return letters


def check_letters(work):
    folder = os.path.join(work, "letters")
    found = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as file:
            found[name] = file.read()
    assert found == expected(), "the letters say %r" % found


def check_report(folder):
    with open(os.path.join(folder, "report.json"), encoding="utf-8") as file:
        report = json.load(file)
    assert report["outcome"] == "completed", report["outcome"]
    places = [step for step in report["steps"]
              if any(artifact["role"] == "place" for artifact in step["artifacts"])]
    rows = len(expected())
    assert len(places) >= 3 * rows, "%d pictures of places" % len(places)
    for step in places:
        assert step["detail"]["evidence"] == "a11y", step
    with open(os.path.join(folder, "index.html"), encoding="utf-8") as file:
        html = file.read()
    assert html.count("data:image/jpeg;base64,") >= 3 * rows
    assert "<script" not in html and "http://" not in html and "https://" not in html
    suite = xml.etree.ElementTree.parse(os.path.join(folder, "junit.xml")).getroot()[0]
    assert int(suite.get("tests")) == len(report["steps"])
    assert suite.get("failures") == "0" and suite.get("errors") == "0"


def play(desk, name, *options):
    work = os.path.join(desk.root, "work-" + name)
    report = os.path.join(desk.root, "report-" + name)
    os.mkdir(work)
    ran = desk.call([KHADIM, "run", SAMPLE, "--cwd", work, "--report", report] + list(options))
    assert ran.returncode == 0, "exit code %d: %s%s" % (ran.returncode, ran.stdout[-3000:],
                                                        ran.stderr[-2000:])
    last = ran.stdout.splitlines()[-1]
    assert last == "report: " + os.path.join(report, "index.html"), last
    check_letters(work)
    check_report(report)
    shutil.rmtree(report)


def on_display(width, height, theme):
    def test():
        desk = desks.Desk(width, height, theme=theme)
        try:
            play(desk, "current", "--display", "current")
        finally:
            desk.close()
    return test


def on_private():
    desk = desks.Desk()
    del desk.env["DISPLAY"]
    try:
        play(desk, "private", "--display", "private")
    finally:
        desk.close()


TESTS = [
    ("private display", on_private),
    ("1280x800, light", on_display(1280, 800, "Adwaita")),
    ("1280x800, dark", on_display(1280, 800, "Adwaita:dark")),
    ("3840x2160, light", on_display(3840, 2160, "Adwaita")),
    ("3840x2160, dark", on_display(3840, 2160, "Adwaita:dark")),
]


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
