/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "test-data"

#include "config.h"

#include "engine/tool/khadim-data-domain.h"

#include "tests/engine/tool-harness.h"

static void
set_up (Harness       *h,
        gconstpointer  data)
{
  harness_init (h, khadim_data_domain_new ());
}

static void
tear_down (Harness       *h,
           gconstpointer  data)
{
  harness_clear (h);
}

static void
test_infos (Harness       *h,
            gconstpointer  data)
{
  harness_check_infos (h);
  harness_refuses (h, "data.read_csv", "{'path':'a','delimiter':'|'}");
  harness_refuses (h, "data.parse_csv", "{'text':'a','columns':['']}");
  harness_refuses (h, "data.write_csv", "{'path':'a','rows':[1]}");
  harness_refuses (h, "data.write_json", "{'path':'a'}");
  harness_refuses (h, "data.text", "{'operation':'dance'}");
  harness_refuses (h, "data.parse_date", "{'text':'2026-01-01'}");
  harness_refuses (h, "data.format_date", "{'time':0.5,'timezone':'UTC'}");
}

/* The value of a call, compared with JSON in which ' stands for ". */
static void
assert_gives (Harness    *h,
              const char *tool,
              const char *args,
              const char *expected)
{
  g_autoptr(JsonNode) value = harness_ok (h, tool, args);
  g_autoptr(JsonNode) wanted = harness_json (expected);

  if (!khadim_json_equal (value, wanted))
    {
      g_autofree char *got = khadim_json_to_string (value);

      g_error ("%s %s gives %s, not %s", tool, args, got, expected);
    }
}

/* One member of it. */
static void
assert_member (Harness    *h,
               const char *tool,
               const char *args,
               const char *member,
               const char *expected)
{
  g_autoptr(JsonNode) value = harness_ok (h, tool, args);
  g_autoptr(JsonNode) wanted = harness_json (expected);
  JsonNode *got = khadim_json_get (json_node_get_object (value), member);

  if (got == NULL || !khadim_json_equal (got, wanted))
    {
      g_autofree char *text = khadim_json_to_string (value);

      g_error ("%s %s gives %s, and “%s” is not %s", tool, args, text, member, expected);
    }
}

static JsonNode *
table_args (const char *text)
{
  JsonObject *args = json_object_new ();

  json_object_set_string_member (args, "text", text);

  return khadim_json_object (args);
}

/* `rows` of a text that is no JSON-safe literal. */
static void
assert_rows (Harness    *h,
             const char *text,
             const char *expected)
{
  g_autoptr(JsonNode) value = harness_ok_node (h, "data.parse_csv", table_args (text));
  g_autoptr(JsonNode) wanted = harness_json (expected);
  JsonNode *rows = khadim_json_get (json_node_get_object (value), "rows");
  g_autofree char *got = khadim_json_to_string (rows);

  if (!khadim_json_equal (rows, wanted))
    g_error ("“%s” gives %s, not %s", text, got, expected);
}

static void
assert_no_table (Harness         *h,
                 const char      *text,
                 KhadimToolError  code,
                 const char      *words)
{
  g_autoptr(KhadimToolResult) result = NULL;

  result = harness_call_node (h, "data.parse_csv", table_args (text));
  g_assert_true (khadim_tool_result_is_failure (result));
  g_assert_cmpint (khadim_tool_result_get_code (result), ==, code);
  if (strstr (khadim_tool_result_get_message (result), words) == NULL)
    g_error ("“%s”: %s", text, khadim_tool_result_get_message (result));
}

/* Reading tables ------------------------------------------------------------ */

static void
test_parse_csv (Harness       *h,
                gconstpointer  data)
{
  /* RFC 4180, section 2, rules 1 to 7 */
  assert_rows (h, "a,b\r\n1,2\r\n", "[{'a':'1','b':'2'}]");
  assert_rows (h, "a,b\n1,2", "[{'a':'1','b':'2'}]");
  assert_rows (h, "a,b\n 1 , 2\n", "[{'a':' 1 ','b':' 2'}]");
  assert_rows (h, "a,b\n\"1\",\"\"\n", "[{'a':'1','b':''}]");
  assert_rows (h, "a,b\n\"x,y\",\"1\n2\"\n", "[{'a':'x,y','b':'1\\n2'}]");
  assert_rows (h, "a\n\"x\"\"y\"\n", "[{'a':'x\\u0022y'}]");
  assert_rows (h, "a,b\n,\n", "[{'a':'','b':''}]");
  assert_rows (h, "a,b\r1,2\r3,4\r", "[{'a':'1','b':'2'},{'a':'3','b':'4'}]");
  assert_rows (h, "\n\na\n\n1\n\n", "[{'a':'1'}]");
  assert_rows (h, "a\n\"\"\n", "[{'a':''}]");
  assert_rows (h, "a,b\n", "[]");
  assert_rows (h, "gr\303\274n\n\342\202\254\n", "[{'gr\303\274n':'\342\202\254'}]");
  /* Cells are texts, whatever they look like. */
  assert_rows (h, "a,b,c\n007,1e5,true\n", "[{'a':'007','b':'1e5','c':'true'}]");
}

static void
test_csv_delimiter (Harness       *h,
                    gconstpointer  data)
{
  assert_rows (h, "a;b\n1,5;2\n", "[{'a':'1,5','b':'2'}]");
  assert_rows (h, "a\tb\n1\t2\n", "[{'a':'1','b':'2'}]");
  assert_rows (h, "\"a;;;\",b\n1,2\n", "[{'a;;;':'1','b':'2'}]");
  assert_member (h, "data.parse_csv", "{'text':'a;b','delimiter':','}", "columns", "['a;b']");
  assert_member (h, "data.parse_csv", "{'text':'a;b'}", "delimiter", "';'");
  assert_member (h, "data.parse_csv", "{'text':'a\\tb','delimiter':'tab'}", "columns",
                 "['a','b']");
}

static void
test_csv_columns (Harness       *h,
                  gconstpointer  data)
{
  assert_gives (h, "data.parse_csv", "{'text':'a,b,c\\n1,2,3\\n','columns':['c','a']}",
                "{'columns':['c','a'],'rows':[{'c':'3','a':'1'}],'count':1,"
                "'truncated':false,'delimiter':','}");
  assert_gives (h, "data.parse_csv", "{'text':'1,2\\n3,4','header':false}",
                "{'columns':['c1','c2'],'rows':[{'c1':'1','c2':'2'},{'c1':'3','c2':'4'}],"
                "'count':2,'truncated':false,'delimiter':','}");
  assert_member (h, "data.parse_csv", "{'text':'1,2','header':false,'columns':['x','y']}",
                 "rows", "[{'x':'1','y':'2'}]");
  assert_member (h, "data.parse_csv", "{'text':'','header':false}", "rows", "[]");
  harness_fails (h, "data.parse_csv", "{'text':'a\\n1','columns':['b']}",
                 KHADIM_TOOL_ERROR_NOT_FOUND, "no column “b”");
  harness_fails (h, "data.parse_csv", "{'text':'1,2','header':false,'columns':['x']}",
                 KHADIM_TOOL_ERROR_TOOL, "2 cells, but there are 1 columns");
}

static void
test_csv_max_rows (Harness       *h,
                   gconstpointer  data)
{
  assert_gives (h, "data.parse_csv", "{'text':'a\\n1\\n2\\n3\\n','max_rows':2}",
                "{'columns':['a'],'rows':[{'a':'1'},{'a':'2'}],'count':2,"
                "'truncated':true,'delimiter':','}");
  assert_member (h, "data.parse_csv", "{'text':'a\\n1\\n2\\n','max_rows':2}", "truncated",
                 "false");
}

/* The line is that of a text editor, also after cells of several lines. */
static void
test_csv_errors (Harness       *h,
                 gconstpointer  data)
{
  assert_no_table (h, "a,b\n1,2\n3\n", KHADIM_TOOL_ERROR_TOOL, "Line 3: 1 cells");
  assert_no_table (h, "a,b\r\n\r\n\"1\n\n\",2\r\n3,4,5\r\n", KHADIM_TOOL_ERROR_TOOL,
                   "Line 6: 3 cells");
  assert_no_table (h, "a,b\r1\r", KHADIM_TOOL_ERROR_TOOL, "Line 2: 1 cells");
  assert_no_table (h, "a,b,a\n", KHADIM_TOOL_ERROR_TOOL, "Line 1: two columns are named “a”");
  assert_no_table (h, "\na,,c\n", KHADIM_TOOL_ERROR_TOOL, "Line 2: column 2 has no name");
  assert_no_table (h, "a\n1\nx\"y\n", KHADIM_TOOL_ERROR_TOOL, "Line 3: a quotation mark");
  assert_no_table (h, "a\n1\n\"x\"y\n", KHADIM_TOOL_ERROR_TOOL, "Line 3: a quotation mark");
  assert_no_table (h, "a\n1\n\"x\n\n", KHADIM_TOOL_ERROR_TOOL, "Line 3: a cell that begins");
  assert_no_table (h, "", KHADIM_TOOL_ERROR_TOOL, "Line 1: there is no line");
}

static void
test_csv_limits (Harness       *h,
                 gconstpointer  data)
{
  g_autoptr(GString) wide = g_string_new ("c0");
  g_autoptr(GString) wider = NULL;
  g_autoptr(GString) tall = g_string_new ("a\n");
  g_autoptr(JsonNode) value = NULL;

  for (guint i = 1; i < 1000; i++)
    g_string_append_printf (wide, ",c%u", i);
  value = harness_ok_node (h, "data.parse_csv", table_args (wide->str));
  wider = g_string_new (wide->str);
  g_string_append (wider, ",c1000");
  assert_no_table (h, wider->str, KHADIM_TOOL_ERROR_LIMIT, "1000 columns");

  for (guint i = 0; i < 100001; i++)
    g_string_append (tall, "x\n");
  assert_no_table (h, tall->str, KHADIM_TOOL_ERROR_LIMIT, "Line 100002: more than 100000 rows");
}

static void
test_read_csv (Harness       *h,
               gconstpointer  data)
{
  harness_put (h, "bom.csv", "\357\273\277name;n\r\ng\303\274n;1\r\n", -1);
  harness_put (h, "latin.csv", "name,n\ng\374n,1\n", -1);
  harness_put (h, "bad.csv", "a,b\n1\n", -1);
  assert_member (h, "data.read_csv", "{'path':'bom.csv'}", "columns", "['name','n']");
  assert_member (h, "data.read_csv", "{'path':'bom.csv'}", "rows",
                 "[{'name':'g\303\274n','n':'1'}]");
  assert_member (h, "data.read_csv", "{'path':'latin.csv','encoding':'windows-1252'}", "rows",
                 "[{'name':'g\303\274n','n':'1'}]");
  harness_fails (h, "data.read_csv", "{'path':'latin.csv'}", KHADIM_TOOL_ERROR_TOOL, "Byte 8");
  harness_fails (h, "data.read_csv", "{'path':'bad.csv'}", KHADIM_TOOL_ERROR_TOOL,
                 "bad.csv”: Line 2");
  harness_fails (h, "data.read_csv", "{'path':'no.csv'}", KHADIM_TOOL_ERROR_NOT_FOUND, "no.csv");
}

/* Writing tables ------------------------------------------------------------ */

static void
test_write_csv (Harness       *h,
                gconstpointer  data)
{
  json_node_unref (harness_ok (h, "data.write_csv",
    "{'path':'d/t.csv','rows':[{'a':'x,y','b':'1\\n2'},{'b':'say \\u0022hi\\u0022','a':''},"
    "{'a':' s ','b':null}]}"));
  harness_assert_content (h, "d/t.csv",
                          "a,b\n\"x,y\",\"1\n2\"\n,\"say \"\"hi\"\"\"\n\" s \",\n", -1);

  json_node_unref (harness_ok (h, "data.write_csv",
    "{'path':'t.csv','rows':[{'n':1,'d':0.5,'t':true},{'n':-9007199254740993}],"
    "'columns':['t','n','d'],'delimiter':';','newline':'crlf','encoding':'utf-8-bom'}"));
  harness_assert_content (h, "t.csv",
                          "\357\273\277t;n;d\r\ntrue;1;0.5\r\n;-9007199254740993;\r\n", -1);

  assert_gives (h, "data.to_csv", "{'rows':[{'a':'1'},{'a':''}],'header':false}",
                "{'text':'1\\n\\u0022\\u0022\\n'}");
  assert_gives (h, "data.to_csv", "{'rows':[],'columns':['a','b']}", "{'text':'a,b\\n'}");
}

static void
test_write_csv_errors (Harness       *h,
                       gconstpointer  data)
{
  harness_put (h, "t.csv", "old", -1);
  harness_fails (h, "data.write_csv", "{'path':'t.csv','rows':[{'a':'1'},{'a':'2','b':'3'}]}",
                 KHADIM_TOOL_ERROR_TOOL, "Row 2 has “b”");
  harness_fails (h, "data.write_csv", "{'path':'t.csv','rows':[{'a':[1]}]}",
                 KHADIM_TOOL_ERROR_TOOL, "Row 1: “a”");
  harness_fails (h, "data.write_csv", "{'path':'t.csv','rows':[]}", KHADIM_TOOL_ERROR_TOOL,
                 "neither columns");
  harness_fails (h, "data.write_csv", "{'path':'t.csv','rows':[{'a':'1'},2]}",
                 KHADIM_TOOL_ERROR_TOOL, "Row 2 is no object");
  harness_fails (h, "data.write_csv", "{'path':'t.csv','rows':[],'columns':['a','a']}",
                 KHADIM_TOOL_ERROR_TOOL, "Column 2");
  harness_assert_content (h, "t.csv", "old", -1);
}

static void
test_append_csv (Harness       *h,
                 gconstpointer  data)
{
  const char *args = "{'path':'t.csv','rows':[{'b':'2','a':'1'}]}";

  json_node_unref (harness_ok (h, "data.append_csv", args));
  harness_assert_content (h, "t.csv", "b,a\n2,1\n", -1);
  json_node_unref (harness_ok (h, "data.append_csv", args));
  harness_assert_content (h, "t.csv", "b,a\n2,1\n2,1\n", -1);

  /* Goes on as it finds it. */
  harness_put (h, "t.csv", "\357\273\277a;\"b\nb\";c\r\nx;y;z", -1);
  json_node_unref (harness_ok (h, "data.append_csv",
                               "{'path':'t.csv','rows':[{'c':'p;q','a':'1'}]}"));
  harness_assert_content (h, "t.csv",
                          "\357\273\277a;\"b\nb\";c\r\nx;y;z\r\n1;;\"p;q\"\r\n", -1);

  harness_fails (h, "data.append_csv", "{'path':'t.csv','rows':[{'d':'1'}]}",
                 KHADIM_TOOL_ERROR_TOOL, "“d”");
  harness_put (h, "t.csv", "a,a\n", -1);
  harness_fails (h, "data.append_csv", "{'path':'t.csv','rows':[{'a':'1'}]}",
                 KHADIM_TOOL_ERROR_TOOL, "t.csv");
  harness_assert_content (h, "t.csv", "a,a\n", -1);
}

/* Against another reader and writer: Python's csv module. */
static char *
run_python (Harness    *h,
            const char *script)
{
  const char *const argv[] = { "python3", "-c", script, NULL };
  g_autoptr(GError) error = NULL;
  char *out = NULL;
  int status = 0;

  g_spawn_sync (h->work, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, NULL,
                &status, &error);
  g_assert_no_error (error);
  g_assert_cmpint (status, ==, 0);

  return out;
}

static JsonNode *
random_rows (GRand *rand)
{
  static const char *const pieces[] = { "a", ",", "\"", "\n", "\r\n", " ", ";", "\303\244", "7" };
  JsonArray *rows = json_array_new ();

  for (int i = g_rand_int_range (rand, 1, 30); i > 0; i--)
    {
      JsonObject *row = json_object_new ();

      for (char name = 'a'; name < 'd'; name++)
        {
          const char key[] = { name, '\0' };
          g_autoptr(GString) cell = g_string_new (NULL);

          for (int j = g_rand_int_range (rand, 0, 6); j > 0; j--)
            g_string_append (cell, pieces[g_rand_int_range (rand, 0, G_N_ELEMENTS (pieces))]);
          json_object_set_string_member (row, key, cell->str);
        }
      json_array_add_object_element (rows, row);
    }

  return khadim_json_array (rows);
}

static void
assert_rows_in (JsonNode   *table,
                JsonNode   *rows)
{
  g_assert_true (khadim_json_equal (khadim_json_get (json_node_get_object (table), "rows"), rows));
}

static void
test_csv_python (Harness       *h,
                 gconstpointer  data)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (4180);
  g_autofree char *python = g_find_program_in_path ("python3");

  if (python == NULL)
    {
      g_test_skip ("No python3");
      return;
    }

  for (guint i = 0; i < 12; i++)
    {
      g_autoptr(JsonNode) rows = random_rows (rand);
      JsonObject *args = json_object_new ();
      g_autoptr(GError) error = NULL;
      g_autoptr(JsonNode) read = NULL;
      g_autoptr(JsonNode) back = NULL;
      g_autofree char *out = NULL;

      json_object_set_string_member (args, "path", "t.csv");
      json_object_set_string_member (args, "newline", i % 2 == 0 ? "lf" : "crlf");
      json_object_set_member (args, "rows", json_node_copy (rows));
      json_node_unref (harness_ok_node (h, "data.write_csv", khadim_json_object (args)));
      out = run_python (h, "import csv, json\n"
                           "f = open('t.csv', newline='', encoding='utf-8')\n"
                           "rows = list(csv.DictReader(f, strict=True))\n"
                           "print(json.dumps(rows))\n"
                           "o = open('p.csv', 'w', newline='', encoding='utf-8')\n"
                           "w = csv.DictWriter(o, ['c', 'a', 'b'])\n"
                           "w.writeheader(); w.writerows(rows)\n");
      read = khadim_json_parse (out, -1, NULL, &error);
      g_assert_no_error (error);
      g_assert_true (khadim_json_equal (read, rows));

      back = harness_ok (h, "data.read_csv", "{'path':'p.csv','delimiter':','}");
      assert_rows_in (back, rows);
    }
}

/* JSON ------------------------------------------------------------------------ */

static void
test_json (Harness       *h,
           gconstpointer  data)
{
  assert_gives (h, "data.parse_json", "{'text':'[1, 0.5, null]'}", "[1,0.5,null]");
  assert_gives (h, "data.to_json", "{'value':{'b':[],'a':9007199254740993}}",
                "{'text':'{\\u0022b\\u0022:[],\\u0022a\\u0022:9007199254740993}'}");
  json_node_unref (harness_ok (h, "data.write_json",
                               "{'path':'n/v.json','value':{'a':1},'pretty':false}"));
  harness_assert_content (h, "n/v.json", "{\"a\":1}\n", -1);
  json_node_unref (harness_ok (h, "data.write_json", "{'path':'v.json','value':{'a':[1,2]}}"));
  assert_gives (h, "data.read_json", "{'path':'v.json'}", "{'a':[1,2]}");
  harness_put (h, "bom.json", "\357\273\277{}", -1);
  assert_gives (h, "data.read_json", "{'path':'bom.json'}", "{}");

  harness_put (h, "bad.json", "{\n \"a\": 1,\n}", -1);
  harness_fails (h, "data.read_json", "{'path':'bad.json'}", KHADIM_TOOL_ERROR_TOOL, "bad.json");
  harness_fails (h, "data.parse_json", "{'text':'[1,]'}", KHADIM_TOOL_ERROR_TOOL, "");
  harness_fails (h, "data.parse_json", "{'text':''}", KHADIM_TOOL_ERROR_TOOL, "");
  harness_fails (h, "data.read_json", "{'path':'no'}", KHADIM_TOOL_ERROR_NOT_FOUND, "no");
}

static void
test_dry_run (Harness       *h,
              gconstpointer  data)
{
  g_autoptr(GDir) dir = NULL;

  h->dry_run = TRUE;
  assert_member (h, "data.write_csv", "{'path':'a/t.csv','rows':[{'a':'1'}]}", "dry_run", "true");
  assert_member (h, "data.append_csv", "{'path':'t.csv','rows':[{'a':'1'}]}", "dry_run", "true");
  assert_member (h, "data.write_json", "{'path':'t.json','value':1}", "dry_run", "true");
  dir = g_dir_open (h->work, 0, NULL);
  g_assert_null (g_dir_read_name (dir));
  harness_fails (h, "data.write_json", "{'path':'../x','value':1}", KHADIM_TOOL_ERROR_DENIED, "x");
  harness_fails (h, "data.write_csv", "{'path':'t.csv','rows':[]}", KHADIM_TOOL_ERROR_TOOL, "");
}

/* Text ------------------------------------------------------------------------ */

static void
test_text (Harness       *h,
           gconstpointer  data)
{
  const struct {
    const char *args;
    const char *expected;
  } cases[] = {
    { "{'operation':'lines','text':'a\\r\\n\\nb\\n'}", "{'parts':['a','','b'],'count':3}" },
    { "{'operation':'lines','text':''}", "{'parts':[],'count':0}" },
    { "{'operation':'split','text':'a--b--','separator':'--'}",
      "{'parts':['a','b',''],'count':3}" },
    { "{'operation':'join','parts':['a','b'],'separator':''}", "{'text':'ab'}" },
    { "{'operation':'trim','text':' \\u00a0\\ta b\\n'}", "{'text':'a b'}" },
    { "{'operation':'upper','text':'i\\u00e4\\u00df'}", "{'text':'I\\u00c4\\u00df'}" },
    { "{'operation':'lower','text':'I\\u00c4'}", "{'text':'i\\u00e4'}" },
    { "{'operation':'pad','text':'7','width':3,'fill':'0'}", "{'text':'007'}" },
    { "{'operation':'pad','text':'\\u00e4','width':3,'side':'end'}", "{'text':'\\u00e4  '}" },
    { "{'operation':'pad','text':'long','width':2}", "{'text':'long'}" },
    { "{'operation':'replace','text':'a.b.c','find':'.','with':''}", "{'text':'abc'}" },
    { "{'operation':'replace','text':'1.234,5','pattern':'(\\\\d)\\\\.(\\\\d)',"
      "'with':'\\\\1\\\\2'}", "{'text':'1234,5'}" },
    { "{'operation':'extract','text':'No 17, No 18','pattern':'No (\\\\d+)'}",
      "{'count':1,'text':'No 17','matches':[{'text':'No 17','groups':['17']}]}" },
    { "{'operation':'extract','text':'a1b22','pattern':'\\\\d+','all':true}",
      "{'count':2,'text':'1','matches':[{'text':'1','groups':[]},{'text':'22','groups':[]}]}" },
    { "{'operation':'extract','text':'x','pattern':'y'}",
      "{'count':0,'text':'','matches':[]}" },
    { "{'operation':'extract','text':'ABC','pattern':'b','ignore_case':true}",
      "{'count':1,'text':'B','matches':[{'text':'B','groups':[]}]}" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_gives (h, "data.text", cases[i].args, cases[i].expected);
}

static void
test_text_errors (Harness       *h,
                  gconstpointer  data)
{
  harness_fails (h, "data.text", "{'operation':'split','text':'a'}", KHADIM_TOOL_ERROR_TOOL,
                 "separator");
  harness_fails (h, "data.text", "{'operation':'split','text':'a','separator':''}",
                 KHADIM_TOOL_ERROR_TOOL, "separator");
  harness_fails (h, "data.text",
                 "{'operation':'replace','text':'a','find':'a','pattern':'a','with':''}",
                 KHADIM_TOOL_ERROR_TOOL, "find");
  harness_fails (h, "data.text", "{'operation':'extract','text':'a','pattern':'(a'}",
                 KHADIM_TOOL_ERROR_TOOL, "char 2");
  harness_fails (h, "data.text",
                 "{'operation':'replace','text':'a','pattern':'a','with':'\\\\g<'}",
                 KHADIM_TOOL_ERROR_TOOL, "with");
  harness_fails (h, "data.text", "{'operation':'pad','text':'a','width':3,'fill':'ab'}",
                 KHADIM_TOOL_ERROR_TOOL, "one character");
  harness_fails (h, "data.text", "{'operation':'dance','text':''}", KHADIM_TOOL_ERROR_TOOL,
                 "dance");
}

/* The same fault is found before a run, with its place. */
static void
test_text_check (Harness       *h,
                 gconstpointer  data)
{
  harness_check_finds (h, "data.text", "{'operation':'replace','text':'{{ x }}','find':'a'}",
                       "with");
  harness_check_finds (h, "data.text", "{'operation':'extract','text':'','pattern':'(a'}",
                       "pattern");
  harness_check_finds (h, "data.read_csv", "{'path':'../x'}", "path");
  harness_check_finds (h, "data.text", "{'operation':'trim','text':'{{ x }}'}", NULL);
  harness_check_finds (h, "data.text", "{'operation':'extract','text':'','pattern':'({{ x }}'}",
                       NULL);
  harness_check_finds (h, "data.read_csv", "{'path':'{{ inputs.file }}'}", NULL);
}

/* A pattern that would take 2^40 steps, and texts that would grow for ever. */
static void
test_text_bounds (Harness       *h,
                  gconstpointer  data)
{
  g_autofree char *big = g_strnfill (5000, 'a');
  g_autofree char *grow = NULL;
  g_autofree char *grow_pattern = NULL;

  harness_fails (h, "data.text",
                 "{'operation':'extract','text':'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!',"
                 "'pattern':'^(a+)+$'}", KHADIM_TOOL_ERROR_LIMIT, "too long");
  harness_fails (h, "data.text",
                 "{'operation':'replace','text':'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!',"
                 "'pattern':'^(a+)+$','with':''}", KHADIM_TOOL_ERROR_LIMIT, "too long");

  grow = g_strdup_printf ("{'operation':'replace','text':'%s','find':'a','with':'%s'}", big, big);
  harness_fails (h, "data.text", grow, KHADIM_TOOL_ERROR_LIMIT, "longer");
  grow_pattern = g_strdup_printf ("{'operation':'replace','text':'%s','pattern':'a','with':'%s'}",
                                  big, big);
  harness_fails (h, "data.text", grow_pattern, KHADIM_TOOL_ERROR_LIMIT, "longer");
}

/* Dates ----------------------------------------------------------------------- */

static void
test_dates (Harness       *h,
            gconstpointer  data)
{
  assert_gives (h, "data.parse_date", "{'text':'31.12.2026','format':'%d.%m.%Y','timezone':'UTC'}",
                "{'iso':'2026-12-31T00:00:00Z','unix':1798675200,'year':2026,'month':12,'day':31,"
                "'hour':0,'minute':0,'second':0,'weekday':4}");
  assert_member (h, "data.parse_date", "{'text':'2026-07-01T12:00:00','timezone':'+02:00'}", "iso",
                 "'2026-07-01T12:00:00+02:00'");
  assert_member (h, "data.parse_date", "{'text':'2026-07-01T12:00:00Z','timezone':'+02:00'}",
                 "iso", "'2026-07-01T14:00:00+02:00'");
  assert_member (h, "data.parse_date", "{'text':'2026-07-01','timezone':'UTC'}", "iso",
                 "'2026-07-01T00:00:00Z'");
  assert_member (h, "data.parse_date",
                 "{'text':'1 Mar 2026 10:00 +0100','format':'%d %b %Y %H:%M %z','timezone':'UTC'}",
                 "iso", "'2026-03-01T09:00:00Z'");
  assert_gives (h, "data.format_date",
                "{'time':0,'timezone':'UTC','format':'%A, %d %B %Y %H:%M:%S %z'}",
                "{'text':'Thursday, 01 January 1970 00:00:00 +0000'}");
  assert_gives (h, "data.format_date", "{'time':'2026-12-31T23:30:00Z','timezone':'+01:00'}",
                "{'text':'2027-01-01'}");
  assert_gives (h, "data.format_date", "{'time':0,'timezone':'UTC','format':''}", "{'text':''}");
}

static void
test_dates_zone (Harness       *h,
                 gconstpointer  data)
{
  if (!g_file_test ("/usr/share/zoneinfo/Europe/Berlin", G_FILE_TEST_EXISTS))
    {
      g_test_skip ("No time zone data");
      return;
    }

  assert_member (h, "data.parse_date", "{'text':'2026-07-01T12:00:00','timezone':'Europe/Berlin'}",
                 "iso", "'2026-07-01T12:00:00+02:00'");
  /* The hour that summer time skips. */
  harness_fails (h, "data.parse_date",
                 "{'text':'2026-03-29 02:30','format':'%Y-%m-%d %H:%M','timezone':'Europe/Berlin'}",
                 KHADIM_TOOL_ERROR_TOOL, "no date and time that exists");
}

static void
test_dates_errors (Harness       *h,
                   gconstpointer  data)
{
  harness_fails (h, "data.parse_date", "{'text':'31.02.2026','format':'%d.%m.%Y','timezone':'UTC'}",
                 KHADIM_TOOL_ERROR_TOOL, "31.02.2026");
  harness_fails (h, "data.parse_date", "{'text':'1.2.2026 x','format':'%d.%m.%Y','timezone':'UTC'}",
                 KHADIM_TOOL_ERROR_TOOL, "form");
  harness_fails (h, "data.parse_date", "{'text':'soon','timezone':'UTC'}",
                 KHADIM_TOOL_ERROR_TOOL, "soon");
  harness_fails (h, "data.parse_date", "{'text':'2026-01-01','timezone':'Mars/Base'}",
                 KHADIM_TOOL_ERROR_TOOL, "Mars/Base");
  harness_fails (h, "data.format_date", "{'time':9223372036854775807,'timezone':'UTC'}",
                 KHADIM_TOOL_ERROR_TOOL, "seconds");
}

#define ADD(path, func) g_test_add ("/engine/data/" path, Harness, NULL, set_up, func, tear_down)

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);

  ADD ("infos", test_infos);
  ADD ("csv/parse", test_parse_csv);
  ADD ("csv/delimiter", test_csv_delimiter);
  ADD ("csv/columns", test_csv_columns);
  ADD ("csv/max-rows", test_csv_max_rows);
  ADD ("csv/errors", test_csv_errors);
  ADD ("csv/limits", test_csv_limits);
  ADD ("csv/read", test_read_csv);
  ADD ("csv/write", test_write_csv);
  ADD ("csv/write-errors", test_write_csv_errors);
  ADD ("csv/append", test_append_csv);
  ADD ("csv/python", test_csv_python);
  ADD ("json", test_json);
  ADD ("dry-run", test_dry_run);
  ADD ("text/operations", test_text);
  ADD ("text/errors", test_text_errors);
  ADD ("text/check", test_text_check);
  ADD ("text/bounds", test_text_bounds);
  ADD ("dates/both-ways", test_dates);
  ADD ("dates/zone", test_dates_zone);
  ADD ("dates/errors", test_dates_errors);

  return g_test_run ();
}
