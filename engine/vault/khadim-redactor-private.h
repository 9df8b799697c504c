/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "engine/vault/khadim-redactor.h"

G_BEGIN_DECLS

/* Memory that is wiped when it moves and when it goes. */
typedef struct {
  guint8 *data; /* owned, with a NUL behind it */
  gsize length;
  gsize capacity;
} KhadimWipeBuffer;

void _khadim_wipe_buffer_append (KhadimWipeBuffer *self,
                                 const void       *data,
                                 gsize             length);
void _khadim_wipe_buffer_drop   (KhadimWipeBuffer *self,
                                 gsize             length);
void _khadim_wipe_buffer_clear  (KhadimWipeBuffer *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (KhadimWipeBuffer, _khadim_wipe_buffer_clear)

/* One form of one value; counted by reference, as automatons share them */
typedef struct {
  guint8 *bytes; /* owned, wiped */
  gsize length;
  const char *name; /* interned */
  gboolean whole_word;
} KhadimRedactorPattern;

/* A set of patterns in the order in which they came */
typedef struct {
  GPtrArray *list; /* owned */
  GHashTable *set; /* owned, of the same patterns */
} KhadimRedactorPatterns;

KhadimRedactorPatterns *_khadim_redactor_patterns_new  (void);
void                    _khadim_redactor_patterns_free (KhadimRedactorPatterns *self);
void                    _khadim_redactor_patterns_add  (KhadimRedactorPatterns *self,
                                                        const guint8           *bytes,
                                                        gsize                   length,
                                                        const char             *name,
                                                        gboolean                whole_word);
void                    _khadim_redactor_forms_add     (KhadimRedactorPatterns *patterns,
                                                        const char             *name,
                                                        const char             *value);

/* Where the first bytes of a pattern were seen */
typedef struct {
  const KhadimRedactorPattern *pattern; /* borrowed from the automaton */
  gsize start;
} KhadimRedactorHit;

typedef struct _KhadimRedactorAutomaton KhadimRedactorAutomaton;

KhadimRedactorAutomaton *_khadim_redactor_automaton_new   (const KhadimRedactorPatterns *patterns);
KhadimRedactorAutomaton *_khadim_redactor_automaton_ref   (KhadimRedactorAutomaton      *self);
void                     _khadim_redactor_automaton_unref (KhadimRedactorAutomaton      *self);
gsize                    _khadim_redactor_automaton_scan  (KhadimRedactorAutomaton      *self,
                                                           guint32                      *state,
                                                           const guint8                 *data,
                                                           gsize                         length,
                                                           GArray                       *hits);
guint                    _khadim_redactor_automaton_depth (KhadimRedactorAutomaton      *self,
                                                           guint32                       state);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (KhadimRedactorAutomaton, _khadim_redactor_automaton_unref)

/* What is hidden: overlapping matches are one run, named after the one that
 * begins first, and the longest of those. */
typedef struct {
  gsize start;
  gsize end;
  gsize lead_length; /* of the match that gives the name */
  const char *name; /* NULL if its marker is written already */
} KhadimRedactorRun;

void     _khadim_redactor_runs_add      (GArray     *runs,
                                         gsize       start,
                                         gsize       end,
                                         const char *name);
void     _khadim_redactor_append_marker (GByteArray *output,
                                         const char *name);
gboolean _khadim_redactor_is_word       (guint8      byte);

KhadimRedactorAutomaton *_khadim_redactor_dup_automaton (KhadimRedactor *self);

G_END_DECLS
