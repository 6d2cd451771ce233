/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Settings of the server, put together and checked. */
#include "tools/run/http/choose.h"

#include "tools/run/http/http.h"

#include "core/base/fail.h"

/* One program has one address: descriptions that state two contradict each other. @chosen: (out):
 * the first that has [http]. */
static gboolean
choose_description (const GPtrArray *descriptions, gboolean by_option, const SlDescription **chosen,
                    GError **error)
{
  *chosen = descriptions->pdata[0];
  for (guint i = 0; i < descriptions->len; i++) {
    const SlDescription *description = descriptions->pdata[i];
    if (description->http.file == NULL)
      continue;
    if ((*chosen)->http.file == NULL)
      *chosen = description;
    if (!by_option && g_strcmp0 (description->http.listen, (*chosen)->http.listen) != 0)
      return sl_fail (
        error, SL_ERROR_ARGUMENT,
        "%s:%u: [http] listen is %s, %s has %s: expected one address for all that run together; "
        "state it with --http",
        description->http.file, description->http.line,
        description->http.listen != NULL ? description->http.listen : "not stated",
        (*chosen)->http.file, (*chosen)->http.listen != NULL ? (*chosen)->http.listen : "none");
  }
  return TRUE;
}

gboolean
sl_http_choose (const SlHttpOptions *options, const GPtrArray *descriptions,
                SlHttpSettings *settings, char **origin, GError **error)
{
  const SlDescription *description;
  if (!choose_description (descriptions, options->listen != NULL, &description, error))
    return FALSE;
  sl_http_settings_copy (settings, &description->http);
  *origin = options->listen != NULL || settings->file == NULL
              ? g_strdup ("--http")
              : g_strdup_printf ("%s:%u: [http] listen", settings->file, settings->line);
  return sl_http_options_apply (options, *origin, settings, error);
}

gboolean
sl_http_agree (const GPtrArray *descriptions, GError **error)
{
  const SlDescription *description;
  return choose_description (descriptions, FALSE, &description, error);
}

gboolean
sl_http_check (const SlDescription *description, GError **error)
{
  const SlHttpOptions none = { 0 };
  g_auto (SlHttpSettings) settings = { 0 };
  g_autoptr (GPtrArray) descriptions = g_ptr_array_new ();
  g_autofree char *origin = NULL;
  g_ptr_array_add (descriptions, (gpointer) description);
  if (!sl_http_choose (&none, descriptions, &settings, &origin, error))
    return FALSE;
  g_autoptr (GSocketAddress) address =
    settings.listen != NULL ? sl_http_address (settings.listen, error) : NULL;
  if (settings.listen == NULL
      || (address != NULL && sl_http_check_reach (&settings, address, error)
          && sl_run_http_check (&settings, error)))
    return TRUE;
  return sl_fail_prefix (error, "%s %s: ", origin, settings.listen);
}
