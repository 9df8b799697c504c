/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* The least that a program with these libraries does: it opens a file. */

#include <curl/curl.h>
#include <json-glib/json-glib.h>
#include <sqlite3.h>
#include <stdio.h>

int
main (int    argc,
      char **argv)
{
  g_autofree char *text = NULL;
  g_autoptr(GError) error = NULL;
  gsize length;

  if (argc != 2 || !g_file_get_contents (argv[1], &text, &length, &error))
    {
      g_printerr ("%s\n", error != NULL ? error->message : "Usage: bench-start-peer FILE");
      return 1;
    }
  printf ("%zu %s %s %d\n", (size_t) length, sqlite3_libversion (), curl_version (),
          json_node_get_type () != 0);

  return 0;
}
