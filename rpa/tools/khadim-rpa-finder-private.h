/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* From a target, which is several kinds of evidence of one place, to the
 * place on the screen. */

#pragma once

#include <json-glib/json-glib.h>

#include "rpa/tools/khadim-rpa-desk-private.h"

G_BEGIN_DECLS

/* How long a place is waited for when nobody says. */
#define KHADIM_RPA_FIND_TIMEOUT_MS 10000
/* Two looks alike, this far apart, are "still". */
#define KHADIM_RPA_STILL_MS 25
/* How many places a report shows beside the one that was taken. */
#define KHADIM_RPA_MAX_OTHERS 20

/* A place that fits. */
typedef struct
{
  KhadimRpaRect box;            /* px on the root */
  double score;                 /* 0 to 1 */
} KhadimRpaSpot;

/* What looking for a target came to. */
typedef struct
{
  const char *evidence;         /* a11y, text, image, window, screen; static */
  KhadimRpaRect box;            /* px on the root */
  int x;                        /* the hot spot, px on the root */
  int y;
  double score;
  KhadimRpaA11yNode *node;      /* (owned) or NULL */
  guint32 window;               /* the top-level window there, or 0 */
  GArray *others;               /* (owned) of KhadimRpaSpot: further matches, or the nearest misses */
  KhadimRpaPicture *picture;    /* (owned) of the look that found it, or the last */
  gint64 elapsed_us;
} KhadimRpaPlace;

void       _khadim_rpa_place_clear   (KhadimRpaPlace      *self);
JsonNode  *_khadim_rpa_place_to_json (KhadimRpaPlace      *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (KhadimRpaPlace, _khadim_rpa_place_clear)

/* What is looked for, and where. Borrowed from the call. */
typedef struct
{
  JsonObject *target;
  JsonObject *in;               /* a window, as app.open returns it, or NULL */
  const char *assets_dir;
  gint64 deadline_us;           /* monotonic */
  gboolean once;                /* look once, do not wait */
} KhadimRpaQuest;

/* The schema of `target` and `in`, to be put into the schemas of tools. */
#define KHADIM_RPA_SCHEMA_PATH_ENTRY \
  "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{" \
  "\"role\":{\"type\":\"string\",\"maxLength\":100}," \
  "\"name\":{\"type\":\"string\",\"maxLength\":1000}," \
  "\"index\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":10000}}}"
#define KHADIM_RPA_SCHEMA_TARGET \
  "{\"type\":\"object\",\"title\":\"The place\",\"additionalProperties\":false,\"minProperties\":1," \
  "\"properties\":{" \
  "\"a11y\":{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"path\"]," \
  "\"properties\":{\"app\":{\"type\":\"string\",\"maxLength\":200}," \
  "\"path\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":32,\"items\":" \
  KHADIM_RPA_SCHEMA_PATH_ENTRY "}," \
  "\"state\":{\"type\":\"string\",\"maxLength\":100}," \
  "\"pick\":{\"enum\":[\"first\",\"last\"]}}}," \
  "\"text\":{\"type\":[\"string\",\"object\"],\"minLength\":1,\"maxLength\":256," \
  "\"additionalProperties\":false,\"required\":[\"words\"],\"properties\":{" \
  "\"words\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":256}," \
  "\"occurrence\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":255}," \
  "\"near\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":256}," \
  "\"language\":{\"type\":\"string\",\"pattern\":\"^[a-z_]{3,20}([+][a-z_]{3,20})*$\"}}}," \
  "\"image\":{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"file\"]," \
  "\"properties\":{\"file\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":4096}," \
  "\"similarity\":{\"type\":\"number\",\"minimum\":0.5,\"maximum\":1}," \
  "\"hot\":{\"type\":\"array\",\"minItems\":2,\"maxItems\":2,\"items\":{\"type\":\"integer\"}}," \
  "\"scales\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":16," \
  "\"items\":{\"type\":\"number\",\"minimum\":0.25,\"maximum\":4}}}}," \
  "\"window\":{\"type\":\"object\",\"additionalProperties\":false,\"minProperties\":1," \
  "\"properties\":{\"app\":{\"type\":\"string\",\"maxLength\":200}," \
  "\"title\":{\"type\":\"string\",\"maxLength\":1000}}}," \
  "\"point\":{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{" \
  "\"x\":{\"type\":\"number\",\"minimum\":0,\"maximum\":1}," \
  "\"y\":{\"type\":\"number\",\"minimum\":0,\"maximum\":1}," \
  "\"dx\":{\"type\":\"integer\"},\"dy\":{\"type\":\"integer\"}," \
  "\"from\":{\"enum\":[\"top-left\",\"top-right\",\"bottom-left\",\"bottom-right\"]}}}," \
  "\"screen\":{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"x\",\"y\"]," \
  "\"properties\":{\"x\":{\"type\":\"integer\",\"minimum\":0},\"y\":{\"type\":\"integer\",\"minimum\":0}}}," \
  "\"order\":{\"type\":\"array\",\"minItems\":1,\"uniqueItems\":true,\"items\":{" \
  "\"enum\":[\"a11y\",\"text\",\"image\",\"window\",\"screen\"]}}}}"
#define KHADIM_RPA_SCHEMA_IN \
  "{\"type\":\"object\",\"title\":\"The window to look in\",\"minProperties\":1,\"properties\":{" \
  "\"id\":{\"type\":\"integer\",\"minimum\":1},\"pid\":{\"type\":\"integer\",\"minimum\":1}," \
  "\"app\":{\"type\":\"string\"},\"title\":{\"type\":\"string\"}}}"

gboolean  _khadim_rpa_find               (KhadimRpaDesk         *desk,
                                          const KhadimRpaQuest  *quest,
                                          KhadimRpaPlace        *out_place,
                                          GCancellable          *cancellable,
                                          GError               **error);
gboolean  _khadim_rpa_get_in             (KhadimRpaDesk         *desk,
                                          JsonObject            *in,
                                          KhadimRpaWindow      **out_window,
                                          GError               **error);
guint32   _khadim_rpa_window_at          (KhadimRpaDesk         *desk,
                                          int                    x,
                                          int                    y,
                                          guint32                pid);

/* One kind of evidence, looked for once: FALSE without an error is a miss. */
gboolean  _khadim_rpa_find_by_a11y       (KhadimRpaDesk         *desk,
                                          const KhadimRpaQuest  *quest,
                                          KhadimRpaWindow       *window,
                                          KhadimRpaPlace        *place,
                                          GCancellable          *cancellable,
                                          GError               **error);
gboolean  _khadim_rpa_find_by_text       (const KhadimRpaQuest  *quest,
                                          KhadimRpaPlace        *place,
                                          GCancellable          *cancellable,
                                          GError               **error);
gboolean  _khadim_rpa_find_by_image      (const KhadimRpaQuest  *quest,
                                          KhadimRpaPlace        *place,
                                          GCancellable          *cancellable,
                                          GError               **error);
gboolean  _khadim_rpa_find_by_window     (KhadimRpaDesk         *desk,
                                          const KhadimRpaQuest  *quest,
                                          KhadimRpaWindow       *window,
                                          KhadimRpaPlace        *place,
                                          GError               **error);

G_END_DECLS
