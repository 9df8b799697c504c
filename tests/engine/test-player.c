/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include <glib/gstdio.h>
#include <string.h>

#include "engine/json/khadim-json.h"
#include "tests/engine/player-harness.h"

/* What the run's own file says it did: the judge of every test here. */
static void
assert_log (Fixture    *fixture,
            const char *expected)
{
  g_autofree char *log = fixture_read_log (fixture);

  g_assert_cmpstr (log, ==, expected);
}

static void
test_tool (Fixture       *fixture,
           gconstpointer  data)
{
  g_assert_cmpint (fixture_play (fixture,
                                 "{'id':'a','tool':'test.log','args':{'text':'one'},'save':'x'},"
                                 "{'id':'b','tool':'test.log','args':{'text':'{{ x.text }} two'}}"),
                   ==, KHADIM_OUTCOME_COMPLETED);
  assert_log (fixture, "one\none two\n");
}

static void
test_if (Fixture       *fixture,
         gconstpointer  data)
{
  fixture_play (fixture,
                "{'id':'s','script':'n = 3'},"
                "{'id':'i','if':'n > 2','then':[{'id':'t','tool':'test.log','args':{'text':'big'}}],"
                " 'else':[{'id':'e','tool':'test.log','args':{'text':'small'}}]},"
                "{'id':'j','if':'n > 5','then':[{'id':'t2','tool':'test.log','args':{'text':'B'}}],"
                " 'else':[{'id':'e2','tool':'test.log','args':{'text':'S'}}]}");
  assert_log (fixture, "big\nS\n");
}

static void
test_loops (Fixture       *fixture,
            gconstpointer  data)
{
  g_assert_cmpint (
    fixture_play (
      fixture,
      "{'id':'f','for_each':['a','b'],'as':'x','steps':["
      "  {'id':'l','tool':'test.log','args':{'text':'{{ x }}'}}]},"
      "{'id':'r','repeat':2,'as':'n','steps':["
      "  {'id':'l2','tool':'test.log','args':{'text':'{{ n }}'}}]},"
      "{'id':'s','script':'k = 0'},"
      "{'id':'w','while':'k < 2','steps':[{'id':'u','script':'k = k + 1'},"
      "  {'id':'l3','tool':'test.log','args':{'text':'k{{ k }}'}}]}"),
    ==, KHADIM_OUTCOME_COMPLETED);
  assert_log (fixture, "a\nb\n1\n2\nk1\nk2\n");
}

static void
test_loop_bound (Fixture       *fixture,
                 gconstpointer  data)
{
  g_assert_cmpint (fixture_play (fixture,
                                 "{'id':'w','while':'true','max':5,'steps':["
                                 "  {'id':'l','tool':'test.log','args':{'text':'x'}}]}"),
                   ==, KHADIM_OUTCOME_FAILED);
  g_assert_cmpstr (fixture->code, ==, "limit");
  assert_log (fixture, "x\nx\nx\nx\nx\n");
}

static void
test_item_error (Fixture       *fixture,
                 gconstpointer  data)
{
  g_assert_cmpint (
    fixture_play (fixture,
                  "{'id':'f','for_each':['a','bad','c'],'as':'x','key':'x','on_item_error':'skip',"
                  " 'steps':[{'id':'i','if':'x == [[bad]]','then':[{'id':'no','fail':'wrong'}]},"
                  "  {'id':'l','tool':'test.log','args':{'text':'{{ x }}'}}]}"),
    ==, KHADIM_OUTCOME_COMPLETED);
  assert_log (fixture, "a\nc\n");
  g_assert_cmpint (fixture_count_events (fixture, "system_message"), ==, 1);
}

static void
test_try (Fixture       *fixture,
          gconstpointer  data)
{
  g_assert_cmpint (
    fixture_play (
      fixture,
      "{'id':'t','try':[{'id':'x','tool':'test.fail','args':{'code':'not-found'}}],"
      " 'catch':{'timeout':[{'id':'c1','tool':'test.log','args':{'text':'wrong'}}],"
      "  'not-found':[{'id':'c2','tool':'test.log','args':{'text':'{{ error.code }} {{ error.step }}'}}]},"
      " 'finally':[{'id':'f','tool':'test.log','args':{'text':'end'}}]}"),
    ==, KHADIM_OUTCOME_COMPLETED);
  assert_log (fixture, "not-found x\nend\n");
}

static void
test_try_uncaught (Fixture       *fixture,
                   gconstpointer  data)
{
  g_assert_cmpint (
    fixture_play (fixture,
                  "{'id':'t','try':[{'id':'x','tool':'test.fail','args':{'code':'app-hung'}}],"
                  " 'catch':{'timeout':[{'id':'c1','tool':'test.log','args':{'text':'wrong'}}]},"
                  " 'finally':[{'id':'f','tool':'test.log','args':{'text':'end'}}]}"),
    ==, KHADIM_OUTCOME_FAILED);
  g_assert_cmpstr (fixture->code, ==, "app-hung");
  assert_log (fixture, "end\n");
}

/* Every code that documents can list reaches its `catch`, and no other. */
static void
test_codes (Fixture       *fixture,
            gconstpointer  data)
{
  static const char *const codes[] = {
    "not-found", "ambiguous", "timeout", "focus-lost", "app-ended", "app-hung", "denied",
    "secret-missing", "check-failed", "business", "limit", "tool", "display-lost", "sealed",
  };
  g_autoptr(GString) steps = g_string_new (NULL);
  g_autoptr(GString) expected = g_string_new (NULL);

  for (gsize i = 0; i < G_N_ELEMENTS (codes); i++)
    {
      g_string_append_printf (
        steps,
        "%s{'id':'t%zu','try':[{'id':'x%zu','tool':'test.fail','args':{'code':'%s'}}],"
        " 'catch':{'%s':[{'id':'c%zu','tool':'test.log','args':{'text':'%s'}}],"
        "  '*':[{'id':'o%zu','tool':'test.log','args':{'text':'other'}}]}}",
        i > 0 ? "," : "", i, i, codes[i], codes[i], i, codes[i], i);
      g_string_append_printf (expected, "%s\n", codes[i]);
    }
  g_assert_cmpint (fixture_play (fixture, steps->str), ==, KHADIM_OUTCOME_COMPLETED);
  assert_log (fixture, expected->str);
}

static void
test_retry (Fixture       *fixture,
            gconstpointer  data)
{
  g_assert_cmpint (
    fixture_play (fixture,
                  "{'id':'x','tool':'test.fail','args':{'code':'tool','times':2,'text':'try'},"
                  " 'retry':{'times':3,'delay':'1ms','growth':2}}"),
    ==, KHADIM_OUTCOME_COMPLETED);
  assert_log (fixture, "try\ntry\ntry\n");
  g_assert_cmpint (fixture_count_events (fixture, "retry"), ==, 2);
}

/* The item is wrong, not the machine: trying again would not help. */
static void
test_retry_business (Fixture       *fixture,
                     gconstpointer  data)
{
  g_assert_cmpint (fixture_play (fixture,
                                 "{'id':'x','tool':'test.fail',"
                                 " 'args':{'code':'business','times':2,'text':'try'},"
                                 " 'retry':{'times':3}}"),
                   ==, KHADIM_OUTCOME_FAILED);
  assert_log (fixture, "try\n");
}

static void
test_on_error_continue (Fixture       *fixture,
                        gconstpointer  data)
{
  g_assert_cmpint (
    fixture_play (fixture,
                  "{'id':'x','tool':'test.fail','args':{'code':'tool'},'on_error':'continue'},"
                  "{'id':'l','tool':'test.log','args':{'text':'on'}}"),
    ==, KHADIM_OUTCOME_COMPLETED);
  assert_log (fixture, "on\n");
}

static void
test_timeout (Fixture       *fixture,
              gconstpointer  data)
{
  g_assert_cmpint (fixture_play (fixture,
                                 "{'id':'w','tool':'wait','args':{'seconds':60},'timeout':'30ms'}"),
                   ==, KHADIM_OUTCOME_FAILED);
  g_assert_cmpstr (fixture->code, ==, "timeout");
}

/* The time of an outer step runs out: nothing inside can catch it, the outer
 * step's own `try` outside can. */
static void
test_timeout_outer (Fixture       *fixture,
                    gconstpointer  data)
{
  g_assert_cmpint (
    fixture_play (
      fixture,
      "{'id':'o','try':[{'id':'r','repeat':1,'timeout':'30ms','steps':["
      "  {'id':'i','try':[{'id':'w','tool':'wait','args':{'seconds':60}}],"
      "   'catch':{'*':[{'id':'c1','tool':'test.log','args':{'text':'inside'}}]}}]}],"
      " 'catch':{'timeout':[{'id':'c2','tool':'test.log','args':{'text':'outside'}}]}}"),
    ==, KHADIM_OUTCOME_COMPLETED);
  assert_log (fixture, "outside\n");
}

/* A loop without calls has its time too. */
static void
test_timeout_script (Fixture       *fixture,
                     gconstpointer  data)
{
  g_assert_cmpint (fixture_play (fixture,
                                 "{'id':'s','script':'k = 0'},"
                                 "{'id':'w','while':'true','max':1000000,'timeout':'50ms',"
                                 " 'steps':[{'id':'u','script':'k = k + 1'}]}"),
                   ==, KHADIM_OUTCOME_FAILED);
  g_assert_cmpstr (fixture->code, ==, "timeout");
}

static void
test_wait_for (Fixture       *fixture,
               gconstpointer  data)
{
  g_assert_cmpint (
    fixture_play (fixture,
                  "{'id':'w','wait_for':'n.count >= 3','every':'1ms','steps':["
                  "  {'id':'l','tool':'test.log','args':{'text':'look'},'save':'n'}]}"),
    ==, KHADIM_OUTCOME_COMPLETED);
  assert_log (fixture, "look\nlook\nlook\n");
}

static void
test_wait_for_file (Fixture       *fixture,
                    gconstpointer  data)
{
  g_assert_cmpint (fixture_play (fixture,
                                 "{'id':'l','tool':'test.log','args':{'text':'x'}},"
                                 "{'id':'w','wait_for':{'file':'log.txt'},'timeout':'5s'},"
                                 "{'id':'g','try':[{'id':'w2','wait_for':{'file':'absent.txt'},"
                                 "  'timeout':'50ms'}],"
                                 " 'catch':{'timeout':[{'id':'l2','tool':'test.log',"
                                 "  'args':{'text':'y'}}]}}"),
                   ==, KHADIM_OUTCOME_COMPLETED);
  assert_log (fixture, "x\ny\n");
}

static void
test_check (Fixture       *fixture,
            gconstpointer  data)
{
  g_assert_cmpint (fixture_play (fixture,
                                 "{'id':'l','tool':'test.log','args':{'text':'x'}},"
                                 "{'id':'c1','check':'1 + 1 == 2'},"
                                 "{'id':'c2','check':{'file':'log.txt','text':'x\\n'}},"
                                 "{'id':'c3','check':{'file':'absent','exists':false}},"
                                 "{'id':'c4','check':{'file':'log.txt','same_as':'log.txt'}}"),
                   ==, KHADIM_OUTCOME_COMPLETED);
}

static void
test_check_failed (Fixture       *fixture,
                   gconstpointer  data)
{
  static const char *const checks[] = {
    "{'id':'c','check':'1 == 2','message':'sums'}",
    "{'id':'l','tool':'test.log','args':{'text':'x'}},"
    "{'id':'c','check':{'file':'log.txt','text':'y'},'message':'sums'}",
    "{'id':'c','check':{'file':'absent'},'message':'sums'}",
    "{'id':'c','check':{'file':'absent','contains':'y'},'message':'sums'}",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (checks); i++)
    {
      g_assert_cmpint (fixture_play (fixture, checks[i]), ==, KHADIM_OUTCOME_FAILED);
      g_assert_cmpstr (fixture->code, ==, "check-failed");
      g_assert_true (g_str_has_prefix (fixture->message, "sums: "));
    }
}

static void
test_fail (Fixture       *fixture,
           gconstpointer  data)
{
  g_assert_cmpint (fixture_play (fixture, "{'id':'f','fail':'no such customer {{ 40 + 2 }}'}"), ==,
                   KHADIM_OUTCOME_FAILED);
  g_assert_cmpstr (fixture->code, ==, "business");
  g_assert_cmpstr (fixture->message, ==, "no such customer 42");
}

static void
test_agent (Fixture       *fixture,
            gconstpointer  data)
{
  g_assert_cmpint (fixture_play (fixture, "{'id':'a','agent':'do it'}"), ==,
                   KHADIM_OUTCOME_FAILED);
  g_assert_nonnull (strstr (fixture->message, "needs a model"));
}

static void
test_enabled (Fixture       *fixture,
              gconstpointer  data)
{
  fixture_play (fixture,
                "{'id':'a','enabled':false,'tool':'test.log','args':{'text':'a'}},"
                "{'id':'b','enabled':'1 == 1','tool':'test.log','args':{'text':'b'}},"
                "{'id':'c','enabled':'1 == 2','tool':'test.log','args':{'text':'c'}}");
  assert_log (fixture, "b\n");
}

static void
test_from (Fixture       *fixture,
           gconstpointer  data)
{
  fixture->from = "b";
  fixture_play (fixture,
                "{'id':'a','tool':'test.log','args':{'text':'a'}},"
                "{'id':'b','tool':'test.log','args':{'text':'b'}}");
  assert_log (fixture, "b\n");
}

static void
test_dry_run (Fixture       *fixture,
              gconstpointer  data)
{
  fixture->dry_run = TRUE;
  g_assert_cmpint (fixture_play (fixture,
                                 "{'id':'a','tool':'test.log','args':{'text':'a'}},"
                                 "{'id':'w','tool':'files.write','args':{'path':'w','text':'x'}}"),
                   ==, KHADIM_OUTCOME_COMPLETED);
  assert_log (fixture, "");
  g_assert_false (fixture_has_file (fixture, "w"));
}

static void
test_outputs (Fixture       *fixture,
              gconstpointer  data)
{
  g_autofree char *text = NULL;

  fixture->extra = "'outputs':{'n':'6 * 7','list':'{1, 2}'},";
  fixture_play (fixture, "{'id':'s','script':'x = 1'}");
  text = khadim_json_to_string (fixture->output);
  g_assert_cmpstr (text, ==, "{\"n\":42,\"list\":[1,2]}");
}

static void
test_budget (Fixture       *fixture,
             gconstpointer  data)
{
  fixture->extra = "'budget':{'steps':2},";
  g_assert_cmpint (fixture_play (fixture,
                                 "{'id':'r','repeat':5,'steps':["
                                 "  {'id':'l','tool':'test.log','args':{'text':'x'}}]}"),
                   ==, KHADIM_OUTCOME_BUDGET);
  assert_log (fixture, "x\nx\n");
}

static void
test_denied (Fixture       *fixture,
             gconstpointer  data)
{
  fixture->extra = "'permissions':{'deny':['test.l*']},";
  g_assert_cmpint (fixture_play (fixture, "{'id':'l','tool':'test.log','args':{'text':'x'}}"), ==,
                   KHADIM_OUTCOME_FAILED);
  g_assert_cmpstr (fixture->code, ==, "denied");
  assert_log (fixture, "");
}

/* Nobody to ask means denied. */
static void
test_nobody_to_ask (Fixture       *fixture,
                    gconstpointer  data)
{
  fixture->extra = "'permissions':{'mode':'ask'},";
  g_assert_cmpint (fixture_play (fixture, "{'id':'l','tool':'test.log','args':{'text':'x'}}"), ==,
                   KHADIM_OUTCOME_FAILED);
  g_assert_cmpstr (fixture->code, ==, "denied");
  assert_log (fixture, "");
}

static void
test_permission (Fixture       *fixture,
                 gconstpointer  data)
{
  fixture->extra = "'permissions':{'mode':'ask'},";
  khadim_engine_set_can_ask (fixture->engine, TRUE);
  g_assert_cmpint (fixture_play (fixture,
                                 "{'id':'l','tool':'test.log','args':{'text':'x'}},"
                                 "{'id':'m','tool':'test.log','args':{'text':'y'}}"),
                   ==, KHADIM_OUTCOME_PARKED);
  assert_log (fixture, "");
  fixture_answer (fixture, "allow");
  g_assert_cmpint (fixture_resume (fixture), ==, KHADIM_OUTCOME_PARKED);
  assert_log (fixture, "x\n");
  fixture_answer (fixture, "perhaps");
  g_assert_cmpint (fixture_resume (fixture), ==, KHADIM_OUTCOME_PARKED);
  assert_log (fixture, "x\n");
  fixture_answer (fixture, "deny");
  g_assert_cmpint (fixture_resume (fixture), ==, KHADIM_OUTCOME_FAILED);
  g_assert_cmpstr (fixture->code, ==, "denied");
  assert_log (fixture, "x\n");
}

static void
test_ask (Fixture       *fixture,
          gconstpointer  data)
{
  khadim_engine_set_can_ask (fixture->engine, TRUE);
  g_assert_cmpint (
    fixture_play (fixture,
                  "{'id':'b','tool':'test.log','args':{'text':'before'}},"
                  "{'id':'q','ask':{'question':'Which?','kind':'choice','options':['red','blue']},"
                  " 'save':'c'},"
                  "{'id':'l','tool':'test.log','args':{'text':'{{ c }}'}}"),
    ==, KHADIM_OUTCOME_PARKED);
  fixture_answer (fixture, "blue");
  g_assert_cmpint (fixture_resume (fixture), ==, KHADIM_OUTCOME_COMPLETED);
  assert_log (fixture, "before\nblue\n");
}

static void
test_on_error_ask (Fixture       *fixture,
                   gconstpointer  data)
{
  khadim_engine_set_can_ask (fixture->engine, TRUE);
  g_assert_cmpint (
    fixture_play (fixture,
                  "{'id':'x','tool':'test.fail','args':{'code':'tool','times':1,'text':'try'},"
                  " 'on_error':'ask'},"
                  "{'id':'l','tool':'test.log','args':{'text':'on'}}"),
    ==, KHADIM_OUTCOME_PARKED);
  fixture_answer (fixture, "retry");
  g_assert_cmpint (fixture_resume (fixture), ==, KHADIM_OUTCOME_COMPLETED);
  assert_log (fixture, "try\ntry\non\n");
}

static void
test_stop (Fixture       *fixture,
           gconstpointer  data)
{
  fixture->stop_at = "step_start";
  g_assert_cmpint (fixture_play (fixture,
                                 "{'id':'w','tool':'wait','args':{'seconds':600}},"
                                 "{'id':'l','tool':'test.log','args':{'text':'x'}}"),
                   ==, KHADIM_OUTCOME_INTERRUPTED);
  assert_log (fixture, "");
}

/* A stop during a retry's delay is not waited for. */
static void
test_stop_delay (Fixture       *fixture,
                 gconstpointer  data)
{
  fixture->stop_at = "step_complete";
  g_assert_cmpint (fixture_play (fixture,
                                 "{'id':'x','tool':'test.fail','args':{'code':'tool'},"
                                 " 'retry':{'times':1,'delay':'1h'}}"),
                   ==, KHADIM_OUTCOME_INTERRUPTED);
}

static void
test_secret (Fixture       *fixture,
             gconstpointer  data)
{
  g_autofree char *log = NULL;

  fixture_store_secret (fixture, "mail/password", "correct horse battery");
  g_assert_cmpint (
    fixture_play (fixture,
                  "{'id':'l','tool':'test.use_secret','save':'r',"
                  " 'args':{'value':{'secret':'mail/password','format':'Bearer %s'}}},"
                  "{'id':'m','tool':'test.log','args':{'text':'{{ r.echo }}'}}"),
    ==, KHADIM_OUTCOME_COMPLETED);
  log = fixture_read_log (fixture);
  g_assert_true (g_str_has_prefix (log, "Bearer correct horse battery\n"));
  g_assert_null (strstr (strchr (log, '\n'), "horse"));
  g_assert_false (fixture_store_contains (fixture, "correct horse battery"));
}

static void
test_secret_missing (Fixture       *fixture,
                     gconstpointer  data)
{
  g_assert_cmpint (fixture_play (fixture, "{'id':'l','tool':'test.use_secret',"
                                          " 'args':{'value':{'secret':'mail/none'}}}"),
                   ==, KHADIM_OUTCOME_FAILED);
  g_assert_cmpstr (fixture->code, ==, "secret-missing");
  assert_log (fixture, "");
}

/* The control: the same text, not known as a secret, is found in the store. */
static void
test_secret_control (Fixture       *fixture,
                     gconstpointer  data)
{
  fixture_play (fixture, "{'id':'l','tool':'test.log','args':{'text':'correct horse battery'}}");
  g_assert_true (fixture_store_contains (fixture, "correct horse battery"));
}

/* The stream: numbered without gaps, one end, stored before it is shown. */
static void
test_events (Fixture       *fixture,
             gconstpointer  data)
{
  gint64 seq = 0;
  guint n_ends = 0;

  fixture_play (fixture, "{'id':'a','tool':'test.log','args':{'text':'a'}},"
                         "{'id':'b','tool':'test.log','args':{'text':'b'}}");
  for (guint i = 0; i < fixture->events->len; i++)
    {
      KhadimEvent *event = fixture->events->pdata[i];
      const char *type = khadim_event_get_event_type (event);

      g_assert_cmpint (khadim_event_get_seq (event), ==, ++seq);
      n_ends += strcmp (type, "done") == 0 || strcmp (type, "error") == 0;
    }
  g_assert_cmpint (n_ends, ==, 1);
  g_assert_cmpint (seq, ==,
                   khadim_store_get_last_seq (fixture->store, fixture->session_id, NULL));
}

#define add(name, func) \
  g_test_add ("/engine/player/" name, Fixture, NULL, fixture_set_up, func, fixture_tear_down)

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);

  add ("tool", test_tool);
  add ("if", test_if);
  add ("loops", test_loops);
  add ("loop-bound", test_loop_bound);
  add ("item-error", test_item_error);
  add ("try", test_try);
  add ("try-uncaught", test_try_uncaught);
  add ("codes", test_codes);
  add ("retry", test_retry);
  add ("retry-business", test_retry_business);
  add ("on-error-continue", test_on_error_continue);
  add ("timeout", test_timeout);
  add ("timeout-outer", test_timeout_outer);
  add ("timeout-script", test_timeout_script);
  add ("wait-for", test_wait_for);
  add ("wait-for-file", test_wait_for_file);
  add ("check", test_check);
  add ("check-failed", test_check_failed);
  add ("fail", test_fail);
  add ("agent", test_agent);
  add ("enabled", test_enabled);
  add ("from", test_from);
  add ("dry-run", test_dry_run);
  add ("outputs", test_outputs);
  add ("budget", test_budget);
  add ("denied", test_denied);
  add ("nobody-to-ask", test_nobody_to_ask);
  add ("permission", test_permission);
  add ("ask", test_ask);
  add ("on-error-ask", test_on_error_ask);
  add ("stop", test_stop);
  add ("stop-delay", test_stop_delay);
  add ("secret", test_secret);
  add ("secret-missing", test_secret_missing);
  add ("secret-control", test_secret_control);
  add ("events", test_events);

  return g_test_run ();
}
