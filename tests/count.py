#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Khadim authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts what a run of `meson test` did, test by test.

Reads meson's testlog.json: one JSON object a line, one line a test program.
A program that speaks TAP counts by its top-level test lines, any other as
one. A program that ended badly counts as one failure at least, and so does a
plan of which not all tests ran. With no program at all the run has failed.
"""

import json
import re
import sys

TEST_LINE = re.compile(r'^(not )?ok\b\s*\d*\s*-?\s*([^#]*)(?:#\s*(\w+))?')
PLAN_LINE = re.compile(r'^1\.\.(\d+)')
GOOD = ('OK', 'EXPECTEDFAIL')


def count_tap(text):
    """Counts (passed, failed, skipped, planned, names of the failed)."""
    passed = skipped = 0
    planned = None
    names = []
    for line in text.splitlines():
        plan = PLAN_LINE.match(line)
        if plan:
            planned = int(plan.group(1))
            continue
        test = TEST_LINE.match(line)
        if not test:
            continue
        directive = (test.group(3) or '').upper()
        is_ok = test.group(1) is None
        if directive == 'SKIP' or (directive == 'TODO' and not is_ok):
            skipped += 1
        elif is_ok and directive != 'TODO':
            passed += 1
        else:
            names.append(test.group(2).strip())
    return passed, len(names), skipped, planned, names


def count_program(program):
    """Counts (passed, failed, skipped, what to say about it)."""
    result = program['result']
    passed, failed, skipped, planned, names = count_tap(program.get('stdout') or '')
    ran = passed + failed + skipped
    notes = ['%s: not ok: %s' % (program['name'], name) for name in names]

    if ran == 0:
        if result == 'SKIP':
            return 0, 0, 1, ['%s: skipped' % program['name']]
        if result in GOOD:
            return 1, 0, 0, []
    elif result in GOOD + ('SKIP',) and planned is not None and ran < planned:
        return passed, failed + 1, skipped, notes + [
            '%s: only %d of %d tests ran' % (program['name'], ran, planned)]
    if result not in GOOD + ('SKIP',):
        notes.append('%s: %s, return code %s' %
                     (program['name'], result, program.get('returncode')))
        if planned is not None and ran < planned:
            notes.append('%s: %d of %d tests did not run' %
                         (program['name'], planned - ran, planned))
        failed = max(failed, 1)
    return passed, failed, skipped, notes


def main(path):
    total = [0, 0, 0]
    programs = 0
    try:
        with open(path, encoding='utf-8') as log:
            for line in log:
                *counts, notes = count_program(json.loads(line))
                total = [a + b for a, b in zip(total, counts)]
                programs += 1
                for note in notes:
                    print(note)
    except (OSError, ValueError, KeyError) as error:
        print('%s: %s' % (path, error))
        total[1] += 1
    if programs == 0:
        print('no test ran')
        total[1] = max(total[1], 1)
    print('%d passed, %d failed, %d skipped' % tuple(total))
    return 1 if total[1] > 0 else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
