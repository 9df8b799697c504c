-- SPDX-FileCopyrightText: 2026 The Khadim authors
-- SPDX-License-Identifier: LGPL-2.1-or-later
--
-- A store as schema 1 has it, written by hand: it does not change with the code.

PRAGMA journal_mode = WAL;
PRAGMA application_id = 1263026500;
PRAGMA user_version = 1;
CREATE TABLE sessions (
 id TEXT PRIMARY KEY NOT NULL,
 parent_session_id TEXT,
 parent_call_id TEXT,
 driver TEXT,
 title TEXT,
 automation TEXT,
 assets_dir TEXT,
 work_dir TEXT,
 workspace_id TEXT,
 inputs TEXT,
 options TEXT,
 state TEXT NOT NULL,
 outcome TEXT,
 error_code TEXT,
 error_message TEXT,
 output TEXT,
 owner TEXT,
 created_us INTEGER NOT NULL,
 updated_us INTEGER NOT NULL,
 ended_us INTEGER NOT NULL);
CREATE TABLE documents (
 session_id TEXT PRIMARY KEY NOT NULL,
 document TEXT NOT NULL);
CREATE TABLE runs (
 id TEXT PRIMARY KEY NOT NULL,
 session_id TEXT NOT NULL,
 started_by TEXT,
 attempt INTEGER NOT NULL,
 outcome TEXT,
 started_us INTEGER NOT NULL,
 ended_us INTEGER NOT NULL);
CREATE TABLE tool_calls (
 id TEXT PRIMARY KEY NOT NULL,
 session_id TEXT NOT NULL,
 run_id TEXT,
 position TEXT NOT NULL,
 step_id TEXT,
 title TEXT,
 tool TEXT,
 args TEXT,
 state TEXT NOT NULL,
 result TEXT,
 detail TEXT,
 error_code TEXT,
 error_message TEXT,
 error_scope TEXT,
 audit TEXT,
 created_us INTEGER NOT NULL,
 started_us INTEGER NOT NULL,
 ended_us INTEGER NOT NULL,
 UNIQUE (session_id, position));
CREATE TABLE events (
 session_id TEXT NOT NULL,
 seq INTEGER NOT NULL,
 time_us INTEGER NOT NULL,
 channel TEXT NOT NULL,
 event_type TEXT NOT NULL,
 content TEXT,
 metadata TEXT,
 run_id TEXT,
 workspace_id TEXT,
 PRIMARY KEY (session_id, seq)) WITHOUT ROWID;
CREATE TABLE artifacts (
 session_id TEXT NOT NULL,
 call_id TEXT,
 role TEXT,
 name TEXT,
 media_type TEXT,
 sha256 TEXT NOT NULL,
 size_bytes INTEGER NOT NULL,
 created_us INTEGER NOT NULL);
CREATE TABLE commands (
 id INTEGER PRIMARY KEY AUTOINCREMENT,
 session_id TEXT NOT NULL,
 kind TEXT NOT NULL,
 payload TEXT,
 by_whom TEXT,
 created_us INTEGER NOT NULL,
 handled_us INTEGER NOT NULL);
CREATE TABLE automations (
 name TEXT PRIMARY KEY NOT NULL,
 folder TEXT,
 title TEXT,
 updated_us INTEGER NOT NULL,
 last_run_us INTEGER NOT NULL,
 last_outcome TEXT);
CREATE INDEX sessions_by_time ON sessions (created_us)
 WHERE parent_session_id IS NULL;
CREATE INDEX sessions_by_automation ON sessions (automation, created_us)
 WHERE parent_session_id IS NULL;
CREATE INDEX sessions_by_parent ON sessions (parent_session_id, created_us)
 WHERE parent_session_id IS NOT NULL;
CREATE INDEX runs_by_session ON runs (session_id, started_us);
CREATE INDEX artifacts_by_session ON artifacts (session_id);
CREATE INDEX artifacts_by_sum ON artifacts (sha256, session_id);
CREATE INDEX commands_unhandled ON commands (session_id)
 WHERE handled_us = 0;
INSERT INTO sessions (id, driver, title, inputs, state, owner, created_us, updated_us, ended_us)
 VALUES ('01900000-0000-7000-8000-000000000001', 'player', 'Bills', '{"n":1}', 'PAUSED',
 '01900000-0000-7000-8000-0000000000ff', 1767323045000006, 1767323045000006, 0);
INSERT INTO documents VALUES ('01900000-0000-7000-8000-000000000001', '{"steps":[]}');
INSERT INTO runs VALUES ('r1', '01900000-0000-7000-8000-000000000001', 'person', 1, NULL, 5, 0);
INSERT INTO tool_calls (id, session_id, run_id, position, tool, args, state,
 created_us, started_us, ended_us)
 VALUES ('c1', '01900000-0000-7000-8000-000000000001', 'r1', '0', 'screen.click', '{}',
 'EXECUTING', 6, 7, 0);
INSERT INTO events VALUES ('01900000-0000-7000-8000-000000000001', 1, 6, 'progress',
 'step_start', NULL, NULL, 'r1', NULL);
INSERT INTO events VALUES ('01900000-0000-7000-8000-000000000001', 2, 1767323045000006, 'control',
 'question', 'Go on?', '{"kind":"choice"}', 'r1', NULL);
INSERT INTO commands (session_id, kind, payload, by_whom, created_us, handled_us)
 VALUES ('01900000-0000-7000-8000-000000000001', 'answer', '{"value":"yes"}', 'somebody', 8, 0);
INSERT INTO automations VALUES ('bills', '/home/a/bills', 'Bills', 1, 2, 'completed');
