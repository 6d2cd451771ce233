/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/bench/field/machine.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/base/cores.h"
#include "core/base/cpu.h"
#include "core/base/json.h"
#include "preprocess/normalize.h"
#include "tools/bench/field/bandwidth.h"
#include "tools/bench/peak.h"

/* Most names of one device in the device tree. */
#define MOST_NAMES 16

/* Cores of Arm Ltd., implementer 0x41, by their part. */
static const struct
{
  guint part;
  const char *name;
} arm_cores[] = {
  { 0xd03, "Cortex-A53" },   { 0xd04, "Cortex-A35" },  { 0xd05, "Cortex-A55" },
  { 0xd07, "Cortex-A57" },   { 0xd08, "Cortex-A72" },  { 0xd09, "Cortex-A73" },
  { 0xd0a, "Cortex-A75" },   { 0xd0b, "Cortex-A76" },  { 0xd0c, "Neoverse-N1" },
  { 0xd0d, "Cortex-A77" },   { 0xd40, "Neoverse-V1" }, { 0xd41, "Cortex-A78" },
  { 0xd42, "Cortex-A78AE" }, { 0xd44, "Cortex-X1" },   { 0xd46, "Cortex-A510" },
  { 0xd47, "Cortex-A710" },  { 0xd49, "Neoverse-N2" }, { 0xd4b, "Cortex-A78C" },
  { 0xd4d, "Cortex-A715" },  { 0xd4f, "Neoverse-V2" }, { 0xd80, "Cortex-A520" },
  { 0xd81, "Cortex-A720" },
};

static const struct
{
  guint feature;
  const char *name;
} features[] = {
  { SL_CPU_SSE41, "sse41" },
  { SL_CPU_AVX2, "avx2" },
  { SL_CPU_FMA, "fma" },
  { SL_CPU_AVXVNNI, "avxvnni" },
  { SL_CPU_AVX512, "avx512" },
  { SL_CPU_AVX512VBMI, "avx512vbmi" },
  { SL_CPU_AVX512BF16, "avx512bf16" },
  { SL_CPU_AMX, "amx" },
  { SL_CPU_NEON, "neon" },
  { SL_CPU_DOTPROD, "dotprod" },
  { SL_CPU_FP16, "fp16" },
  { SL_CPU_I8MM, "i8mm" },
};

/* (transfer full): lines of /proc/cpuinfo. */
static GStrv
read_cpuinfo (void)
{
  g_autofree char *text = NULL;
  if (!g_file_get_contents ("/proc/cpuinfo", &text, NULL, NULL))
    return g_new0 (char *, 1);
  return g_strsplit (text, "\n", -1);
}

/* (nullable): what the line of @key says, if @line is one. */
static const char *
value_of (const char *line, const char *key)
{
  if (!g_str_has_prefix (line, key))
    return NULL;
  const char *colon = strchr (line, ':');
  return colon != NULL && g_ascii_isspace (line[strlen (key)]) ? colon + 1 + (colon[1] == ' ')
                                                               : NULL;
}

static gboolean
has_key (const GStrv lines, const char *key)
{
  for (guint i = 0; lines[i] != NULL; i++)
    if (value_of (lines[i], key) != NULL)
      return TRUE;
  return FALSE;
}

/* An emulator of programs shows the files of the machine that it runs on. */
gboolean
sl_field_emulated (void)
{
  g_auto (GStrv) lines = read_cpuinfo ();
  g_autofree char *arch = NULL;
  struct utsname name;
#if defined(__aarch64__)
  if (has_key (lines, "vendor_id") && !has_key (lines, "CPU implementer"))
    return TRUE;
#elif defined(__x86_64__)
  if (has_key (lines, "CPU implementer"))
    return TRUE;
#endif
  if (!g_file_get_contents ("/proc/sys/kernel/arch", &arch, NULL, NULL) || uname (&name) != 0)
    return FALSE;
  return strcmp (g_strstrip (arch), name.machine) != 0;
}

static void
append_texts (GString *json, const char *key, GPtrArray *texts)
{
  sl_json_append_key (json, key);
  g_string_append_c (json, '[');
  for (guint i = 0; i < texts->len; i++) {
    g_string_append (json, i > 0 ? "," : "");
    sl_json_append_string (json, texts->pdata[i]);
  }
  g_string_append_c (json, ']');
}

/* (transfer full): the text of a file of @root, up to its end of line; NULL without one. */
static char *
read_text (const char *root, const char *path)
{
  g_autofree char *whole = g_build_filename (root, path, NULL);
  char *text = NULL;
  if (!g_file_get_contents (whole, &text, NULL, NULL))
    return NULL;
  text[strcspn (text, "\n")] = '\0';
  return text;
}

/* What the makers of a board with a device tree call it and its chip. */
static void
append_board (GString *json, const char *root)
{
  g_autofree char *model = read_text (root, "firmware/devicetree/base/model"),
                  *path = g_build_filename (root, "firmware/devicetree/base/compatible", NULL),
                  *names = NULL;
  g_autoptr (GPtrArray) found = g_ptr_array_new ();
  gsize bytes = 0;
  sl_json_append_text (json, "model", model);
  if (g_file_get_contents (path, &names, &bytes, NULL))
    for (gsize at = 0; at < bytes && found->len < MOST_NAMES; at += strlen (names + at) + 1)
      g_ptr_array_add (found, names + at);
  append_texts (json, "compatible", found);
}

static void
add_once (GPtrArray *names, char *name)
{
  for (guint i = 0; i < names->len; i++)
    if (strcmp (names->pdata[i], name) == 0) {
      g_free (name);
      return;
    }
  g_ptr_array_add (names, name);
}

static char *
arm_core (guint implementer, guint part)
{
  for (guint i = 0; implementer == 0x41 && i < G_N_ELEMENTS (arm_cores); i++)
    if (arm_cores[i].part == part)
      return g_strdup (arm_cores[i].name);
  return g_strdup_printf ("implementer 0x%x, part 0x%x", implementer, part);
}

/* Each kind of core once. */
static void
append_processors (GString *json)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_auto (GStrv) lines = read_cpuinfo ();
  guint implementer = 0;
  for (guint i = 0; lines[i] != NULL && !sl_field_emulated (); i++) {
    const char *name = value_of (lines[i], "model name"),
               *maker = value_of (lines[i], "CPU implementer"),
               *part = value_of (lines[i], "CPU part");
    if (maker != NULL)
      implementer = (guint) g_ascii_strtoull (maker, NULL, 0);
    if (part != NULL)
      add_once (names, arm_core (implementer, (guint) g_ascii_strtoull (part, NULL, 0)));
    else if (name != NULL)
      add_once (names, g_strdup (name));
  }
  append_texts (json, "processors", names);
}

static void
append_features (GString *json)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  for (guint i = 0; i < G_N_ELEMENTS (features); i++)
    if (sl_cpu_has (features[i].feature))
      g_ptr_array_add (names, (gpointer) features[i].name);
  append_texts (json, "instructions", names);
}

static void
append_optional (GString *json, const char *key, guint number, double unit)
{
  if (number > 0)
    sl_json_append_number (json, key, number / unit, 9);
  else
    sl_json_append_text (json, key, NULL);
}

static void
append_cores (GString *json, const char *root)
{
  g_autofree SlCore *cores = g_new (SlCore, SL_MAX_CORES);
  const guint n = sl_cores_read (root, cores);
  sl_json_append_key (json, "cores");
  g_string_append_c (json, '[');
  for (guint i = 0; i < n; i++) {
    g_autofree char *path =
      g_strdup_printf ("devices/system/cpu/cpu%u/cpufreq/scaling_governor", cores[i].id);
    g_autofree char *governor = read_text (root != NULL ? root : "/sys", path);
    g_string_append (json, i > 0 ? ",{" : "{");
    sl_json_append_count (json, "id", cores[i].id);
    append_optional (json, "capacity", cores[i].capacity, 1);
    append_optional (json, "max_mhz", cores[i].max_khz, 1e3);
    sl_json_append_text (json, "governor", governor);
    g_string_append_c (json, '}');
  }
  g_string_append_c (json, ']');
}

static void
append_memory (GString *json, guint all)
{
  sl_json_append_key (json, "copy_gb_s");
  g_string_append (json, "{");
  sl_json_append_number (json, "one_thread", sl_field_bandwidth (1), 4);
  sl_json_append_number (json, "all_threads", sl_field_bandwidth (MIN (all, 16)), 4);
  g_string_append_c (json, '}');
}

static void
append_peak (GString *json)
{
  const char *instruction;
  sl_json_append_key (json, "peak");
  g_string_append_c (json, '{');
  sl_json_append_number (json, "float_gops", sl_peak_measure (SL_PEAK_FLOAT, &instruction), 4);
  sl_json_append_text (json, "float_instruction", instruction);
  sl_json_append_number (json, "int8_gops", sl_peak_measure (SL_PEAK_INT8, &instruction), 4);
  sl_json_append_text (json, "int8_instruction", instruction);
  g_string_append_c (json, '}');
}

void
sl_field_append_machine (GString *json, const char *root, gboolean measured)
{
  struct utsname name = { 0 };
  uname (&name);
  sl_json_append_key (json, "machine");
  g_string_append_c (json, '{');
  sl_json_append_text (json, "architecture", name.machine);
  g_autofree char *kernel = g_strdup_printf ("%s %s", name.sysname, name.release);
  sl_json_append_text (json, "kernel", kernel);
  append_board (json, root != NULL ? root : "/sys");
  append_processors (json);
  append_features (json);
  sl_json_append_text (json, "normaliser", sl_normalizer_cpu ());
  append_cores (json, root);
  sl_json_append_count (
    json, "memory_mb", (guint64) sysconf (_SC_PHYS_PAGES) * (guint64) sysconf (_SC_PAGESIZE) >> 20);
  if (measured) {
    append_memory (json, g_get_num_processors ());
    append_peak (json);
  }
  g_string_append_c (json, '}');
}
