/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* A player with a real store in a folder of its own and a domain of tools
 * that write down what they do. */

#pragma once

#include "engine/session/khadim-session.h"

typedef struct
{
  char *folder;
  KhadimStore *store;
  KhadimEngine *engine;
  char *session_id;

  /* Set before playing */
  const char *extra;            /* members of the document */
  const char *from;
  const char *stop_at;          /* the type of the event at which to stop */
  gboolean dry_run;

  /* What came of it */
  GPtrArray *events;
  JsonNode *output;
  char *code;
  char *message;

  /* While it runs */
  KhadimSession *session;
  KhadimOutcome outcome;
  gboolean ended;
} Fixture;

void          fixture_set_up         (Fixture       *self,
                                      gconstpointer  data);
void          fixture_tear_down      (Fixture       *self,
                                      gconstpointer  data);
KhadimOutcome fixture_play           (Fixture       *self,
                                      const char    *steps);
KhadimOutcome fixture_resume         (Fixture       *self);
void          fixture_answer         (Fixture       *self,
                                      const char    *answer);
void          fixture_store_secret   (Fixture       *self,
                                      const char    *name,
                                      const char    *value);
char         *fixture_read_log       (Fixture       *self);
gboolean      fixture_has_file       (Fixture       *self,
                                      const char    *name);
guint         fixture_count_events   (Fixture       *self,
                                      const char    *event_type);
gboolean      fixture_store_contains (Fixture       *self,
                                      const char    *text);
