/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Loads the typelibs of the build as a language binding does, and calls
 * through them. The two umbrella headers are all that is included: they
 * compile alone and show no type of the display. */

#define G_LOG_DOMAIN "test-introspection"

#include "config.h"

#include "rpa/khadim-rpa.h"
#include "engine/khadim.h"

#if defined (XlibSpecificationRelease) || defined (X_PROTOCOL) || defined (ATSPI_MAJOR_VERSION)
#error "A public header shows X11 or AT-SPI"
#endif

#include <girepository.h>

static const char *const allowed[] = {
  "GLib-2.0", "GObject-2.0", "Gio-2.0", "GModule-2.0", "Json-1.0", "Khadim-1", NULL,
};

static void
require (const char *name)
{
  g_autoptr(GError) error = NULL;
  g_auto(GStrv) folders = g_strsplit (g_getenv ("KHADIM_TEST_TYPELIBS"), ":", -1);

  for (guint i = 0; folders[i] != NULL; i++)
    g_irepository_prepend_search_path (folders[i]);
  g_irepository_require (NULL, name, "1", 0, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_irepository_get_n_infos (NULL, name), >, 0);
}

static void
call (const char  *name,
      const char  *function,
      GIArgument  *result)
{
  g_autoptr(GError) error = NULL;
  GIBaseInfo *info = g_irepository_find_by_name (NULL, name, function);

  g_assert_nonnull (info);
  g_assert_cmpint (g_base_info_get_type (info), ==, GI_INFO_TYPE_FUNCTION);
  g_function_info_invoke (info, NULL, 0, NULL, 0, result, &error);
  g_assert_no_error (error);
  g_base_info_unref (info);
}

static const char *
find_foreign (const char *const *dependencies)
{
  for (guint i = 0; dependencies[i] != NULL; i++)
    if (!g_strv_contains (allowed, dependencies[i]))
      return dependencies[i];

  return NULL;
}

static void
assert_no_foreign (const char *name)
{
  g_auto(GStrv) dependencies = g_irepository_get_dependencies (NULL, name);

  g_assert_cmpstr (find_foreign ((const char *const *) dependencies), ==, NULL);
}

static void
test_introspection_engine (void)
{
  GIArgument result = { 0 };
  GIBaseInfo *info;
  g_autofree char *id = NULL;

  require ("Khadim");
  g_assert_cmpstr (g_irepository_get_c_prefix (NULL, "Khadim"), ==, "Khadim");
  g_assert_nonnull (strstr (g_irepository_get_shared_library (NULL, "Khadim"), "libkhadim.so.0"));

  call ("Khadim", "uuid7_new", &result);
  id = result.v_pointer;
  g_assert_true (g_uuid_string_is_valid (id));

  info = g_irepository_find_by_name (NULL, "Khadim", "ToolError");
  g_assert_nonnull (info);
  g_assert_cmpstr (g_enum_info_get_error_domain ((GIEnumInfo *) info), ==,
                   g_quark_to_string (KHADIM_TOOL_ERROR));
  g_base_info_unref (info);
  assert_no_foreign ("Khadim");
}

static void
test_introspection_rpa (void)
{
  GIArgument result = { 0 };

  require ("KhadimRpa");
  g_assert_cmpstr (g_irepository_get_c_prefix (NULL, "KhadimRpa"), ==, "KhadimRpa");

  call ("KhadimRpa", "get_version", &result);
  g_assert_cmpstr (result.v_string, ==, KHADIM_VERSION);
  assert_no_foreign ("KhadimRpa");
}

/* The two checks above can fail. */
static void
test_introspection_control (void)
{
  static const char *const foreign[] = { "GLib-2.0", "xlib-2.0", NULL };
  g_autoptr(GError) error = NULL;

  g_assert_cmpstr (find_foreign (foreign), ==, "xlib-2.0");
  require ("Khadim");
  g_assert_null (g_irepository_find_by_name (NULL, "Khadim", "no_such_function"));
  g_assert_null (g_irepository_require (NULL, "KhadimNone", "1", 0, &error));
  g_assert_error (error, G_IREPOSITORY_ERROR, G_IREPOSITORY_ERROR_TYPELIB_NOT_FOUND);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/app/introspection/engine", test_introspection_engine);
  g_test_add_func ("/app/introspection/rpa", test_introspection_rpa);
  g_test_add_func ("/app/introspection/control", test_introspection_control);

  return g_test_run ();
}
