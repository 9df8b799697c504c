/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-keys"

#include "config.h"

#include "rpa/input/khadim-rpa-keys-private.h"

#include <X11/keysym.h>
#include <string.h>
#include <xkbcommon/xkbcommon.h>

#include "rpa/screen/khadim-rpa-error.h"

/* Other names than the X protocol's that people and models write. */
static const struct
{
  const char *name;
  KeySym symbol;
} aliases[] = {
  { "alt", XK_Alt_L },         { "altgr", XK_ISO_Level3_Shift }, { "backspace", XK_BackSpace },
  { "bksp", XK_BackSpace },    { "capslock", XK_Caps_Lock },     { "cmd", XK_Super_L },
  { "control", XK_Control_L }, { "ctrl", XK_Control_L },         { "del", XK_Delete },
  { "enter", XK_Return },      { "esc", XK_Escape },             { "ins", XK_Insert },
  { "meta", XK_Super_L },      { "option", XK_Alt_L },           { "pagedown", XK_Page_Down },
  { "pageup", XK_Page_Up },    { "pgdn", XK_Page_Down },         { "pgup", XK_Page_Up },
  { "plus", XK_plus },         { "printscreen", XK_Print },      { "shift", XK_Shift_L },
  { "spacebar", XK_space },    { "super", XK_Super_L },          { "win", XK_Super_L },
};

static KeySym
find_symbol (const char *name)
{
  xkb_keysym_t symbol;

  for (gsize i = 0; i < G_N_ELEMENTS (aliases); i++)
    if (g_ascii_strcasecmp (aliases[i].name, name) == 0)
      return aliases[i].symbol;

  /* A single character stands for itself. */
  if (g_utf8_strlen (name, 2) == 1)
    return _khadim_rpa_char_to_symbol (g_utf8_get_char (name));

  symbol = xkb_keysym_from_name (name, XKB_KEYSYM_NO_FLAGS);
  if (symbol == XKB_KEY_NoSymbol)
    symbol = xkb_keysym_from_name (name, XKB_KEYSYM_CASE_INSENSITIVE);

  return symbol;
}

static gboolean
add_part (KhadimRpaCombo  *combo,
          const char      *part,
          const char      *whole,
          GError         **error)
{
  KeySym symbol = find_symbol (part);

  if (symbol == NoSymbol)
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID,
                   "“%s” in “%s” is not the name of a key", part, whole);
      return FALSE;
    }
  if (combo->n == KHADIM_RPA_COMBO_MAX_KEYS)
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_LIMIT,
                   "“%s” has more than %d keys", whole, KHADIM_RPA_COMBO_MAX_KEYS);
      return FALSE;
    }
  combo->symbols[combo->n++] = symbol;

  return TRUE;
}

/* Reads keys that are held together, such as `ctrl+shift+Left`, into symbols. */
gboolean
_khadim_rpa_combo_parse (const char      *keys,
                         KhadimRpaCombo  *out_combo,
                         GError         **error)
{
  g_auto(GStrv) parts = NULL;
  KhadimRpaCombo combo = { 0 };

  if (keys == NULL || *keys == '\0' || strlen (keys) > KHADIM_RPA_COMBO_MAX_BYTES ||
      !g_utf8_validate (keys, -1, NULL))
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID,
                   "keys are written like “ctrl+s”, in at most %d bytes",
                   KHADIM_RPA_COMBO_MAX_BYTES);
      return FALSE;
    }
  /* The key “+” itself: alone, or after the last “+”. */
  if (strcmp (keys, "+") == 0)
    return add_part (out_combo, "plus", keys, error);
  parts = g_strsplit (keys, "+", -1);
  for (gsize i = 0; parts[i] != NULL; i++)
    {
      gboolean plus = parts[i][0] == '\0' && parts[i + 1] != NULL && parts[i + 1][0] == '\0' &&
                      parts[i + 2] == NULL;

      if (!add_part (&combo, plus ? "plus" : parts[i], keys, error))
        return FALSE;
      if (plus)
        break;
    }
  *out_combo = combo;

  return TRUE;
}

/**
 * khadim_rpa_input_check_keys:
 * @keys: keys that are held together, such as `ctrl+shift+Left`
 * @error: (nullable): `KHADIM_RPA_ERROR_INVALID` naming the part that is no
 *   key, `_LIMIT`
 *
 * Names are those of the X protocol without `XK_`, in any case, the usual
 * other names (ctrl, enter, pgup), and single characters. Any thread.
 *
 * Returns: whether @keys can be pressed
 */
gboolean
khadim_rpa_input_check_keys (const char  *keys,
                             GError     **error)
{
  KhadimRpaCombo combo = { 0 };

  return _khadim_rpa_combo_parse (keys, &combo, error);
}

/* Pressing ----------------------------------------------------------------- */

/* What a combination needs on the layout of now. */
typedef struct
{
  KhadimRpaCombo combo;
  KeyCode codes[KHADIM_RPA_COMBO_MAX_KEYS + 2];
  guint n_codes;
  Window window;
  gboolean guarded;
  gboolean bound;
} Combo;

/* A key that the layout lacks goes on a spare one. */
static KeyCode
bind_symbol (KhadimRpaInput  *self,
             Display         *x,
             KhadimRpaKeymap *keymap,
             Combo           *job,
             KeySym           symbol)
{
  if (keymap->n_spares == 0 || job->bound || self->n_bound > 0)
    return 0;

  job->bound = _khadim_rpa_spares_bind (self, x, keymap, &symbol, 1);

  return job->bound ? keymap->spares[0] : 0;
}

static gboolean
resolve_in_display (KhadimRpaInput  *self,
                    Display         *x,
                    gpointer         user_data,
                    GError         **error)
{
  Combo *job = user_data;
  g_autoptr(KhadimRpaKeymap) keymap = NULL;

  if (self->unread_us == 0)
    _khadim_rpa_spares_restore (self, x);
  keymap = _khadim_rpa_keymap_load (x);

  for (guint i = 0; keymap != NULL && i < job->combo.n; i++)
    {
      KeySym symbol = job->combo.symbols[i];
      const KhadimRpaKey *key = g_hash_table_lookup (keymap->symbols, GSIZE_TO_POINTER (symbol));
      KeyCode code = key != NULL ? key->code : bind_symbol (self, x, keymap, job, symbol);

      if (code == 0)
        break;
      /* “ctrl+A” is Control with A as it is typed: with Shift. */
      if (key != NULL && key->shift)
        job->codes[job->n_codes++] = keymap->shift;
      if (key != NULL && key->level3)
        job->codes[job->n_codes++] = keymap->level3;
      job->codes[job->n_codes++] = code;
      if (job->n_codes >= KHADIM_RPA_COMBO_MAX_KEYS)
        return TRUE;
      if (i + 1 == job->combo.n)
        return TRUE;
    }
  g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_UNSUPPORTED,
                       "The keyboard layout has no such key, and no spare key is left for it");

  return FALSE;
}

static gboolean
press_in_display (KhadimRpaInput  *self,
                  Display         *x,
                  gpointer         user_data,
                  GError         **error)
{
  Combo *job = user_data;
  gboolean good;

  XGrabServer (x);
  self->verified = None;
  if (job->window == None)
    job->window = _khadim_rpa_find_focus (x);
  good = !job->guarded || job->window == None ||
         _khadim_rpa_guard_focus (self, x, job->window, error);
  for (guint i = 0; good && i < job->n_codes; i++)
    {
      good = _khadim_rpa_inject_key (self, x, job->codes[i], TRUE);
      if (!good)
        _khadim_rpa_set_stopped (error);
    }
  XUngrabServer (x);
  XFlush (x);

  return good;
}

static gboolean
release_in_display (KhadimRpaInput  *self,
                    Display         *x,
                    gpointer         user_data,
                    GError         **error)
{
  Combo *job = user_data;

  for (guint i = job->n_codes; i > 0; i--)
    if (self->keys[job->codes[i - 1]])
      _khadim_rpa_inject_key (self, x, job->codes[i - 1], FALSE);
  XFlush (x);

  return TRUE;
}

static gboolean
restore_in_display (KhadimRpaInput  *self,
                    Display         *x,
                    gpointer         user_data,
                    GError         **error)
{
  _khadim_rpa_spares_restore (self, x);

  return TRUE;
}

static gboolean
prepare (KhadimRpaInput  *self,
         const char      *keys,
         guint32          window,
         Combo           *out_job,
         GError         **error)
{
  Combo job = { .window = window, .guarded = window != 0 };

  if (!_khadim_rpa_combo_parse (keys, &job.combo, error) ||
      !_khadim_rpa_input_run (self, resolve_in_display, &job, error))
    return FALSE;
  *out_job = job;

  return TRUE;
}

/* Presses keys with a click or a drag; nothing when @keys is NULL. */
gboolean
_khadim_rpa_hold_keys (KhadimRpaInput  *self,
                       const char      *keys,
                       gboolean         press,
                       GError         **error)
{
  Combo job;

  if (keys == NULL)
    return TRUE;

  return prepare (self, keys, 0, &job, error) &&
         _khadim_rpa_input_run (self, press ? press_in_display : release_in_display, &job, error);
}

static gboolean
press_once (KhadimRpaInput  *self,
            Combo           *job,
            guint            hold_ms,
            GCancellable    *cancellable,
            GError         **error)
{
  gboolean good = _khadim_rpa_input_run (self, press_in_display, job, error) &&
                  (hold_ms == 0 ||
                   _khadim_rpa_pause (self, (gint64) hold_ms * 1000, cancellable, error));

  /* Whatever happened, nothing stays pressed. */
  return _khadim_rpa_input_run (self, release_in_display, job, good ? error : NULL) && good;
}

/**
 * khadim_rpa_input_key:
 * @self: the input
 * @keys: keys that are held together; see khadim_rpa_input_check_keys()
 * @window: the top-level window that must have the keyboard; 0 for any
 * @repeat: how often, 1 to %KHADIM_RPA_KEY_MAX_REPEAT
 * @hold_ms: how long they are held each time, at most
 *   %KHADIM_RPA_KEY_MAX_HOLD_MS
 * @cancellable: (nullable): ends a hold
 * @error: (nullable): `KHADIM_RPA_ERROR_INVALID`, `_LIMIT`, `_FOCUS_LOST`,
 *   `_UNSUPPORTED`, `_CANCELLED`, `_LOST`
 *
 * Presses and releases keys. Blocks; any thread but the display's.
 *
 * Returns: whether it was done
 */
gboolean
khadim_rpa_input_key (KhadimRpaInput  *self,
                      const char      *keys,
                      guint32          window,
                      guint            repeat,
                      guint            hold_ms,
                      GCancellable    *cancellable,
                      GError         **error)
{
  Combo job;
  gboolean good = TRUE;

  g_return_val_if_fail (KHADIM_RPA_IS_INPUT (self), FALSE);

  if (repeat < 1 || repeat > KHADIM_RPA_KEY_MAX_REPEAT || hold_ms > KHADIM_RPA_KEY_MAX_HOLD_MS)
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_LIMIT,
                   "a key is repeated 1 to %d times and held for at most %d s",
                   KHADIM_RPA_KEY_MAX_REPEAT, KHADIM_RPA_KEY_MAX_HOLD_MS / 1000);
      return FALSE;
    }
  if (!prepare (self, keys, window, &job, error))
    return FALSE;
  for (guint i = 0; good && i < repeat; i++)
    good = press_once (self, &job, hold_ms, cancellable, error);
  if (job.bound)
    {
      if (good && job.window != None)
        _khadim_rpa_ping (self, (guint32) job.window, KHADIM_RPA_PING_TIMEOUT_MS, NULL, NULL);
      _khadim_rpa_input_run (self, restore_in_display, NULL, NULL);
    }

  return good;
}

/**
 * khadim_rpa_input_key_down:
 * @self: the input
 * @keys: keys; see khadim_rpa_input_check_keys()
 * @window: the top-level window that must have the keyboard; 0 for any
 * @error: (nullable): as for khadim_rpa_input_key()
 *
 * Presses keys that stay pressed. Any thread but the display's.
 *
 * Returns: whether it was done
 */
gboolean
khadim_rpa_input_key_down (KhadimRpaInput  *self,
                           const char      *keys,
                           guint32          window,
                           GError         **error)
{
  Combo job;

  g_return_val_if_fail (KHADIM_RPA_IS_INPUT (self), FALSE);

  return prepare (self, keys, window, &job, error) &&
         _khadim_rpa_input_run (self, press_in_display, &job, error);
}

/**
 * khadim_rpa_input_key_up:
 * @self: the input
 * @keys: (nullable): keys that are pressed; %NULL for all
 * @error: (nullable): as for khadim_rpa_input_key()
 *
 * Releases keys. Any thread but the display's.
 *
 * Returns: whether it was done
 */
gboolean
khadim_rpa_input_key_up (KhadimRpaInput  *self,
                         const char      *keys,
                         GError         **error)
{
  Combo job;

  g_return_val_if_fail (KHADIM_RPA_IS_INPUT (self), FALSE);

  if (keys == NULL)
    {
      khadim_rpa_input_release_all (self);
      return TRUE;
    }

  return prepare (self, keys, 0, &job, error) &&
         _khadim_rpa_input_run (self, release_in_display, &job, error);
}
