/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "test-redactor"

#include "config.h"

#include "engine/vault/khadim-redactor.h"

#include <string.h>

#include "engine/json/khadim-json.h"

#define VALUE "p/ä\"ss <&'w>\\ 9🙂+\n"

typedef struct {
  KhadimRedactor *redactor;
} Fixture;

static void
setup (Fixture      *fixture,
       gconstpointer data)
{
  fixture->redactor = khadim_redactor_new ();
}

static void
teardown (Fixture      *fixture,
          gconstpointer data)
{
  g_assert_finalize_object (fixture->redactor);
}

static void
assert_hidden (KhadimRedactor *redactor,
               const char     *text,
               const char     *expected)
{
  g_autofree char *result = khadim_redactor_apply (redactor, text, -1);

  g_assert_cmpstr (result, ==, expected);
}

static void
test_raw (Fixture      *fixture,
          gconstpointer data)
{
  assert_hidden (fixture->redactor, "nothing is known: hunter2", NULL);
  khadim_redactor_add (fixture->redactor, "web/password", "hunter2");
  assert_hidden (fixture->redactor, "nothing here: hunter", NULL);
  assert_hidden (fixture->redactor, "", NULL);
  assert_hidden (fixture->redactor, "hunter2", "‹secret web/password›");
  assert_hidden (fixture->redactor, "ahunter2hunter2b",
                 "a‹secret web/password›‹secret web/password›b");

  khadim_redactor_add (fixture->redactor, "later\"<", "s3cret-long-value");
  assert_hidden (fixture->redactor, "hunter2 s3cret-long-value s3cret-long-valu",
                 "‹secret web/password› ‹secret later__› s3cret-long-valu");
  khadim_redactor_add (fixture->redactor, "second name", "hunter2");
  assert_hidden (fixture->redactor, "hunter2", "‹secret web/password›");
  khadim_redactor_add (fixture->redactor, "empty", "");
  assert_hidden (fixture->redactor, "plain", NULL);
}

static void
test_short (Fixture      *fixture,
            gconstpointer data)
{
  khadim_redactor_add (fixture->redactor, "pin", "123");
  assert_hidden (fixture->redactor, "123", "‹secret pin›");
  assert_hidden (fixture->redactor, "pin=123, 1234, x123, ä123, (123)",
                 "pin=‹secret pin›, 1234, x123, ä123, (‹secret pin›)");
  assert_hidden (fixture->redactor, "313233", NULL);
}

static void
test_overlap (Fixture      *fixture,
              gconstpointer data)
{
  khadim_redactor_add (fixture->redactor, "left", "abcdef");
  khadim_redactor_add (fixture->redactor, "right", "defghi");
  khadim_redactor_add (fixture->redactor, "longer", "abcdefg");
  assert_hidden (fixture->redactor, "-abcdefghi-", "-‹secret longer›-");
  assert_hidden (fixture->redactor, "-abcdef-defghi-", "-‹secret left›-‹secret right›-");
}

/* Whether @form, put into some text, is hidden as a whole. */
static void
assert_form_hidden (KhadimRedactor *redactor,
                    const char     *form)
{
  g_autofree char *text = g_strconcat ("{“", form, "”}", NULL);

  assert_hidden (redactor, text, "{“‹secret x›”}");
}

static void
test_forms (Fixture      *fixture,
            gconstpointer data)
{
  g_autoptr(JsonNode) node = khadim_json_string (VALUE);
  g_autofree char *json = khadim_json_to_string (node);
  g_autofree char *json_inner = g_strndup (json + 1, strlen (json) - 2);
  g_autofree char *uri = g_uri_escape_string (VALUE, NULL, FALSE);
  g_autofree char *uri_lower = g_ascii_strdown (uri, -1);
  g_autofree char *html = g_markup_escape_text (VALUE, -1);
  GString *hex = g_string_new (NULL);
  g_autofree char *upper = NULL;

  khadim_redactor_add (fixture->redactor, "x", VALUE);
  for (const char *c = VALUE; *c != '\0'; c++)
    g_string_append_printf (hex, "%02x", (guint8) *c);
  upper = g_ascii_strup (hex->str, -1);

  assert_form_hidden (fixture->redactor, VALUE);
  assert_form_hidden (fixture->redactor, json_inner);
  assert_form_hidden (fixture->redactor, uri);
  assert_form_hidden (fixture->redactor, uri_lower);
  assert_form_hidden (fixture->redactor, html);
  assert_form_hidden (fixture->redactor, hex->str);
  assert_form_hidden (fixture->redactor, upper);
  /* By hand, after RFC 8259 and the documents of PHP, Python and Go */
  assert_form_hidden (fixture->redactor,
                      "p\\/\\u00e4\\\"ss <&'w>\\\\ 9\\ud83d\\ude42+\\n");
  assert_form_hidden (fixture->redactor,
                      "p/\\u00E4\\\"ss \\u003C\\u0026\\u0027w\\u003E\\\\ 9\\uD83D\\uDE42+\\n");
  assert_form_hidden (fixture->redactor, "p%2F%C3%A4%22ss+%3C%26%27w%3E%5C+9%F0%9F%99%82%2B%0A");
  assert_form_hidden (fixture->redactor, "p/ä&quot;ss &lt;&amp;&#x27;w&gt;\\ 9🙂+\n");
  g_string_free (hex, TRUE);
}

typedef char *(*Encoder) (const char *text);

static char *
encode_json (const char *text)
{
  g_autoptr(JsonNode) node = khadim_json_string (text);
  g_autofree char *json = khadim_json_to_string (node);

  return g_strndup (json + 1, strlen (json) - 2);
}

static char *
encode_uri (const char *text)
{
  return g_uri_escape_string (text, NULL, FALSE);
}

static char *
encode_html (const char *text)
{
  return g_markup_escape_text (text, -1);
}

static char *
encode_hex (const char *text)
{
  GString *hex = g_string_new (NULL);

  for (; *text != '\0'; text++)
    g_string_append_printf (hex, "%02X", (guint8) *text);

  return g_string_free (hex, FALSE);
}

static char *
random_value (GRand *rand)
{
  GString *value = g_string_new (NULL);

  do
    {
      gunichar c = (gunichar) g_rand_int_range (rand, 1, g_rand_boolean (rand) ? 0x80 : 0x11000);

      if (g_unichar_validate (c) && !g_unichar_iscntrl (c))
        g_string_append_unichar (value, c);
    }
  while (value->len < 6 || g_rand_int_range (rand, 0, 12) > 0);

  return g_string_free (value, FALSE);
}

/* Random values of all characters, written by encoders that are not ours. */
static void
test_random_forms (void)
{
  static const Encoder encoders[] = { encode_json, encode_uri, encode_html, encode_hex, g_strdup };
  g_autoptr(GRand) rand = g_rand_new_with_seed (11);

  for (guint i = 0; i < 500; i++)
    {
      g_autoptr(KhadimRedactor) redactor = khadim_redactor_new ();
      g_autofree char *value = random_value (rand);

      khadim_redactor_add (redactor, "x", value);
      for (guint j = 0; j < G_N_ELEMENTS (encoders); j++)
        {
          g_autofree char *form = encoders[j] (value);
          g_autofree char *text = g_strconcat ("[", form, "]", NULL);

          g_test_message ("%s", text);
          assert_hidden (redactor, text, "[‹secret x›]");
        }
    }
}

/* In base64 what is beside the value stays, up to two bytes on either side
 * here, with the padding and the one digit that mixes bits of both. */
static void
test_base64 (Fixture      *fixture,
             gconstpointer data)
{
  khadim_redactor_add (fixture->redactor, "x", VALUE);

  for (guint before = 0; before < 3; before++)
    {
      for (guint after = 0; after < 3; after++)
        {
          g_autofree char *text = g_strdup_printf ("%.*s" VALUE "%.*s", before, "AA", after, "BB");
          g_autofree char *encoded = g_base64_encode ((const guint8 *) text, strlen (text));
          g_autofree char *result = khadim_redactor_apply (fixture->redactor, encoded, -1);
          const char *marker;

          g_assert_nonnull (result);
          marker = strstr (result, "‹secret x›");
          g_assert_nonnull (marker);
          g_assert_cmpint (marker - result, <=, 3);
          g_assert_cmpuint (strlen (marker) - strlen ("‹secret x›"), <=, 6);
        }
    }
}

static void
test_utf16 (Fixture      *fixture,
            gconstpointer data)
{
  gsize length;
  g_autofree char *utf16 = g_convert (VALUE, -1, "UTF-16LE", "UTF-8", NULL, &length, NULL);
  g_autoptr(GBytes) bytes = g_bytes_new (utf16, length);
  g_autoptr(GBytes) result = NULL;

  khadim_redactor_add (fixture->redactor, "x", VALUE);
  result = khadim_redactor_apply_bytes (fixture->redactor, bytes);
  g_assert_nonnull (result);
  g_assert_cmpmem (g_bytes_get_data (result, NULL), g_bytes_get_size (result), "‹secret x›",
                   strlen ("‹secret x›"));
}

static void
test_json (Fixture      *fixture,
           gconstpointer data)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) node = khadim_json_parse (
    "{\"a\":[1,null,\"x hunter2\"],\"hunter2\":true,\"‹secret w›\":0}", -1, NULL, &error);
  g_autoptr(JsonNode) result = NULL;
  g_autofree char *text = NULL;
  g_autofree char *before = NULL;

  g_assert_no_error (error);
  khadim_redactor_add (fixture->redactor, "w", "hunter2");
  result = khadim_redactor_apply_json (fixture->redactor, node);
  text = khadim_json_to_string (result);
  g_assert_cmpstr (text, ==,
                   "{\"a\":[1,null,\"x ‹secret w›\"],\"‹secret w›\":true,\"‹secret w› (2)\":0}");
  before = khadim_json_to_string (node);
  g_assert_nonnull (strstr (before, "hunter2"));
}

/* The oracle: every value at every place by comparison, places that overlap
 * joined, named after the first and longest. */
static char *
hide_slowly (GPtrArray  *values,
             const char *text)
{
  gsize length = strlen (text);
  GString *output = g_string_new (NULL);

  for (gsize at = 0; at < length;)
    {
      gsize end = 0;
      guint lead = 0;

      for (gsize start = at; start == at || start < end; start++)
        {
          for (guint i = 0; i < values->len; i++)
            {
              gsize match_end = start + strlen (values->pdata[i]);

              if (!g_str_has_prefix (text + start, values->pdata[i]))
                continue;
              if (start == at && match_end > end)
                lead = i;
              end = MAX (end, match_end);
            }
        }

      if (end > at)
        g_string_append_printf (output, "‹secret %u›", lead);
      else
        g_string_append_c (output, text[at]);
      at = MAX (end, at + 1);
    }

  return g_string_free (output, FALSE);
}

static char *
random_text (GRand *rand,
             guint  min_length,
             guint  max_length)
{
  guint length = (guint) g_rand_int_range (rand, (gint32) min_length, (gint32) max_length + 1);
  char *text = g_malloc0 (length + 1);

  for (guint i = 0; i < length; i++)
    text[i] = "xyz"[g_rand_int_range (rand, 0, g_rand_boolean (rand) ? 2 : 3)];

  return text;
}

static GPtrArray *
add_random_values (KhadimRedactor *redactor,
                   GRand          *rand)
{
  GPtrArray *values = g_ptr_array_new_with_free_func (g_free);
  guint n_values = (guint) g_rand_int_range (rand, 1, 8);

  for (guint i = 0; i < n_values; i++)
    {
      g_autofree char *name = g_strdup_printf ("%u", i);

      g_ptr_array_add (values, random_text (rand, 4, g_rand_boolean (rand) ? 6 : 30));
      khadim_redactor_add (redactor, name, values->pdata[i]);
    }

  return values;
}

/* A text in which values, parts of values and noise lie side by side. */
static char *
make_text (GRand     *rand,
           GPtrArray *values)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < 12; i++)
    {
      g_autofree char *noise = random_text (rand, 0, 10);
      const char *value = values->pdata[g_rand_int_range (rand, 0, (gint32) values->len)];
      gint32 length = (gint32) strlen (value);
      gint32 from = g_rand_boolean (rand) ? 0 : g_rand_int_range (rand, 0, length);
      gint32 n = g_rand_boolean (rand) ? length - from : g_rand_int_range (rand, 0, length - from);

      g_string_append (text, noise);
      g_string_append_len (text, value + from, n);
    }

  return g_string_free (text, FALSE);
}

static char *
feed_in_pieces (KhadimRedactor *redactor,
                GRand          *rand,
                const char     *text)
{
  g_autoptr(KhadimRedactorStream) stream = khadim_redactor_stream_new (redactor);
  gsize length = strlen (text);
  GString *output = g_string_new (NULL);
  g_autoptr(GBytes) rest = NULL;

  for (gsize done = 0; done < length;)
    {
      gsize wanted = (gsize) g_rand_int_range (rand, 0, 12);
      gsize n = MIN (wanted, length - done);
      g_autoptr(GBytes) piece = khadim_redactor_stream_feed (stream, text + done, (gssize) n);

      g_string_append_len (output, g_bytes_get_data (piece, NULL),
                           (gssize) g_bytes_get_size (piece));
      done += n;
    }
  rest = khadim_redactor_stream_finish (stream);
  g_string_append_len (output, g_bytes_get_data (rest, NULL), (gssize) g_bytes_get_size (rest));

  return g_string_free (output, FALSE);
}

static void
test_oracle (void)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (20);
  guint n_changed = 0;

  for (guint round = 0; round < 3000; round++)
    {
      g_autoptr(KhadimRedactor) redactor = khadim_redactor_new ();
      g_autoptr(GPtrArray) values = add_random_values (redactor, rand);
      g_autofree char *text = make_text (rand, values);
      g_autofree char *expected = hide_slowly (values, text);
      g_autofree char *result = khadim_redactor_apply (redactor, text, -1);
      g_autofree char *pieces = feed_in_pieces (redactor, rand, text);

      g_assert_cmpstr (result != NULL ? result : text, ==, expected);
      g_assert_cmpstr (pieces, ==, expected);
      n_changed += result != NULL;
    }
  g_assert_cmpuint (n_changed, >, 2000);
}

static void
assert_piece (GBytes     *piece,
              const char *expected)
{
  g_assert_cmpmem (g_bytes_get_data (piece, NULL), g_bytes_get_size (piece), expected,
                   strlen (expected));
  g_bytes_unref (piece);
}

/* A stream shows at once what cannot be the beginning of a value. */
static void
test_stream (Fixture      *fixture,
             gconstpointer data)
{
  g_autoptr(KhadimRedactorStream) stream = NULL;
  g_autofree char *certificate = g_strnfill (20000, 'c');

  khadim_redactor_add (fixture->redactor, "w", "hunter2hunter2");
  khadim_redactor_add (fixture->redactor, "long", certificate);
  khadim_redactor_add (fixture->redactor, "pin", "42");
  stream = khadim_redactor_stream_new (fixture->redactor);

  assert_piece (khadim_redactor_stream_feed (stream, "The text, ", -1), "The text, ");
  assert_piece (khadim_redactor_stream_feed (stream, "hunter2hun", -1), "");
  assert_piece (khadim_redactor_stream_feed (stream, "d ", -1), "hunter2hund ");
  assert_piece (khadim_redactor_stream_feed (stream, "hunter2", -1), "");
  assert_piece (khadim_redactor_stream_feed (stream, "hunter2!", -1), "‹secret w›!");
  assert_piece (khadim_redactor_stream_feed (stream, "42", -1), "");
  assert_piece (khadim_redactor_stream_feed (stream, "7 42", -1), "427 ");
  assert_piece (khadim_redactor_stream_finish (stream), "‹secret pin›");
  assert_piece (khadim_redactor_stream_feed (stream, "42 hun", -1), "‹secret pin› ");
  assert_piece (khadim_redactor_stream_finish (stream), "hun");
}

/* Without an end: what is held back stays within the length of the value. */
static void
test_stream_bounded (Fixture      *fixture,
                     gconstpointer data)
{
  g_autoptr(KhadimRedactorStream) stream = NULL;
  gsize n_shown = 0;

  khadim_redactor_add (fixture->redactor, "w", "aaaaaaaaaaaa");
  stream = khadim_redactor_stream_new (fixture->redactor);
  for (guint i = 0; i < 10000; i++)
    {
      g_autoptr(GBytes) piece = khadim_redactor_stream_feed (stream, "aaaa", 4);

      n_shown += g_bytes_get_size (piece);
    }
  g_assert_cmpuint (n_shown, ==, strlen ("‹secret w›"));
  assert_piece (khadim_redactor_stream_finish (stream), "");
}

typedef struct {
  KhadimRedactor *redactor;
  guint n_wrong;
} Worker;

static gpointer
work_in_thread (gpointer data)
{
  Worker *worker = data;

  for (guint i = 0; i < 300; i++)
    {
      g_autofree char *result = khadim_redactor_apply (worker->redactor, "say hunter2 now", -1);

      if (g_strcmp0 (result, "say ‹secret w› now") != 0)
        worker->n_wrong++;
    }

  return NULL;
}

/* Values are added while others apply. */
static void
test_threads (Fixture      *fixture,
              gconstpointer data)
{
  Worker worker = { fixture->redactor, 0 };
  GThread *thread;

  khadim_redactor_add (fixture->redactor, "w", "hunter2");
  thread = g_thread_new ("redactor", work_in_thread, &worker);
  for (guint i = 0; i < 100; i++)
    {
      g_autofree char *value = g_strdup_printf ("value-%u-of-many", i);
      g_autofree char *result = NULL;

      khadim_redactor_add (fixture->redactor, "n", value);
      result = khadim_redactor_apply (fixture->redactor, value, -1);
      g_assert_cmpstr (result, ==, "‹secret n›");
    }
  g_thread_join (thread);
  g_assert_cmpuint (worker.n_wrong, ==, 0);
}

#define ADD(name, func) g_test_add ("/engine/redactor/" name, Fixture, NULL, setup, func, teardown)

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  ADD ("raw", test_raw);
  ADD ("short", test_short);
  ADD ("overlap", test_overlap);
  ADD ("forms", test_forms);
  g_test_add_func ("/engine/redactor/random-forms", test_random_forms);
  ADD ("base64", test_base64);
  ADD ("utf16", test_utf16);
  ADD ("json", test_json);
  g_test_add_func ("/engine/redactor/oracle", test_oracle);
  ADD ("stream", test_stream);
  ADD ("stream-bounded", test_stream_bounded);
  ADD ("threads", test_threads);

  return g_test_run ();
}
