/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-a11y-act"

#include "config.h"

#include "rpa/find/khadim-rpa-a11y-act.h"

#include <math.h>
#include <string.h>

#include <atspi/atspi.h>

#include "rpa/find/khadim-rpa-a11y-private.h"
#include "rpa/screen/khadim-rpa-error.h"

#define VALUE_MAX_BYTES (1024 * 1024)

static gboolean
fail_node (KhadimRpaA11yNode  *node,
           KhadimRpaError      code,
           const char         *problem,
           GError            **error)
{
  g_set_error (error, KHADIM_RPA_ERROR, code, "The %s “%s” of %s %s",
               khadim_rpa_a11y_node_get_role (node), khadim_rpa_a11y_node_get_name (node),
               khadim_rpa_a11y_node_get_app (node), problem);

  return FALSE;
}

/* Asked again and not taken from the node: whoever kept it may have kept it for
 * long, and a call to an interface that is not there looks to GTK 4 like an
 * object that is gone. */
static KhadimRpaA11yNode *
require (KhadimRpaA11y            *self,
         KhadimRpaA11yNode        *node,
         KhadimRpaA11yInterfaces   interfaces,
         const char               *problem,
         GCancellable             *cancellable,
         GError                  **error)
{
  g_autoptr(KhadimRpaA11yNode) now = khadim_rpa_a11y_refresh (self, node, cancellable, error);

  if (now == NULL)
    return NULL;
  if ((now->interfaces & interfaces) == 0)
    {
      fail_node (now, KHADIM_RPA_ERROR_UNSUPPORTED, problem, error);
      return NULL;
    }

  return g_steal_pointer (&now);
}

static gboolean
call_for_boolean (KhadimRpaA11y      *self,
                  KhadimRpaA11yNode  *node,
                  const char         *interface,
                  const char         *method,
                  GVariant           *args,
                  gboolean           *out_done,
                  GCancellable       *cancellable,
                  GError            **error)
{
  g_autoptr(GVariant) reply = _khadim_rpa_a11y_call (self, node, interface, method, args,
                                                     G_VARIANT_TYPE ("(b)"), cancellable, error);

  if (reply == NULL)
    return FALSE;
  g_variant_get (reply, "(b)", out_done);

  return TRUE;
}

/* Actions ------------------------------------------------------------------ */

static gboolean
is_sensitive (KhadimRpaA11yNode  *node,
              GError            **error)
{
  if (_khadim_rpa_a11y_node_has (node, ATSPI_STATE_SENSITIVE)
      || _khadim_rpa_a11y_node_has (node, ATSPI_STATE_ENABLED))
    return TRUE;

  return fail_node (node, KHADIM_RPA_ERROR_FAILED, "is disabled", error);
}

static int
find_action (KhadimRpaA11yNode  *node,
             const char         *action,
             GError            **error)
{
  const char * const *names = khadim_rpa_a11y_node_get_actions (node);
  g_autofree char *list = NULL;

  if (names[0] == NULL)
    {
      fail_node (node, KHADIM_RPA_ERROR_UNSUPPORTED, "has no actions: click it with the pointer",
                 error);
      return -1;
    }
  if (action == NULL)
    return 0;
  for (int i = 0; names[i] != NULL; i++)
    if (g_str_equal (names[i], action))
      return i;

  list = g_strjoinv (", ", (char **) names);
  g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND,
               "The %s “%s” has no action “%s”, but: %s", khadim_rpa_a11y_node_get_role (node),
               khadim_rpa_a11y_node_get_name (node), action, list);

  return -1;
}

/**
 * khadim_rpa_a11y_invoke:
 * @self: a connection
 * @node: what to act on
 * @action: (nullable): the name of the action; %NULL for the first
 * @cancellable: (nullable): stops waiting
 * @error: where to put an error
 *
 * Does what the object offers through its Action interface. The call comes back
 * when the application took the order, which may be before it did it (GTK 4: a
 * quarter of a second). Blocks; any thread.
 *
 * Errors: #KHADIM_RPA_ERROR with `UNSUPPORTED` (no actions), `NOT_FOUND` (not
 * this action, or the object is gone), `FAILED` (disabled, or it refused),
 * `CANCELLED`, `HUNG`, `ENDED`, `LOST`.
 *
 * Returns: whether the application took it
 */
gboolean
khadim_rpa_a11y_invoke (KhadimRpaA11y      *self,
                        KhadimRpaA11yNode  *node,
                        const char         *action,
                        GCancellable       *cancellable,
                        GError            **error)
{
  g_autoptr(KhadimRpaA11yNode) now = NULL;
  gboolean done = FALSE;
  int index;

  g_return_val_if_fail (KHADIM_RPA_IS_A11Y (self), FALSE);
  g_return_val_if_fail (node != NULL, FALSE);

  now = require (self, node, KHADIM_A11Y_HAS_ACTION, "has no actions: click it with the pointer",
                 cancellable, error);
  if (now == NULL || !is_sensitive (now, error))
    return FALSE;
  index = find_action (now, action, error);
  if (index < 0
      || !call_for_boolean (self, now, _KHADIM_A11Y_IFACE_ACTION, "DoAction",
                            g_variant_new ("(i)", index), &done, cancellable, error))
    return FALSE;

  return done || fail_node (now, KHADIM_RPA_ERROR_FAILED, "refused the action", error);
}

/* Values ------------------------------------------------------------------- */

static gboolean
set_number (KhadimRpaA11y      *self,
            KhadimRpaA11yNode  *node,
            const char         *value,
            GCancellable       *cancellable,
            GError            **error)
{
  g_autoptr(GVariant) reply = NULL;
  g_autoptr(GVariant) after = NULL;
  char *end = NULL;
  double number = g_ascii_strtod (value, &end);

  if (end == value || *end != '\0' || !isfinite (number))
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID,
                   "value: “%s” is not a number, which the %s “%s” needs", value,
                   khadim_rpa_a11y_node_get_role (node), khadim_rpa_a11y_node_get_name (node));
      return FALSE;
    }
  reply = _khadim_rpa_a11y_call (self, node, _KHADIM_A11Y_IFACE_PROPERTIES, "Set",
                                 g_variant_new ("(ssv)", _KHADIM_A11Y_IFACE_VALUE, "CurrentValue",
                                                g_variant_new_double (number)),
                                 NULL, cancellable, error);
  if (reply == NULL)
    return FALSE;
  after = _khadim_rpa_a11y_get_property (self, node, _KHADIM_A11Y_IFACE_VALUE, "CurrentValue",
                                         G_VARIANT_TYPE_DOUBLE, cancellable, error);
  if (after == NULL)
    return FALSE;
  if (fabs (g_variant_get_double (after) - number) > 1e-6 * MAX (1.0, fabs (number)))
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_FAILED,
                   "The %s “%s” made %g of the value %g", khadim_rpa_a11y_node_get_role (node),
                   khadim_rpa_a11y_node_get_name (node), g_variant_get_double (after), number);
      return FALSE;
    }

  return TRUE;
}

static gboolean
set_contents (KhadimRpaA11y      *self,
              KhadimRpaA11yNode  *node,
              const char         *value,
              GCancellable       *cancellable,
              GError            **error)
{
  g_autofree char *after = NULL;
  gboolean done = FALSE;

  if (!_khadim_rpa_a11y_node_has (node, ATSPI_STATE_EDITABLE))
    return fail_node (node, KHADIM_RPA_ERROR_FAILED, "is read-only", error);
  if (!call_for_boolean (self, node, _KHADIM_A11Y_IFACE_EDITABLE, "SetTextContents",
                         g_variant_new ("(s)", value), &done, cancellable, error))
    return FALSE;
  if (!done)
    return fail_node (node, KHADIM_RPA_ERROR_FAILED, "refused the text", error);
  if ((node->interfaces & KHADIM_A11Y_HAS_TEXT) == 0 || node->role == ATSPI_ROLE_PASSWORD_TEXT
      || g_utf8_strlen (value, -1) > _KHADIM_A11Y_TEXT_MAX_CHARS)
    return TRUE;
  after = khadim_rpa_a11y_get_text (self, node, cancellable, error);
  if (after == NULL)
    return FALSE;

  return g_str_equal (after, value)
         || fail_node (node, KHADIM_RPA_ERROR_FAILED, "made something else of the text", error);
}

/**
 * khadim_rpa_a11y_set_value:
 * @self: a connection
 * @node: what to change
 * @value: the new contents; for a slider or the like a number, with a point
 * @cancellable: (nullable): stops waiting
 * @error: where to put an error
 *
 * Replaces the contents of an object through its EditableText or its Value
 * interface, and reads them back. The text of a password field is not read
 * back. Blocks; any thread.
 *
 * Errors: #KHADIM_RPA_ERROR with `UNSUPPORTED` (neither interface), `INVALID`
 * (not a number, not UTF-8), `LIMIT` (over 1 MiB), `FAILED` (disabled,
 * read-only, refused or changed by the application), `NOT_FOUND`, `CANCELLED`,
 * `HUNG`, `ENDED`, `LOST`.
 *
 * Returns: whether the object has the new contents
 */
gboolean
khadim_rpa_a11y_set_value (KhadimRpaA11y      *self,
                           KhadimRpaA11yNode  *node,
                           const char         *value,
                           GCancellable       *cancellable,
                           GError            **error)
{
  g_autoptr(KhadimRpaA11yNode) now = NULL;

  g_return_val_if_fail (KHADIM_RPA_IS_A11Y (self), FALSE);
  g_return_val_if_fail (node != NULL && value != NULL, FALSE);

  if (strlen (value) > VALUE_MAX_BYTES)
    {
      g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_LIMIT,
                           "value: longer than 1 MiB");
      return FALSE;
    }
  if (!g_utf8_validate (value, -1, NULL))
    {
      g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID, "value: not UTF-8");
      return FALSE;
    }
  now = require (self, node, KHADIM_A11Y_HAS_EDITABLE | KHADIM_A11Y_HAS_VALUE,
                 "takes no value: type into it", cancellable, error);
  if (now == NULL || !is_sensitive (now, error))
    return FALSE;
  if (now->interfaces & KHADIM_A11Y_HAS_EDITABLE)
    return set_contents (self, now, value, cancellable, error);

  return set_number (self, now, value, cancellable, error);
}

/* Text --------------------------------------------------------------------- */

/**
 * khadim_rpa_a11y_get_text:
 * @self: a connection
 * @node: what to read
 * @cancellable: (nullable): stops waiting
 * @error: where to put an error
 *
 * Reads all that the object says through its Text interface. Blocks; any
 * thread.
 *
 * Errors: #KHADIM_RPA_ERROR with `UNSUPPORTED` (no Text interface, or a
 * password field), `LIMIT` (over 65,536 characters), `NOT_FOUND`, `CANCELLED`,
 * `HUNG`, `ENDED`, `LOST`, `FAILED`.
 *
 * Returns: (transfer full): the text; %NULL on error
 */
char *
khadim_rpa_a11y_get_text (KhadimRpaA11y      *self,
                          KhadimRpaA11yNode  *node,
                          GCancellable       *cancellable,
                          GError            **error)
{
  g_autoptr(KhadimRpaA11yNode) now = NULL;
  g_autoptr(GVariant) count = NULL;
  g_autoptr(GVariant) reply = NULL;
  char *text = NULL;

  g_return_val_if_fail (KHADIM_RPA_IS_A11Y (self), NULL);
  g_return_val_if_fail (node != NULL, NULL);

  now = require (self, node, KHADIM_A11Y_HAS_TEXT, "has no text: read it from a picture",
                 cancellable, error);
  if (now == NULL)
    return NULL;
  if (now->role == ATSPI_ROLE_PASSWORD_TEXT)
    {
      fail_node (now, KHADIM_RPA_ERROR_UNSUPPORTED, "is a password field, which is not read",
                 error);
      return NULL;
    }
  count = _khadim_rpa_a11y_get_property (self, now, _KHADIM_A11Y_IFACE_TEXT, "CharacterCount",
                                         G_VARIANT_TYPE_INT32, cancellable, error);
  if (count == NULL)
    return NULL;
  if (g_variant_get_int32 (count) > _KHADIM_A11Y_TEXT_MAX_CHARS)
    {
      fail_node (now, KHADIM_RPA_ERROR_LIMIT, "has more than 65,536 characters", error);
      return NULL;
    }
  reply = _khadim_rpa_a11y_call (self, now, _KHADIM_A11Y_IFACE_TEXT, "GetText",
                                 g_variant_new ("(ii)", 0, g_variant_get_int32 (count)),
                                 G_VARIANT_TYPE ("(s)"), cancellable, error);
  if (reply != NULL)
    g_variant_get (reply, "(s)", &text);

  return text;
}

/* Offsets count characters, not bytes. */
static gboolean
find_phrases (KhadimRpaA11yNode  *node,
              const char         *text,
              const char         *from_text,
              const char         *to_text,
              int                *out_start,
              int                *out_end,
              GError            **error)
{
  const char *from = strstr (text, from_text);
  const char *to = NULL;
  const char *missing = from == NULL ? from_text : to_text;

  if (from != NULL)
    to = to_text != NULL ? strstr (from, to_text) : from;
  if (to == NULL)
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND,
                   "The %s “%s” does not say “%s”%s", khadim_rpa_a11y_node_get_role (node),
                   khadim_rpa_a11y_node_get_name (node), missing,
                   from != NULL ? " after the start" : "");
      return FALSE;
    }
  to += strlen (to_text != NULL ? to_text : from_text);
  *out_start = (int) g_utf8_pointer_to_offset (text, from);
  *out_end = (int) g_utf8_pointer_to_offset (text, to);

  return TRUE;
}

static gboolean
is_selected (KhadimRpaA11y      *self,
             KhadimRpaA11yNode  *node,
             int                 start,
             int                 end,
             GCancellable       *cancellable,
             GError            **error)
{
  int now_start = -1;
  int now_end = -1;
  g_autoptr(GVariant) reply =
    _khadim_rpa_a11y_call (self, node, _KHADIM_A11Y_IFACE_TEXT, "GetSelection",
                           g_variant_new ("(i)", 0), G_VARIANT_TYPE ("(ii)"), cancellable, error);

  if (reply == NULL)
    return FALSE;
  g_variant_get (reply, "(ii)", &now_start, &now_end);

  return (MIN (now_start, now_end) == start && MAX (now_start, now_end) == end)
         || fail_node (node, KHADIM_RPA_ERROR_UNSUPPORTED,
                       "did not select the text: drag over it with the pointer", error);
}

static gboolean
select_range (KhadimRpaA11y      *self,
              KhadimRpaA11yNode  *node,
              int                 start,
              int                 end,
              GCancellable       *cancellable,
              GError            **error)
{
  gboolean done = FALSE;
  int n = 0;
  g_autoptr(GVariant) reply =
    _khadim_rpa_a11y_call (self, node, _KHADIM_A11Y_IFACE_TEXT, "GetNSelections", NULL,
                           G_VARIANT_TYPE ("(i)"), cancellable, error);

  if (reply == NULL)
    return FALSE;
  g_variant_get (reply, "(i)", &n);
  if (!call_for_boolean (self, node, _KHADIM_A11Y_IFACE_TEXT,
                         n > 0 ? "SetSelection" : "AddSelection",
                         n > 0 ? g_variant_new ("(iii)", 0, start, end)
                               : g_variant_new ("(ii)", start, end),
                         &done, cancellable, error))
    return FALSE;

  return is_selected (self, node, start, end, cancellable, error);
}

/**
 * khadim_rpa_a11y_select_text:
 * @self: a connection
 * @node: where to select
 * @from_text: where the selection starts
 * @to_text: (nullable): with what it ends, looked for from the start on; %NULL
 *   to select @from_text alone
 * @cancellable: (nullable): stops waiting
 * @error: where to put an error
 *
 * Selects from one phrase to another, both included, and looks whether it is
 * selected. Blocks; any thread.
 *
 * Errors: those of khadim_rpa_a11y_get_text(), `INVALID` (an empty phrase) and
 * `NOT_FOUND` (not said there); `UNSUPPORTED` also when the toolkit did not
 * select it.
 *
 * Returns: whether the text is selected
 */
gboolean
khadim_rpa_a11y_select_text (KhadimRpaA11y      *self,
                             KhadimRpaA11yNode  *node,
                             const char         *from_text,
                             const char         *to_text,
                             GCancellable       *cancellable,
                             GError            **error)
{
  g_autofree char *text = NULL;
  int start = 0;
  int end = 0;

  g_return_val_if_fail (KHADIM_RPA_IS_A11Y (self), FALSE);
  g_return_val_if_fail (node != NULL && from_text != NULL, FALSE);

  if (*from_text == '\0' || (to_text != NULL && *to_text == '\0'))
    {
      g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID,
                           "from, to: must not be empty");
      return FALSE;
    }
  text = khadim_rpa_a11y_get_text (self, node, cancellable, error);
  if (text == NULL || !find_phrases (node, text, from_text, to_text, &start, &end, error))
    return FALSE;

  return select_range (self, node, start, end, cancellable, error);
}

/* Focus -------------------------------------------------------------------- */

/**
 * khadim_rpa_a11y_grab_focus:
 * @self: a connection
 * @node: what is to have the keyboard focus in its window
 * @cancellable: (nullable): stops waiting
 * @error: where to put an error
 *
 * Moves the focus inside a window; the window itself must be active for it to
 * get the keys. Blocks; any thread.
 *
 * Errors: #KHADIM_RPA_ERROR with `UNSUPPORTED` (the toolkit cannot, as GTK 4.8:
 * click it), `NOT_FOUND`, `CANCELLED`, `HUNG`, `ENDED`, `LOST`, `FAILED`.
 *
 * Returns: whether the toolkit says that it did
 */
gboolean
khadim_rpa_a11y_grab_focus (KhadimRpaA11y      *self,
                            KhadimRpaA11yNode  *node,
                            GCancellable       *cancellable,
                            GError            **error)
{
  g_autoptr(KhadimRpaA11yNode) now = NULL;
  gboolean done = FALSE;

  g_return_val_if_fail (KHADIM_RPA_IS_A11Y (self), FALSE);
  g_return_val_if_fail (node != NULL, FALSE);

  now = require (self, node, KHADIM_A11Y_HAS_COMPONENT, "cannot take the focus", cancellable,
                 error);
  if (now == NULL
      || !call_for_boolean (self, now, _KHADIM_A11Y_IFACE_COMPONENT, "GrabFocus", NULL, &done,
                            cancellable, error))
    return FALSE;

  return done
         || fail_node (now, KHADIM_RPA_ERROR_UNSUPPORTED,
                       "did not take the focus: click it with the pointer", error);
}
