/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include <signal.h>
#include <string.h>

#include "rpa/find/khadim-rpa-a11y-act.h"
#include "rpa/find/khadim-rpa-a11y-find.h"
#include "rpa/find/khadim-rpa-a11y-place.h"
#include "rpa/screen/khadim-rpa-error.h"
#include "tests/rpa/lib/desk.h"

#define APP_TIMEOUT_MS 10000

static Desk *desk;
static KhadimRpaDisplay *display;
static KhadimRpaWindows *windows;
static KhadimRpaA11y *a11y;

static JsonObject *
parse (const char *text)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) node = json_from_string (text, &error);

  g_assert_no_error (error);

  return json_object_ref (json_node_get_object (node));
}

static GPtrArray *
find_all (guint32      pid,
          const char  *text,
          GError     **error)
{
  const KhadimRpaA11yScope scope = { .pid = pid };
  g_autoptr(JsonObject) evidence = parse (text);

  return khadim_rpa_a11y_find (a11y, &scope, evidence, NULL, NULL, NULL, error);
}

typedef struct {
  guint32 pid;
  const char *evidence;
  KhadimRpaA11yNode *found;
} Wanted;

static gboolean
is_inside_one (KhadimRpaA11yNode *node,
               GPtrArray         *list)
{
  KhadimRpaRect client, at, common;

  if (!khadim_rpa_a11y_node_get_extents (node, &at.x, &at.y, &at.width, &at.height))
    return FALSE;
  for (guint i = 0; list != NULL && i < list->len; i++)
    {
      KhadimRpaWindow *window = g_ptr_array_index (list, i);

      khadim_rpa_window_get_client (window, &client);
      if ((khadim_rpa_window_get_state (window) & KHADIM_RPA_WINDOW_STATE_VISIBLE) != 0
          && khadim_rpa_rect_intersect (&at, &client, &common) && common.width == at.width
          && common.height == at.height)
        return TRUE;
    }

  return FALSE;
}

/* A tree may be there before its window is, and an application may learn late
 * where that has been put. */
static gboolean
is_in_place (KhadimRpaA11yNode *node,
             guint32            pid)
{
  const KhadimRpaWindowMatch match = { .pid = pid };
  g_autoptr(GPtrArray) clients = khadim_rpa_windows_list (windows, &match, NULL);
  g_autoptr(GPtrArray) popups = khadim_rpa_windows_list_popups (windows, pid, NULL);

  return is_inside_one (node, clients) || is_inside_one (node, popups);
}

static gboolean
is_found (gpointer user_data)
{
  Wanted *wanted = user_data;
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) matches = find_all (wanted->pid, wanted->evidence, &error);

  if (matches == NULL)
    {
      g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND);
      return FALSE;
    }
  if (matches->len == 0)
    return FALSE;
  g_clear_pointer (&wanted->found, khadim_rpa_a11y_node_unref);
  wanted->found =
    khadim_rpa_a11y_node_ref (((KhadimRpaA11yMatch *) g_ptr_array_index (matches, 0))->node);

  return is_in_place (wanted->found, wanted->pid);
}

static KhadimRpaA11yNode *
wait_for (guint32     pid,
          const char *evidence)
{
  Wanted wanted = { pid, evidence, NULL };

  if (!desk_wait (is_found, &wanted, APP_TIMEOUT_MS))
    {
      const KhadimRpaA11yScope scope = { .pid = pid };
      const KhadimRpaA11yLimits limits = { .hidden = TRUE };
      g_autoptr(KhadimRpaA11yNode) root =
        khadim_rpa_a11y_snapshot (a11y, &scope, &limits, NULL, NULL);
      g_autoptr(JsonNode) json = root != NULL ? khadim_rpa_a11y_node_to_json (root) : NULL;
      g_autofree char *text = json != NULL ? json_to_string (json, TRUE) : NULL;

      g_test_message ("%s", text);
      g_error ("not found: %s", evidence);
    }

  return wanted.found;
}

static void
click_node (KhadimRpaA11yNode *node)
{
  int x, y, width, height;

  g_assert_true (khadim_rpa_a11y_node_get_extents (node, &x, &y, &width, &height));
  desk_click (x + width / 2, y + height / 2);
}

/* zenity prints what stands in its entry, and ends with 0 after OK. */
static void
test_set_and_invoke (void)
{
  g_autoptr(GSubprocess) zenity =
    desk_spawn (desk, "zenity", "--entry", "--title=Zed", "--text=Your name", NULL);
  g_autoptr(KhadimRpaA11yNode) entry =
    wait_for (desk_pid (zenity), "{\"path\": [{\"role\": \"dialog\", \"name\": \"Z*\"}, "
                                 "{\"role\": \"text\"}], \"state\": \"editable\"}");
  g_autoptr(KhadimRpaA11yNode) ok =
    wait_for (desk_pid (zenity), "{\"app\": \"zenity\", \"path\": [{\"role\": \"button\", "
                                 "\"name\": \"OK\"}]}");
  g_autoptr(GError) error = NULL;
  g_autofree char *output = NULL;
  g_autofree char *text = NULL;
  int status = -1;

  g_assert_true (khadim_rpa_a11y_set_value (a11y, entry, "Zürich 漢字", NULL, &error));
  g_assert_no_error (error);
  text = khadim_rpa_a11y_get_text (a11y, entry, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (text, ==, "Zürich 漢字");

  g_assert_false (khadim_rpa_a11y_invoke (a11y, ok, "no such", NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND);
  g_clear_error (&error);
  g_assert_true (khadim_rpa_a11y_invoke (a11y, ok, NULL, NULL, &error));
  g_assert_no_error (error);

  output = desk_finish (zenity, &status);
  g_assert_cmpint (status, ==, 0);
  g_assert_cmpstr (output, ==, "Zürich 漢字\n");

  g_assert_false (khadim_rpa_a11y_invoke (a11y, ok, NULL, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_ENDED);
}

/* The extents are right when a click by another client hits the button. */
static void
test_extents (void)
{
  g_autoptr(GSubprocess) zenity =
    desk_spawn (desk, "zenity", "--question", "--title=Q", "--text=Really?", NULL);
  g_autoptr(KhadimRpaA11yNode) no =
    wait_for (desk_pid (zenity), "{\"path\": [{\"role\": \"push button\", \"name\": \"No\"}]}");
  const KhadimRpaA11yScope scope = { .pid = desk_pid (zenity) };
  g_autoptr(KhadimRpaA11yNode) there = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *output = NULL;
  int x, y, width, height;
  int status = -1;

  g_assert_true (khadim_rpa_a11y_node_get_extents (no, &x, &y, &width, &height));
  there = khadim_rpa_a11y_get_at_point (a11y, &scope, x + width / 2, y + height / 2, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (khadim_rpa_a11y_node_get_name (there), ==, "No");
  g_assert_null (khadim_rpa_a11y_get_at_point (a11y, &scope, 5, 5, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND);

  click_node (no);
  output = desk_finish (zenity, &status);
  g_assert_cmpint (status, ==, 1);
}

static void
test_select_and_focus (void)
{
  g_autoptr(GSubprocess) zenity = desk_spawn (
    desk, "zenity", "--entry", "--title=Sel", "--text=T", "--entry-text=uno dós três", NULL);
  g_autoptr(KhadimRpaA11yNode) entry =
    wait_for (desk_pid (zenity), "{\"path\": [{\"role\": \"text\"}], \"state\": \"editable\"}");
  g_autoptr(KhadimRpaA11yNode) cancel =
    wait_for (desk_pid (zenity), "{\"path\": [{\"role\": \"push button\", \"name\": \"Cancel\"}]}");
  const KhadimRpaA11yScope scope = { .pid = desk_pid (zenity) };
  g_autoptr(KhadimRpaA11yNode) focused = NULL;
  g_autoptr(GError) error = NULL;

  g_assert_true (khadim_rpa_a11y_select_text (a11y, entry, "dós", "três", NULL, &error));
  g_assert_no_error (error);
  g_assert_false (khadim_rpa_a11y_select_text (a11y, entry, "três", "uno", NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND);
  g_clear_error (&error);
  g_assert_false (khadim_rpa_a11y_select_text (a11y, entry, "", NULL, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_false (khadim_rpa_a11y_select_text (a11y, cancel, "C", NULL, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_UNSUPPORTED);
  g_clear_error (&error);

  g_assert_true (khadim_rpa_a11y_grab_focus (a11y, cancel, NULL, &error));
  g_assert_no_error (error);
  focused = khadim_rpa_a11y_get_focused (a11y, &scope, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (khadim_rpa_a11y_node_equal (focused, cancel));

  g_assert_false (khadim_rpa_a11y_set_value (a11y, cancel, "x", NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_UNSUPPORTED);
  desk_end (zenity);
}

static void
test_value (void)
{
  g_autoptr(GSubprocess) zenity = desk_spawn (desk, "zenity", "--scale", "--text=S", NULL);
  g_autoptr(KhadimRpaA11yNode) slider =
    wait_for (desk_pid (zenity), "{\"path\": [{\"role\": \"slider\"}]}");
  g_autoptr(KhadimRpaA11yNode) ok =
    wait_for (desk_pid (zenity), "{\"path\": [{\"role\": \"push button\", \"name\": \"OK\"}]}");
  g_autoptr(GError) error = NULL;
  g_autofree char *output = NULL;
  int status = -1;

  g_assert_false (khadim_rpa_a11y_set_value (a11y, slider, "many", NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_false (khadim_rpa_a11y_set_value (a11y, slider, "1000", NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_FAILED);
  g_clear_error (&error);
  g_assert_true (khadim_rpa_a11y_set_value (a11y, slider, "42", NULL, &error));
  g_assert_no_error (error);

  click_node (ok);
  output = desk_finish (zenity, &status);
  g_assert_cmpstr (output, ==, "42\n");
}

static void
test_snapshot (void)
{
  g_autoptr(GSubprocess) galculator = desk_spawn (desk, "galculator", NULL);
  g_autoptr(KhadimRpaA11yNode) seven =
    wait_for (desk_pid (galculator), "{\"app\": \"galculator\", \"path\": [{\"role\": \"frame\", "
                                     "\"name\": \"galculator\"}, {\"role\": \"toggle button\", "
                                     "\"name\": \"7\"}]}");
  const KhadimRpaA11yScope scope = { .app = "gal*", .window = "galc*" };
  const KhadimRpaA11yLimits details = { .details = TRUE };
  const KhadimRpaA11yLimits few = { .max_nodes = 10 };
  const KhadimRpaA11yLimits shallow = { .max_depth = 2 };
  const KhadimRpaA11yLimits hidden = { .hidden = TRUE };
  g_autoptr(KhadimRpaA11yNode) root = NULL;
  g_autoptr(KhadimRpaA11yNode) ten = NULL;
  g_autoptr(KhadimRpaA11yNode) two = NULL;
  g_autoptr(KhadimRpaA11yNode) all = NULL;
  g_autoptr(JsonNode) json = NULL;
  g_autoptr(GError) error = NULL;

  root = khadim_rpa_a11y_snapshot (a11y, &scope, &details, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (khadim_rpa_a11y_node_get_role (root), ==, "application");
  g_assert_cmpuint (khadim_rpa_a11y_node_get_pid (root), ==, desk_pid (galculator));
  g_assert_cmpuint (khadim_rpa_a11y_node_get_n_children (root), ==, 1);
  g_assert_cmpuint (khadim_rpa_a11y_node_count (root), >, 40);
  g_assert_false (khadim_rpa_a11y_node_is_truncated (root));
  json = khadim_rpa_a11y_node_to_json (root);
  g_assert_cmpstr (json_object_get_string_member (json_node_get_object (json), "name"), ==,
                   "galculator");

  ten = khadim_rpa_a11y_snapshot (a11y, &scope, &few, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (khadim_rpa_a11y_node_count (ten), <=, 10);
  two = khadim_rpa_a11y_snapshot (a11y, &scope, &shallow, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (khadim_rpa_a11y_node_count (two), <, khadim_rpa_a11y_node_count (root));
  all = khadim_rpa_a11y_snapshot (a11y, &scope, &hidden, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (khadim_rpa_a11y_node_count (all), >, khadim_rpa_a11y_node_count (root));
  desk_end (galculator);
}

/* featherpad ends when it is asked for all properties at once. */
static void
test_qt (void)
{
  g_autoptr(GSubprocess) featherpad = desk_spawn (desk, "featherpad", NULL);
  g_autoptr(KhadimRpaA11yNode) editor = wait_for (
    desk_pid (featherpad), "{\"path\": [{\"role\": \"frame\"}, {\"role\": \"text\"}], "
                           "\"state\": \"multi-line\"}");
  const KhadimRpaA11yScope scope = { .pid = desk_pid (featherpad) };
  g_autoptr(KhadimRpaA11yNode) there = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *text = NULL;
  int x, y, width, height;

  g_assert_true (khadim_rpa_a11y_set_value (a11y, editor, "Grüße\nzwei", NULL, &error));
  g_assert_no_error (error);
  g_assert_true (khadim_rpa_a11y_select_text (a11y, editor, "üße", "zw", NULL, &error));
  g_assert_no_error (error);
  text = khadim_rpa_a11y_get_text (a11y, editor, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (text, ==, "Grüße\nzwei");
  g_assert_true (khadim_rpa_a11y_node_get_extents (editor, &x, &y, &width, &height));
  there = khadim_rpa_a11y_get_at_point (a11y, &scope, x + width / 2, y + height / 2, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (khadim_rpa_a11y_node_equal (there, editor));
  desk_end (featherpad);
}

/* Everything twice as large. */
static void
test_scale_gtk3 (void)
{
  g_autoptr(GSubprocess) zenity = desk_spawn (desk, "env", "GDK_SCALE=2", "zenity", "--question",
                                              "--title=Q", "--text=Really?", NULL);
  g_autoptr(KhadimRpaA11yNode) no =
    wait_for (desk_pid (zenity), "{\"path\": [{\"name\": \"No\"}]}");
  g_autofree char *output = NULL;
  int x, y, width, height;
  int status = -1;

  g_assert_true (khadim_rpa_a11y_node_get_extents (no, &x, &y, &width, &height));
  desk_click (x + 4, y + height - 5);
  output = desk_finish (zenity, &status);
  g_assert_cmpint (status, ==, 1);
}

static gboolean
says_seven (gpointer user_data)
{
  g_autofree char *text = khadim_rpa_a11y_get_text (a11y, user_data, NULL, NULL);

  return g_strcmp0 (text, "7") == 0;
}

/* GTK 4 says where things are in their window only; a click shows whether the
 * windows tell the rest. */
static void
check_gtk4 (const char *scale)
{
  g_autoptr(GSubprocess) calculator = desk_spawn (desk, "env", scale, "gnome-calculator", NULL);
  guint32 pid = desk_pid (calculator);
  g_autoptr(KhadimRpaA11yNode) seven =
    wait_for (pid, "{\"path\": [{\"role\": \"push button\", \"name\": \"7*\"}]}");
  g_autoptr(KhadimRpaA11yNode) text =
    wait_for (pid, "{\"path\": [{\"role\": \"text\"}], \"state\": \"focused\"}");
  const KhadimRpaA11yScope scope = { .pid = pid };
  g_autoptr(KhadimRpaA11yNode) there = NULL;
  g_autoptr(GError) error = NULL;
  int x, y, width, height;

  g_assert_false (khadim_rpa_a11y_grab_focus (a11y, seven, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_UNSUPPORTED);
  g_clear_error (&error);
  g_assert_true (khadim_rpa_a11y_node_get_extents (seven, &x, &y, &width, &height));
  there = khadim_rpa_a11y_get_at_point (a11y, &scope, x + width / 2, y + height / 2, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (g_str_has_prefix (khadim_rpa_a11y_node_get_name (there), "7"));
  desk_click (x + 2, y + height - 3);
  g_assert_true (desk_wait (says_seven, text, APP_TIMEOUT_MS));
  desk_end (calculator);
}

static void
test_gtk4 (void)
{
  check_gtk4 ("GDK_SCALE=1");
}

/* A menu of GTK 4 is a window of its own, which its tree does not tell. */
static void
test_popup_gtk4 (void)
{
  static const char item[] = "{\"path\": [{\"role\": \"menu*\"}, {\"name\": \"Advanced*\"}]}";
  g_autoptr(GSubprocess) calculator = desk_spawn (desk, "gnome-calculator", NULL);
  guint32 pid = desk_pid (calculator);
  g_autoptr(KhadimRpaA11yNode) button =
    wait_for (pid, "{\"path\": [{\"role\": \"push button\", \"name\": \"Basic\"}]}");
  g_autoptr(KhadimRpaA11yNode) advanced = NULL;
  g_autoptr(KhadimRpaA11yNode) menu = NULL;
  g_autoptr(KhadimRpaA11yNode) after = NULL;
  g_autofree char *place = NULL;
  g_autofree char *tree = NULL;
  int x, y, width, height;

  click_node (button);
  advanced = wait_for (pid, item);
  menu = wait_for (pid, "{\"path\": [{\"role\": \"menu\", \"name\": \"GtkPopoverMenu\"}]}");
  g_assert_true (khadim_rpa_a11y_node_get_extents (menu, &x, &y, &width, &height));
  place = g_strdup_printf ("%dx%d+%d+%d  +%d+%d\n", width, height, x, y, x, y);
  tree = desk_run ("xwininfo", "-root", "-tree", NULL);
  g_assert_nonnull (strstr (tree, place));
  click_node (advanced);
  after = wait_for (pid, "{\"path\": [{\"role\": \"push button\", \"name\": \"Advanced\"}]}");
  desk_end (calculator);
}

static void
test_scale_gtk4 (void)
{
  check_gtk4 ("GDK_SCALE=2");
}

/* An application that is stopped counts as hung within the time of a call, and
 * does not keep others from being found. */
static void
test_hung (void)
{
  g_autoptr(GSubprocess) stopped = desk_spawn (desk, "zenity", "--info", "--text=stopped", NULL);
  g_autoptr(GSubprocess) going = desk_spawn (desk, "zenity", "--info", "--text=going", NULL);
  g_autoptr(KhadimRpaA11yNode) button =
    wait_for (desk_pid (stopped), "{\"path\": [{\"role\": \"push button\"}]}");
  g_autoptr(KhadimRpaA11yNode) other =
    wait_for (desk_pid (going), "{\"path\": [{\"role\": \"push button\"}]}");
  g_autoptr(GPtrArray) matches = NULL;
  g_autoptr(GError) error = NULL;

  g_assert_nonnull (other);
  desk_freeze (stopped);
  g_assert_false (khadim_rpa_a11y_invoke (a11y, button, NULL, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_HUNG);
  g_clear_error (&error);
  g_assert_null (
    find_all (desk_pid (stopped), "{\"path\": [{\"role\": \"push button\"}]}", &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_HUNG);
  g_clear_error (&error);
  matches = find_all (0, "{\"app\": \"zenity\", \"path\": [{\"role\": \"push button\"}]}", &error);
  g_assert_no_error (error);
  g_assert_cmpuint (matches->len, ==, 1);

  g_subprocess_send_signal (stopped, SIGCONT);
  g_assert_true (khadim_rpa_a11y_invoke (a11y, button, NULL, NULL, &error));
  g_assert_no_error (error);
  desk_end (stopped);
  desk_end (going);
}

static void
test_cancel (void)
{
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  const KhadimRpaA11yScope none = { .pid = 1 };
  g_autoptr(GError) error = NULL;

  g_assert_null (khadim_rpa_a11y_snapshot (a11y, &none, NULL, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND);
  g_clear_error (&error);
  g_cancellable_cancel (cancellable);
  g_assert_null (khadim_rpa_a11y_snapshot (a11y, &none, NULL, cancellable, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_CANCELLED);
}

static void
test_evidence (void)
{
  static const char * const wrong[][2] = {
    { "{}", "a11y.path: not an array" },
    { "{\"path\": []}", "a11y.path: has not 1 to 32 entries" },
    { "{\"path\": [1]}", "a11y.path[0]: not an object" },
    { "{\"path\": [{\"role\": \"a\"}, {}]}", "a11y.path[1]: has neither a role nor a name" },
    { "{\"path\": [{\"role\": 1}]}", "a11y.path[0].role: not a string" },
    { "{\"path\": [{\"role\": \"a\", \"index\": -1}]}",
      "a11y.path[0].index: not between 0 and 100000" },
    { "{\"path\": [{\"role\": \"a\", \"nme\": \"b\"}]}", "a11y.path[0].nme: unknown key" },
    { "{\"path\": [{\"role\": \"a\"}], \"state\": \"odd\"}",
      "a11y.state: not the name of an AT-SPI state" },
  };
  g_autoptr(JsonObject) right =
    parse ("{\"x-note\": 1, \"app\": \"a\", \"path\": [{\"role\": \"text\", \"index\": 2}]}");
  g_autoptr(GError) error = NULL;

  g_assert_true (khadim_rpa_a11y_check_evidence (right, &error));
  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr(JsonObject) evidence = parse (wrong[i][0]);

      g_assert_false (khadim_rpa_a11y_check_evidence (evidence, &error));
      g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID);
      g_assert_cmpstr (error->message, ==, wrong[i][1]);
      g_clear_error (&error);
    }
}

/* The index counts in the order of the tree, which for a grid of GTK 3 is not
 * that on the screen; the state leaves others out. */
static void
test_index (void)
{
  g_autoptr(GSubprocess) zenity =
    desk_spawn (desk, "zenity", "--forms", "--add-entry=One", "--add-entry=Two", NULL);
  g_autoptr(KhadimRpaA11yNode) second =
    wait_for (desk_pid (zenity), "{\"path\": [{\"role\": \"text\", \"index\": 1}]}");
  g_autoptr(KhadimRpaA11yNode) ok =
    wait_for (desk_pid (zenity), "{\"path\": [{\"role\": \"push button\", \"name\": \"OK\"}]}");
  g_autoptr(GPtrArray) texts = NULL;
  g_autoptr(GPtrArray) checked = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *output = NULL;
  KhadimRpaA11yNode *first;
  int first_y, second_y;
  int status = -1;

  texts = find_all (desk_pid (zenity), "{\"path\": [{\"role\": \"text\"}]}", &error);
  g_assert_no_error (error);
  g_assert_cmpuint (texts->len, ==, 2);
  first = ((KhadimRpaA11yMatch *) g_ptr_array_index (texts, 0))->node;
  g_assert_false (khadim_rpa_a11y_node_equal (first, second));
  g_assert_true (khadim_rpa_a11y_node_get_extents (first, NULL, &first_y, NULL, NULL));
  g_assert_true (khadim_rpa_a11y_node_get_extents (second, NULL, &second_y, NULL, NULL));
  checked = find_all (desk_pid (zenity), "{\"path\": [{\"role\": \"text\"}], "
                                         "\"state\": \"checked\"}", &error);
  g_assert_no_error (error);
  g_assert_cmpuint (checked->len, ==, 0);
  g_assert_true (khadim_rpa_a11y_set_value (a11y, second, "deux", NULL, &error));
  g_assert_no_error (error);
  click_node (ok);
  output = desk_finish (zenity, &status);
  g_assert_cmpstr (output, ==, first_y < second_y ? "|deux\n" : "deux|\n");
}

static void
test_no_bus (void)
{
  g_autoptr(GError) error = NULL;

  g_setenv ("AT_SPI_BUS_ADDRESS", "unix:path=/nonexistent/bus", TRUE);
  g_assert_null (khadim_rpa_a11y_new (NULL, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_FAILED);
  g_unsetenv ("AT_SPI_BUS_ADDRESS");
}

int
main (int   argc,
      char *argv[])
{
  g_autoptr(GError) error = NULL;
  int result;

  g_test_init (&argc, &argv, NULL);
  desk = desk_new (argc > 1 ? argv[1] : "openbox", 1280, 1100);
  display = khadim_rpa_display_new (NULL, &error);
  g_assert_no_error (error);
  windows = khadim_rpa_windows_new (display, &error);
  g_assert_no_error (error);
  a11y = khadim_rpa_a11y_new (NULL, NULL, &error);
  g_assert_no_error (error);
  khadim_rpa_a11y_follow_windows (a11y, windows);

  g_test_add_func ("/rpa/a11y/evidence", test_evidence);
  g_test_add_func ("/rpa/a11y/set-and-invoke", test_set_and_invoke);
  g_test_add_func ("/rpa/a11y/extents", test_extents);
  g_test_add_func ("/rpa/a11y/select-and-focus", test_select_and_focus);
  g_test_add_func ("/rpa/a11y/value", test_value);
  g_test_add_func ("/rpa/a11y/index", test_index);
  g_test_add_func ("/rpa/a11y/snapshot", test_snapshot);
  g_test_add_func ("/rpa/a11y/qt", test_qt);
  g_test_add_func ("/rpa/a11y-gtk4/window", test_gtk4);
  g_test_add_func ("/rpa/a11y-gtk4/scale", test_scale_gtk4);
  g_test_add_func ("/rpa/a11y-gtk4/popup", test_popup_gtk4);
  g_test_add_func ("/rpa/a11y/gtk3-scale", test_scale_gtk3);
  g_test_add_func ("/rpa/a11y/hung", test_hung);
  g_test_add_func ("/rpa/a11y/cancel", test_cancel);
  g_test_add_func ("/rpa/a11y/no-bus", test_no_bus);
  result = g_test_run ();

  g_object_unref (a11y);
  g_object_unref (windows);
  g_object_unref (display);
  desk_free (desk);

  return result;
}
