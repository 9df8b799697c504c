/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#define G_LOG_DOMAIN "khadim-run"

#include "config.h"

#include "app/khadim-cli.h"

#include <glib-unix.h>
#include <string.h>
#include <unistd.h>

#include "app/khadim-private-run.h"
#include "app/khadim-progress.h"
#include "app/khadim-questions.h"
#include "engine/base/khadim-time.h"
#include "engine/json/khadim-json.h"
#include "engine/report/khadim-report.h"
#include "engine/runner/khadim-private-display.h"

/* What `khadim run` was asked for. */
typedef struct
{
  GStrv inputs;
  char *cwd;
  char *display;
  char *from;
  char *report;
  char *resume;
  gboolean dry_run;
  gboolean json;
} Options;

/* A run under way. */
typedef struct
{
  Options *options;
  KhadimStore *store;
  KhadimEngine *engine;
  KhadimSession *session;
  GMainLoop *loop;
  guint n_signals;
  int exit_code;
  gboolean is_private;   /* whether it is for a display of its own */
} Run;

static void
options_clear (Options *self)
{
  g_strfreev (self->inputs);
  g_free (self->cwd);
  g_free (self->display);
  g_free (self->from);
  g_free (self->report);
  g_free (self->resume);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static void
run_clear (Run *self)
{
  g_clear_object (&self->session);
  g_clear_object (&self->engine);
  g_clear_object (&self->store);
  g_clear_pointer (&self->loop, g_main_loop_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Run, run_clear)

static gboolean
parse_options (Options   *options,
               int       *argc,
               char    ***argv)
{
  const GOptionEntry entries[] = {
    { "input", 'i', 0, G_OPTION_ARG_STRING_ARRAY, &options->inputs,
      "Set an input; may be given several times", "KEY=VALUE" },
    { "cwd", 0, 0, G_OPTION_ARG_FILENAME, &options->cwd,
      "The work folder, where files are read and written (default: the current one)", "FOLDER" },
    { "display", 0, 0, G_OPTION_ARG_STRING, &options->display,
      "Where it plays: “current” or “private” (default: as the automation says)", "DISPLAY" },
    { "report", 0, 0, G_OPTION_ARG_FILENAME, &options->report,
      "Write a report (HTML, JUnit XML, JSON) into a folder", "FOLDER" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &options->json,
      "Write the stream of events, one JSON object a line, and nothing else", NULL },
    { "from", 0, 0, G_OPTION_ARG_STRING, &options->from,
      "Begin with this step of the top list", "STEP" },
    { "dry-run", 0, 0, G_OPTION_ARG_NONE, &options->dry_run,
      "Look everything up, change nothing", NULL },
    { "resume", 0, 0, G_OPTION_ARG_STRING, &options->resume,
      "Go on with a session that was parked or whose process died", "SESSION" },
    G_OPTION_ENTRY_NULL
  };

  if (!khadim_cli_parse ("[NAME|FOLDER]", "Plays an automation.",
                         "Exit codes: 0 done, 1 failed, 2 wrong usage or a faulty document, 3 a\n"
                         "question waits for its answer, 4 a budget is used up, 130 stopped.\n"
                         "Ctrl+C stops the run: no other step begins. At a terminal a question is\n"
                         "asked right there; else “khadim approve” answers it.",
                         entries, argc, argv, 0, 1))
    return FALSE;
  if ((*argc == 2) == (options->resume != NULL))
    {
      khadim_cli_error ("give the name of an automation or its folder, or --resume SESSION "
                        "(try “khadim run --help”)");
      return FALSE;
    }
  if (options->resume != NULL && (options->inputs != NULL || options->from != NULL ||
                                  options->dry_run || options->cwd != NULL))
    {
      khadim_cli_error ("--resume goes on as the session began: it takes no --input, --from, "
                        "--cwd or --dry-run");
      return FALSE;
    }
  if (options->display != NULL && strcmp (options->display, "current") != 0 &&
      strcmp (options->display, "private") != 0)
    {
      khadim_cli_error ("--display is “current” or “private”");
      return FALSE;
    }

  return TRUE;
}

/* Making the session ------------------------------------------------------- */

static JsonNode *
read_inputs (Options           *options,
             KhadimAutomation  *automation,
             GError           **error)
{
  g_autoptr(JsonObject) given = json_object_new ();

  for (gsize i = 0; options->inputs != NULL && options->inputs[i] != NULL; i++)
    if (!khadim_automation_parse_input (automation, options->inputs[i], given, error))
      return NULL;

  return khadim_automation_complete_inputs (automation, given, error);
}

static gboolean
check_from (Options           *options,
            KhadimAutomation  *automation,
            GError           **error)
{
  if (options->from == NULL || khadim_automation_has_step (automation, options->from))
    return TRUE;

  g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID,
               "--from: no step at the top of the document has the id “%s”", options->from);

  return FALSE;
}

static gboolean
check_cwd (Options  *options,
           GError  **error)
{
  if (options->cwd == NULL || g_file_test (options->cwd, G_FILE_TEST_IS_DIR))
    return TRUE;

  g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_NOT_FOUND,
               "--cwd: there is no folder “%s”", options->cwd);

  return FALSE;
}

static KhadimSession *
new_session (Run         *run,
             const char  *name,
             GError     **error)
{
  Options *options = run->options;
  g_autofree char *folder = khadim_cli_find (name, run->store);
  g_autoptr(KhadimAutomation) automation = NULL;
  g_autoptr(JsonNode) inputs = NULL;
  KhadimSessionSpec spec = {
    .work_dir = options->cwd,
    .from_step = options->from,
    .dry_run = options->dry_run,
    .display = options->display,
  };

  if (folder == NULL)
    return NULL;
  automation = khadim_automation_load (folder, khadim_engine_get_toolbox (run->engine), NULL,
                                       error);
  if (automation != NULL && spec.display == NULL)
    spec.display = khadim_json_get_string (khadim_automation_get_document (automation),
                                           "display", NULL);
  run->is_private = g_strcmp0 (spec.display, "private") == 0;
  if (automation == NULL || !check_from (options, automation, error) ||
      !check_cwd (options, error))
    return NULL;
  inputs = read_inputs (options, automation, error);
  if (inputs == NULL)
    return NULL;
  spec.inputs = inputs;

  return khadim_session_new (run->engine, automation, &spec);
}

static KhadimSession *
open_session (Run         *run,
              const char  *id,
              GError     **error)
{
  g_autoptr(KhadimSessionRecord) record = khadim_store_get_session (run->store, id, error);
  const char *display;

  if (record == NULL)
    return NULL;
  display = khadim_json_get_string (json_node_get_object (record->options), "display", NULL);
  run->is_private = g_strcmp0 (display, "private") == 0;

  return khadim_session_open (run->engine, id, error);
}

/* Running ------------------------------------------------------------------ */

static int
get_exit_code (KhadimOutcome outcome)
{
  switch (outcome)
    {
    case KHADIM_OUTCOME_COMPLETED:
      return KHADIM_EXIT_DONE;
    case KHADIM_OUTCOME_INTERRUPTED:
      return KHADIM_EXIT_INTERRUPTED;
    case KHADIM_OUTCOME_PARKED:
      return KHADIM_EXIT_QUESTION;
    case KHADIM_OUTCOME_BUDGET:
      return KHADIM_EXIT_BUDGET;
    case KHADIM_OUTCOME_FAILED:
    default:
      return KHADIM_EXIT_FAILED;
    }
}

static void
on_event_cb (KhadimEvent *event,
             gpointer     user_data)
{
  Run *run = user_data;
  g_autofree char *line = NULL;

  if (!run->options->json)
    {
      khadim_progress_show (event);
      return;
    }
  line = khadim_event_to_line (event);
  g_print ("%s\n", line);
}

static gboolean
on_quit_cb (gpointer user_data)
{
  Run *run = user_data;

  g_main_loop_quit (run->loop);

  return G_SOURCE_REMOVE;
}

static void
on_session_run_cb (GObject      *object,
                   GAsyncResult *result,
                   gpointer      user_data)
{
  Run *run = user_data;
  g_autoptr(GError) error = NULL;
  KhadimOutcome outcome;

  if (khadim_session_run_finish (run->session, result, &outcome, &error))
    run->exit_code = get_exit_code (outcome);
  else
    {
      khadim_cli_error ("the run could not be written down: %s", error->message);
      run->exit_code = KHADIM_EXIT_FAILED;
    }
  /* The last events were posted before this: they are shown first. */
  g_idle_add (on_quit_cb, run);
}

/* The first signal stops the run in order, a second one ends the program. */
static gboolean
on_signal_cb (gpointer user_data)
{
  Run *run = user_data;

  if (run->n_signals++ > 0)
    _exit (KHADIM_EXIT_INTERRUPTED);
  khadim_session_stop (run->session);

  return G_SOURCE_CONTINUE;
}

static void
remember_automation (Run        *run,
                     const char *session_id)
{
  g_autoptr(KhadimSessionRecord) session = NULL;
  g_autoptr(KhadimStoreBatch) batch = khadim_store_batch_new ();
  g_autoptr(KhadimAutomationRecord) record = khadim_automation_record_new ();
  g_autoptr(GError) error = NULL;

  session = khadim_store_get_session (run->store, session_id, &error);
  if (session != NULL)
    {
      record->name = g_strdup (session->automation);
      if (g_str_has_suffix (record->name, KHADIM_AUTOMATION_SUFFIX))
        record->name[strlen (record->name) - strlen (KHADIM_AUTOMATION_SUFFIX)] = '\0';
      record->title = g_strdup (session->title);
      record->folder = g_strdup (session->assets_dir);
      record->updated_us = khadim_time_now_us ();
      record->last_run_us = session->created_us;
      record->last_outcome = g_strdup (session->outcome);
      khadim_store_batch_put_automation (batch, record);
    }
  if (session == NULL || !khadim_store_commit_sync (run->store, g_steal_pointer (&batch),
                                                    KHADIM_DURABILITY_PROCESS, &error))
    khadim_cli_error ("the list of automations: %s", error->message);
}

/* A report of a run that failed matters most: it is written whatever the end. */
static void
write_report (Run        *run,
              const char *session_id)
{
  g_autofree char *path = NULL;
  g_autoptr(GError) error = NULL;

  if (run->options->report == NULL)
    return;
  if (!khadim_report_write (run->store, session_id, run->options->report, &path, &error))
    {
      khadim_cli_error ("the report: %s", error->message);
      run->exit_code = MAX (run->exit_code, KHADIM_EXIT_FAILED);
    }
  else if (!run->options->json)
    g_print ("report: %s\n", path);
}

/* Runs the session until it ends or is parked. */
static void
play_once (Run    *run,
           gint64  since_seq)
{
  guint on_int, on_term;

  run->loop = g_main_loop_new (NULL, FALSE);
  khadim_session_subscribe (run->session, KHADIM_CHANNEL_ALL, since_seq, on_event_cb, run, NULL);
  on_int = g_unix_signal_add (SIGINT, on_signal_cb, run);
  on_term = g_unix_signal_add (SIGTERM, on_signal_cb, run);
  khadim_session_run_async (run->session, NULL, on_session_run_cb, run);
  g_main_loop_run (run->loop);
  g_source_remove (on_int);
  g_source_remove (on_term);
  g_clear_pointer (&run->loop, g_main_loop_unref);
}

/* Whether a person sits there who can be asked. */
static gboolean
can_ask (Run *run)
{
  return !run->options->json && isatty (STDIN_FILENO) && isatty (STDOUT_FILENO);
}

/* Takes the session up again, which has got its answers. */
static gboolean
reopen (Run     *run,
        GError **error)
{
  g_autofree char *id = g_strdup (khadim_session_get_id (run->session));

  g_clear_object (&run->session);
  run->session = khadim_session_open (run->engine, id, error);

  return run->session != NULL;
}

/* The run waits for answers: asks for them at a terminal, else says how they
 * are given. Returns whether it is to go on. */
static gboolean
settle_questions (Run     *run,
                  GError **error)
{
  const char *id = khadim_session_get_id (run->session);
  g_autoptr(GPtrArray) questions = khadim_questions_list (run->store, id, error);

  if (questions == NULL)
    return FALSE;
  if (can_ask (run) && khadim_questions_ask (run->store, questions, error))
    return TRUE;
  if (!run->options->json)
    khadim_questions_print (questions, id);

  return FALSE;
}

static void
play (Run *run)
{
  g_autofree char *id = g_strdup (khadim_session_get_id (run->session));
  g_autoptr(GError) error = NULL;
  gint64 seq = 0;

  /* A resume goes on where the stream was. */
  if (run->options->resume != NULL)
    seq = MAX (khadim_store_get_last_seq (run->store, id, NULL), 0);
  play_once (run, seq);
  while (run->exit_code == KHADIM_EXIT_QUESTION && settle_questions (run, &error))
    {
      seq = khadim_store_get_last_seq (run->store, id, &error);
      if (seq < 0 || !reopen (run, &error))
        break;
      play_once (run, seq);
    }
  if (error != NULL)
    {
      khadim_cli_error ("%s", error->message);
      run->exit_code = KHADIM_EXIT_FAILED;
    }
  remember_automation (run, id);
  write_report (run, id);
}

/* A resume finds the display by its session. */
static void
note_display (Run *run)
{
  g_autoptr(GError) error = NULL;

  if (khadim_private_run_get_display () != NULL &&
      !khadim_private_display_note_session (khadim_private_run_get_display (),
                                            khadim_session_get_id (run->session), &error))
    khadim_cli_error ("%s", error->message);
}

/* @out_again: whether the run is to start again, on a private display. */
static int
run_with_options (Options    *options,
                  const char *name,
                  gboolean   *out_again)
{
  g_auto(Run) run = { .options = options };
  g_autoptr(GError) error = NULL;

  run.store = khadim_cli_open_store ();
  if (run.store == NULL)
    return KHADIM_EXIT_FAILED;
  run.engine = khadim_cli_new_engine (run.store);
  if (options->resume != NULL)
    run.session = open_session (&run, options->resume, &error);
  else
    run.session = new_session (&run, name, &error);
  if (run.session == NULL)
    {
      if (error != NULL)
        khadim_cli_error ("%s", error->message);
      return KHADIM_EXIT_USAGE;
    }
  *out_again = run.is_private && khadim_private_run_get_display () == NULL;
  if (*out_again)
    return KHADIM_EXIT_FAILED;
  note_display (&run);
  play (&run);

  return run.exit_code;
}

int
khadim_command_run (int    argc,
                    char **argv)
{
  g_auto(Options) options = { 0 };
  g_auto(GStrv) arguments = g_strdupv (argv);
  gboolean again = FALSE;
  int exit_code;

  if (!parse_options (&options, &argc, &argv))
    return KHADIM_EXIT_USAGE;

  exit_code = run_with_options (&options, argc > 1 ? argv[1] : NULL, &again);

  return again ? khadim_private_run_again (options.resume, (const char *const *) arguments)
               : exit_code;
}
