/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "test-find"

#include "config.h"

#include "rpa/find/khadim-rpa-matcher.h"
#include "rpa/find/khadim-rpa-ocr.h"
#include "rpa/screen/khadim-rpa-capture.h"

#include "tests/rpa/lib/desk.h"

#define WIDTH 1024
#define HEIGHT 768
#define APP_TIMEOUT_MS 20000

/* How much around the words is the template. */
#define MARGIN_PX 12

/* Finding on the screen of a real program, which answers a click on what was
 * found. */
typedef struct
{
  Desk             *desk;
  KhadimRpaDisplay *display;
  KhadimRpaCapture *capture;
} Fixture;

typedef struct
{
  Fixture          *fixture;
  const char       *phrase;
  KhadimRpaOcrFound found;
  KhadimRpaPicture *screen; /* owned; where it was found */
} Wanted;

static void
set_up (Fixture       *self,
        gconstpointer  data)
{
  g_autoptr(GError) error = NULL;

  self->desk = desk_new ("openbox", WIDTH, HEIGHT);
  self->display = khadim_rpa_display_new (NULL, &error);
  g_assert_no_error (error);
  self->capture = khadim_rpa_capture_new (self->display, &error);
  g_assert_no_error (error);
}

static void
tear_down (Fixture       *self,
           gconstpointer  data)
{
  g_clear_object (&self->capture);
  g_clear_object (&self->display);
  desk_free (self->desk);
}

static KhadimRpaPicture *
take (Fixture *self)
{
  g_autoptr(GError) error = NULL;
  KhadimRpaPicture *picture = khadim_rpa_capture_take (self->capture, NULL,
                                                       KHADIM_RPA_CAPTURE_NONE, &error);

  g_assert_no_error (error);

  return picture;
}

static gboolean
is_readable (gpointer data)
{
  Wanted *wanted = data;
  g_autoptr(KhadimRpaPicture) screen = take (wanted->fixture);
  g_autoptr(GError) error = NULL;
  g_autoptr(KhadimRpaOcrPage) page = khadim_rpa_ocr_read (screen, NULL, NULL, NULL, &error);
  g_autoptr(GArray) places = NULL;

  g_assert_no_error (error);
  places = khadim_rpa_ocr_page_find (page, wanted->phrase, NULL, &error);
  g_assert_no_error (error);
  if (places->len == 0)
    return FALSE;

  wanted->found = g_array_index (places, KhadimRpaOcrFound, 0);
  wanted->screen = g_steal_pointer (&screen);

  return TRUE;
}

static KhadimRpaPicture *
crop_around (KhadimRpaPicture    *screen,
             const KhadimRpaRect *box)
{
  g_autoptr(GError) error = NULL;
  KhadimRpaPicture *part = khadim_rpa_picture_crop (
    screen,
    &(KhadimRpaRect) { box->x - MARGIN_PX, box->y - MARGIN_PX, box->width + 2 * MARGIN_PX,
                       box->height + 2 * MARGIN_PX },
    &error);

  g_assert_no_error (error);

  return part;
}

static KhadimRpaMatches *
find (KhadimRpaPicture *screen,
      KhadimRpaPicture *templ)
{
  g_autoptr(KhadimRpaMatcher) matcher = khadim_rpa_matcher_new (screen);
  g_autoptr(GError) error = NULL;
  KhadimRpaMatches *found = khadim_rpa_matcher_find (matcher, templ, NULL, NULL, &error);

  g_assert_no_error (error);

  return found;
}

typedef struct
{
  Fixture          *fixture;
  KhadimRpaPicture *templ;
} Unwanted;

static gboolean
is_gone (gpointer data)
{
  Unwanted *unwanted = data;
  g_autoptr(KhadimRpaPicture) screen = take (unwanted->fixture);
  g_autoptr(KhadimRpaMatches) found = find (screen, unwanted->templ);

  return found->n_matches == 0;
}

static GSubprocess *
open_question (Fixture *self)
{
  return desk_spawn (self->desk, "zenity", "--question", "--title=Invoices",
                     "--text=Send the invoice 4711 to Berlin?", "--ok-label=Send now",
                     "--cancel-label=Keep it", NULL);
}

/* Words, then the picture around them, lead to the same button; a click there
 * is the answer. */
static void
answer (Fixture    *self,
        const char *label,
        int         expected_status)
{
  g_autoptr(GSubprocess) question = open_question (self);
  Wanted wanted = { self, label };
  g_autoptr(KhadimRpaPicture) templ = NULL;
  g_autoptr(KhadimRpaMatches) found = NULL;
  g_autofree char *output = NULL;
  const KhadimRpaRect *box;
  int status = -1;

  g_assert_true (desk_wait (is_readable, &wanted, APP_TIMEOUT_MS));
  templ = crop_around (wanted.screen, &wanted.found.box);
  found = find (wanted.screen, templ);
  g_assert_cmpuint (found->n_matches, ==, 1);
  box = &found->matches[0].box;
  g_assert_cmpint (box->x, ==, wanted.found.box.x - MARGIN_PX);
  g_assert_cmpint (box->y, ==, wanted.found.box.y - MARGIN_PX);

  desk_click (box->x + box->width / 2, box->y + box->height / 2);
  output = desk_finish (question, &status);
  g_assert_cmpint (status, ==, expected_status);

  g_assert_true (desk_wait (is_gone, &(Unwanted) { self, templ }, APP_TIMEOUT_MS));
  khadim_rpa_picture_unref (wanted.screen);
}

static void
test_yes (Fixture       *self,
          gconstpointer  data)
{
  answer (self, "Send now", 0);
}

static void
test_no (Fixture       *self,
         gconstpointer  data)
{
  answer (self, "Keep it", 1);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add ("/rpa/find/yes", Fixture, NULL, set_up, test_yes, tear_down);
  g_test_add ("/rpa/find/no", Fixture, NULL, set_up, test_no, tear_down);

  return g_test_run ();
}
