/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/run/http/exposition.h"

#include "core/base/json.h"
#include "core/base/printable.h"
#include "config.h"

static void
append_label (GString *out, const char *name, const char *value)
{
  g_autofree char *shown = sl_printable (value != NULL ? value : "", SL_PRINTABLE_NAME);
  g_string_append_printf (out, "%s%s=\"", out->str[out->len - 1] == '{' ? "" : ",", name);
  for (const char *c = shown; *c != '\0'; c++) {
    if (*c == '"' || *c == '\\')
      g_string_append_c (out, '\\');
    g_string_append_c (out, *c);
  }
  g_string_append_c (out, '"');
}

void
sl_exposition_head (GString *out, const char *name, const char *type, const char *help)
{
  g_string_append_printf (out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void
sl_exposition_begin (GString *out, const char *metric, const char *suffix, const char *name,
                     const char *value, va_list labels)
{
  g_string_append_printf (out, "%s%s{", metric, suffix);
  append_label (out, name, value);
  while ((name = va_arg (labels, const char *)) != NULL)
    append_label (out, name, va_arg (labels, const char *));
  g_string_append (out, "} ");
}

static void G_GNUC_NULL_TERMINATED
begin (GString *out, const char *metric, const char *suffix, const char *name, const char *value,
       ...)
{
  va_list labels;
  va_start (labels, value);
  sl_exposition_begin (out, metric, suffix, name, value, labels);
  va_end (labels);
}

void
sl_exposition_histogram (GString *out, const char *metric, const char *name, const char *value,
                         const char *stage, const SlHistogram *histogram)
{
  guint64 sum = 0;
  for (guint i = 0; i <= SL_FLOW_BUCKETS; i++) {
    char bound[G_ASCII_DTOSTR_BUF_SIZE] = "+Inf";
    if (i < SL_FLOW_BUCKETS)
      g_ascii_formatd (bound, sizeof bound, "%g", (double) sl_flow_buckets[i] / G_USEC_PER_SEC);
    sum += histogram->counts[i];
    begin (out, metric, "_bucket", name, value, "stage", stage, "le", bound, NULL);
    g_string_append_printf (out, "%" G_GUINT64_FORMAT "\n", sum);
  }
  begin (out, metric, "_sum", name, value, "stage", stage, NULL);
  sl_json_append_double (out, (double) histogram->sum / G_USEC_PER_SEC, 9);
  g_string_append_c (out, '\n');
  begin (out, metric, "_count", name, value, "stage", stage, NULL);
  g_string_append_printf (out, "%" G_GUINT64_FORMAT "\n", sum);
}

void
sl_exposition_process (GString *out, const SlProcessFigures *process, gint64 started)
{
  sl_exposition_head (out, "process_cpu_seconds_total", "counter",
                      "Processor time of the process.");
  g_string_append (out, "process_cpu_seconds_total ");
  sl_json_append_double (out, process->cpu, 9);
  g_string_append_c (out, '\n');
  sl_exposition_head (out, "process_resident_memory_bytes", "gauge", "Memory of the process.");
  g_string_append_printf (out, "process_resident_memory_bytes %" G_GUINT64_FORMAT "\n",
                          process->rss);
  sl_exposition_head (out, "process_start_time_seconds", "gauge",
                      "When the process started, since 1970.");
  g_string_append_printf (out, "process_start_time_seconds %" G_GINT64_FORMAT "\n", started);
  sl_exposition_head (out, "sightline_build_info", "gauge", "1; the version is a label.");
  g_string_append (out, "sightline_build_info{version=\"" SL_VERSION "\"} 1\n");
}
