/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-typist"

#include "config.h"

#include "rpa/input/khadim-rpa-input-private.h"

#include <X11/XKBlib.h>
#include <string.h>

#include "rpa/input/khadim-rpa-stop.h"
#include "rpa/screen/khadim-rpa-error.h"

/* Typing: characters that the layout has are typed on their keys, the others
 * on spare keys, as many at a time as there are. Toolkits look symbols up when
 * they read an event, not when it was sent: before spare keys get other
 * symbols the program must have read everything, which its answer to a ping
 * tells. */

/* How many keys are pressed in one grab of the server: short enough for a
 * stop, and for everybody else's patience. */
#define KEYS_A_GRAB 8
#define GRABS_A_JOB 8

/* No more than that lies unread in a program, so that it stops when we do. */
#define CHARS_A_BARRIER 1000

/* For programs that do not tell when they have read something. */
#define SETTLE_US 500000

/* How long somebody else may hold Shift, and how often the layout may change. */
#define MODIFIERS_WAIT_US 3000000
#define MODIFIERS_POLL_US 10000
#define MAX_CHANGES 100

typedef enum
{
  STATE_GOOD,
  STATE_MODIFIERS,              /* somebody else holds some */
  STATE_CHANGED,                /* Caps Lock, or another group of the layout */
} KeyboardState;

/* A text on its way. */
typedef struct
{
  KhadimRpaInput *self;
  gunichar *chars;              /* owned */
  glong n_chars;
  glong next;                   /* the first that is not typed yet */
  glong batch_end;              /* the first that needs another binding */
  Window window;
  guint delay_us;
  KhadimRpaKeymap *keymap;      /* owned */
  GHashTable *bound;            /* (owned) character → its key + 1, in this batch */
  glong last_barrier;           /* next at the last barrier */
  guint n_changes;
  gboolean checked;             /* the widget is looked at before each grab */
  KeyboardState state;          /* what stopped the keys */
  gboolean caps;                /* Caps Lock was on */
  gboolean answers;
  KhadimRpaTypeReport report;
} Text;

static void
text_clear (Text *text)
{
  g_free (text->chars);
  g_clear_pointer (&text->keymap, _khadim_rpa_keymap_free);
  g_clear_pointer (&text->bound, g_hash_table_unref);
}

/* Beginning and end -------------------------------------------------------- */

static gboolean
find_window_in_display (KhadimRpaInput  *self,
                        Display         *x,
                        gpointer         user_data,
                        GError         **error)
{
  Text *text = user_data;
  Window focus;

  if (text->window != None)
    return TRUE;
  _khadim_rpa_display_push_trap (self->display);
  focus = _khadim_rpa_find_focus (x);
  if (focus != None)
    text->window = _khadim_rpa_find_top (x, focus);
  _khadim_rpa_display_pop_trap (self->display);
  if (text->window == None)
    g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_FOCUS_LOST,
                         "No window has the keyboard");

  return text->window != None;
}

static gboolean
begin_in_display (KhadimRpaInput  *self,
                  Display         *x,
                  gpointer         user_data,
                  GError         **error)
{
  Text *text = user_data;
  XkbStateRec state = { 0 };

  if (_khadim_rpa_spares_are_taken (self, x))
    {
      g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_BUSY,
                           "Another program is typing on this display");
      return FALSE;
    }
  _khadim_rpa_spares_restore (self, x);
  self->unread_us = 0;
  g_clear_pointer (&text->keymap, _khadim_rpa_keymap_free);
  text->keymap = _khadim_rpa_keymap_load (x);
  if (text->keymap == NULL)
    {
      g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_UNSUPPORTED,
                           "The display has no XKB: its keyboard layout is not known");
      return FALSE;
    }
  self->verified = None;
  /* Caps Lock turns letters round for XTEST too. */
  XkbGetState (x, XkbUseCoreKbd, &state);
  if ((state.locked_mods & LockMask) != 0)
    {
      text->caps = TRUE;
      XkbLockModifiers (x, XkbUseCoreKbd, LockMask, 0);
    }
  XSync (x, False);

  return TRUE;
}

static gboolean
end_in_display (KhadimRpaInput  *self,
                Display         *x,
                gpointer         user_data,
                GError         **error)
{
  Text *text = user_data;

  if (text->answers || text->report.n_remaps == 0)
    _khadim_rpa_spares_restore (self, x);
  else
    self->unread_us = g_get_monotonic_time ();
  if (text->caps)
    XkbLockModifiers (x, XkbUseCoreKbd, LockMask, LockMask);
  XSync (x, False);

  return TRUE;
}

/* Batches ------------------------------------------------------------------ */

/* Finds how far the text can be typed with one binding of the spare keys, and
 * what they must be bound to. */
static void
plan_batch (Text *text)
{
  guint limit = _khadim_rpa_spares_get_size (text->keymap);

  g_hash_table_remove_all (text->bound);
  for (text->batch_end = text->next; text->batch_end < text->n_chars; text->batch_end++)
    {
      gunichar c = text->chars[text->batch_end];
      gpointer key = GUINT_TO_POINTER (c);

      if (_khadim_rpa_keymap_get (text->keymap, c) != NULL ||
          g_hash_table_contains (text->bound, key))
        continue;
      if (g_hash_table_size (text->bound) == limit)
        break;
      g_hash_table_insert (text->bound, key,
                           GUINT_TO_POINTER (g_hash_table_size (text->bound) + 1));
    }
}

static gboolean
bind_in_display (KhadimRpaInput  *self,
                 Display         *x,
                 gpointer         user_data,
                 GError         **error)
{
  Text *text = user_data;
  g_autofree KeySym *symbols = g_new0 (KeySym, g_hash_table_size (text->bound));
  GHashTableIter iter;
  gpointer character, index;

  g_hash_table_iter_init (&iter, text->bound);
  while (g_hash_table_iter_next (&iter, &character, &index))
    symbols[GPOINTER_TO_UINT (index) - 1] =
      _khadim_rpa_char_to_symbol (GPOINTER_TO_UINT (character));

  if (_khadim_rpa_spares_bind (self, x, text->keymap, symbols, g_hash_table_size (text->bound)))
    return TRUE;
  g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_BUSY,
                       "Another program is typing on this display");

  return FALSE;
}

static KhadimRpaKey
find_key (Text     *text,
          gunichar  character)
{
  const KhadimRpaKey *key = _khadim_rpa_keymap_get (text->keymap, character);
  guint index;

  if (key != NULL)
    return *key;

  index = GPOINTER_TO_UINT (g_hash_table_lookup (text->bound, GUINT_TO_POINTER (character)));

  g_assert (index > 0);

  return _khadim_rpa_spares_get_key (text->keymap, index - 1);
}

static gboolean
press_key (Text         *text,
           Display      *x,
           KhadimRpaKey  key)
{
  KhadimRpaInput *self = text->self;
  KeyCode level3 = text->keymap->level3;
  gboolean good = TRUE;

  if (key.shift)
    good = _khadim_rpa_inject_key (self, x, text->keymap->shift, TRUE);
  if (good && key.level3)
    good = _khadim_rpa_inject_key (self, x, level3, TRUE);
  if (good)
    good = _khadim_rpa_inject_key (self, x, key.code, TRUE);
  if (self->keys[key.code])
    _khadim_rpa_inject_key (self, x, key.code, FALSE);
  if (key.level3 && self->keys[level3])
    _khadim_rpa_inject_key (self, x, level3, FALSE);
  if (key.shift && self->keys[text->keymap->shift])
    _khadim_rpa_inject_key (self, x, text->keymap->shift, FALSE);

  return good;
}

/* What somebody else does to the keyboard would change what is typed. */
static KeyboardState
get_state (const Text *text,
           Display    *x)
{
  XkbStateRec state = { 0 };

  XkbGetState (x, XkbUseCoreKbd, &state);
  if ((state.base_mods | state.latched_mods) != 0 && !_khadim_rpa_holds_keys (text->self))
    return STATE_MODIFIERS;
  if (state.group != text->keymap->group || (state.locked_mods & LockMask) != 0)
    return STATE_CHANGED;

  return STATE_GOOD;
}

/* A few keys in one grab of the server: whoever wants the focus gets it
 * before them or after them, not between. A new line or a tab is the last of
 * them, as it may move the focus. */
static gboolean
press_in_grab (Text    *text,
               Display *x,
               GError **error)
{
  KhadimRpaInput *self = text->self;
  guint limit = text->delay_us > 0 ? 1 : KEYS_A_GRAB;
  gboolean last = FALSE;
  gboolean good;

  XGrabServer (x);
  text->state = get_state (text, x);
  good = text->state != STATE_GOOD || _khadim_rpa_guard_focus (self, x, text->window, error);
  if (text->state != STATE_GOOD)
    limit = 0;
  for (guint i = 0; good && !last && i < limit && text->next < text->batch_end; i++)
    {
      gunichar c = text->chars[text->next];

      good = press_key (text, x, find_key (text, c));
      if (!good)
        _khadim_rpa_set_stopped (error);
      else
        {
          text->next++;
          text->report.n_chars++;
          text->report.n_remaps += _khadim_rpa_keymap_get (text->keymap, c) == NULL;
          last = c == '\n' || c == '\t';
        }
    }
  XUngrabServer (x);
  XFlush (x);

  return good;
}

static gboolean
press_in_display (KhadimRpaInput  *self,
                  Display         *x,
                  gpointer         user_data,
                  GError         **error)
{
  Text *text = user_data;
  guint limit = text->delay_us > 0 || text->checked ? 1 : GRABS_A_JOB;
  gboolean good = TRUE;

  text->state = STATE_GOOD;
  for (guint i = 0; good && i < limit && text->state == STATE_GOOD; i++)
    if (text->next < text->batch_end)
      good = press_in_grab (text, x, error);

  return good;
}

static gboolean
look_in_display (KhadimRpaInput  *self,
                 Display         *x,
                 gpointer         user_data,
                 GError         **error)
{
  Text *text = user_data;

  text->state = get_state (text, x);

  return TRUE;
}

/* Until nobody holds a modifier any more. */
static gboolean
wait_for_modifiers (Text          *text,
                    GCancellable  *cancellable,
                    GError       **error)
{
  gint64 end_us = g_get_monotonic_time () + MODIFIERS_WAIT_US;

  while (text->state == STATE_MODIFIERS)
    {
      if (g_get_monotonic_time () >= end_us)
        {
          g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_BUSY,
                               "Somebody holds a modifier key");
          return FALSE;
        }
      if (!_khadim_rpa_pause (text->self, MODIFIERS_POLL_US, cancellable, error) ||
          !_khadim_rpa_input_run (text->self, look_in_display, text, error))
        return FALSE;
    }

  return TRUE;
}

/* A program that answered before and does not now hangs. */
static gboolean
wait_for_program (Text          *text,
                  GCancellable  *cancellable,
                  GError       **error)
{
  text->last_barrier = text->next;
  if (!text->answers)
    return TRUE;

  text->report.n_barriers++;
  switch (_khadim_rpa_ping (text->self, (guint32) text->window, KHADIM_RPA_PING_TIMEOUT_MS,
                            cancellable, error))
    {
    case KHADIM_RPA_PING_ANSWERED:
      return TRUE;

    case KHADIM_RPA_PING_SILENT:
      return TRUE;

    case KHADIM_RPA_PING_LATE:
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_HUNG,
                   "The program has not answered for %d s", KHADIM_RPA_PING_TIMEOUT_MS / 1000);
      return FALSE;

    case KHADIM_RPA_PING_FAILED:
    default:
      return FALSE;
    }
}

/* Puts the keyboard right again, as far as it can be, after somebody else has
 * changed it. */
static gboolean
handle_state (Text          *text,
              GCancellable  *cancellable,
              GError       **error)
{
  if (text->state == STATE_GOOD)
    return TRUE;
  if (text->state == STATE_MODIFIERS)
    return wait_for_modifiers (text, cancellable, error);
  if (++text->n_changes > MAX_CHANGES)
    {
      g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_BUSY,
                           "The keyboard layout keeps changing");
      return FALSE;
    }
  if (!wait_for_program (text, cancellable, error) ||
      !_khadim_rpa_input_run (text->self, begin_in_display, text, error))
    return FALSE;
  plan_batch (text);

  return g_hash_table_size (text->bound) == 0 ||
         _khadim_rpa_input_run (text->self, bind_in_display, text, error);
}

static gboolean
type_batch (Text                        *text,
            const KhadimRpaTypeOptions  *options,
            GCancellable                *cancellable,
            GError                     **error)
{
  while (text->next < text->batch_end)
    {
      if (text->next - text->last_barrier >= CHARS_A_BARRIER &&
          !wait_for_program (text, cancellable, error))
        return FALSE;
      if (!_khadim_rpa_check_cancelled (cancellable, error) ||
          (options->check != NULL && !options->check (options->check_data, error)) ||
          !_khadim_rpa_input_run (text->self, press_in_display, text, error) ||
          !handle_state (text, cancellable, error))
        return FALSE;
      if (text->delay_us > 0 && text->next < text->n_chars &&
          !_khadim_rpa_pause (text->self, text->delay_us, cancellable, error))
        return FALSE;
    }

  return TRUE;
}

/* Without answers nobody knows when the spare keys may be bound again, so one
 * binding must do. */
static gboolean
check_silent (Text    *text,
              GError **error)
{
  if ((text->answers && _khadim_rpa_spares_get_size (text->keymap) > 0) ||
      text->batch_end == text->n_chars)
    return TRUE;

  g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_UNSUPPORTED,
               "Not more than %u different characters that the keyboard layout lacks can be typed "
               "into a program that %s: paste the text",
               _khadim_rpa_spares_get_size (text->keymap),
               text->answers ? "reads this keyboard" : "answers no pings");

  return FALSE;
}

static gboolean
type_all (Text                        *text,
          const KhadimRpaTypeOptions  *options,
          GCancellable                *cancellable,
          GError                     **error)
{
  plan_batch (text);
  if (!check_silent (text, error))
    return FALSE;

  while (text->next < text->n_chars)
    {
      if (g_hash_table_size (text->bound) > 0 &&
          !_khadim_rpa_input_run (text->self, bind_in_display, text, error))
        return FALSE;
      if (!type_batch (text, options, cancellable, error) ||
          !wait_for_program (text, cancellable, error))
        return FALSE;
      plan_batch (text);
    }

  return TRUE;
}

/* Keys that a program which does not tell may not have read yet keep their
 * symbols for a while. */
static gboolean
wait_for_unread (KhadimRpaInput  *self,
                 GCancellable    *cancellable,
                 GError         **error)
{
  gint64 left_us = self->unread_us + SETTLE_US - g_get_monotonic_time ();

  return self->unread_us == 0 || left_us <= 0 ||
         _khadim_rpa_pause (self, left_us, cancellable, error);
}

/* Nothing is typed into a program that hangs already. */
static gboolean
ask_program (Text          *text,
             GCancellable  *cancellable,
             GError       **error)
{
  KhadimRpaPing ping = _khadim_rpa_ping (text->self, (guint32) text->window,
                                         KHADIM_RPA_PING_TIMEOUT_MS, cancellable, error);

  text->answers = text->report.answers = ping == KHADIM_RPA_PING_ANSWERED;
  if (ping == KHADIM_RPA_PING_LATE)
    g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_HUNG,
                 "The program has not answered for %d s", KHADIM_RPA_PING_TIMEOUT_MS / 1000);

  return ping == KHADIM_RPA_PING_ANSWERED || ping == KHADIM_RPA_PING_SILENT;
}

static gboolean
is_refused (gunichar c)
{
  return (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0);
}

static gboolean
read_text (Text        *text,
           const char  *utf8,
           GError     **error)
{
  if (!g_utf8_validate (utf8, -1, NULL))
    {
      g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID,
                           "The text is not UTF-8");
      return FALSE;
    }
  text->chars = g_utf8_to_ucs4_fast (utf8, -1, &text->n_chars);
  if (text->n_chars > KHADIM_RPA_TYPE_MAX_CHARS)
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_LIMIT,
                   "The text has more than %d characters", KHADIM_RPA_TYPE_MAX_CHARS);
      return FALSE;
    }
  for (glong i = 0; i < text->n_chars; i++)
    if (is_refused (text->chars[i]))
      {
        g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID,
                     "Character %ld of the text is the control character U+%04X, which no key "
                     "types", i + 1, text->chars[i]);
        return FALSE;
      }

  return TRUE;
}

/* What was typed last may still be unread: nothing is put back before. */
static gboolean
finish (Text    *text,
        gboolean good,
        GError **error)
{
  g_autoptr(GError) ignored = NULL;

  if (text->keymap == NULL)
    return good;
  /* After a fault the program still has to read what it got. */
  if (!good && text->self->n_bound > 0 && text->answers &&
      _khadim_rpa_ping (text->self, (guint32) text->window, KHADIM_RPA_LAST_PING_TIMEOUT_MS, NULL,
                        &ignored) == KHADIM_RPA_PING_FAILED)
    g_debug ("After a fault: %s", ignored->message);
  if (!_khadim_rpa_input_run (text->self, end_in_display, text, good ? error : NULL))
    return FALSE;

  return good;
}

/**
 * khadim_rpa_input_type:
 * @self: the input
 * @text: UTF-8; a newline is Return, a tab is Tab, other control characters
 *   are refused
 * @options: (nullable): how
 * @out_report: (out) (optional): what was done, also after a failure
 * @cancellable: (nullable): stops between two keys
 * @error: (nullable): `KHADIM_RPA_ERROR_FOCUS_LOST` with the name of the
 *   window that has the keyboard instead, `_HUNG`, `_INVALID`, `_LIMIT`,
 *   `_UNSUPPORTED`, `_CANCELLED`, `_LOST`
 *
 * Types @text exactly, whatever the keyboard layout, at full speed: keys of
 * the layout for the characters it has, spare keys for the rest. Every key
 * goes to the window that is meant or is not pressed. Returns when the program
 * has read the text, as far as it can tell. Blocks; any thread but the
 * display's.
 *
 * Returns: whether all of it was typed
 */
gboolean
khadim_rpa_input_type (KhadimRpaInput              *self,
                       const char                  *text,
                       const KhadimRpaTypeOptions  *options,
                       KhadimRpaTypeReport         *out_report,
                       GCancellable                *cancellable,
                       GError                     **error)
{
  static const KhadimRpaTypeOptions defaults = { 0 };
  Text job = { .self = self };
  gint64 begun_us = g_get_monotonic_time ();
  gboolean good;

  g_return_val_if_fail (KHADIM_RPA_IS_INPUT (self), FALSE);
  g_return_val_if_fail (text != NULL, FALSE);

  if (options == NULL)
    options = &defaults;
  job.window = options->window;
  job.delay_us = options->delay_us;
  job.bound = g_hash_table_new (NULL, NULL);

  job.checked = options->check != NULL;
  good = read_text (&job, text, error) && wait_for_unread (self, cancellable, error) &&
         _khadim_rpa_input_run (self, find_window_in_display, &job, error) &&
         ask_program (&job, cancellable, error) &&
         _khadim_rpa_input_run (self, begin_in_display, &job, error) &&
         type_all (&job, options, cancellable, error);
  good = finish (&job, good, error);
  if (!good && error != NULL && *error != NULL)
    g_prefix_error (error, "After %u of %ld characters: ", job.report.n_chars, job.n_chars);
  job.report.elapsed_us = g_get_monotonic_time () - begun_us;
  if (out_report != NULL)
    *out_report = job.report;
  text_clear (&job);

  return good;
}
