/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From keys to a description: groups are told apart, parameters resolved, then every other value
 * substituted and read. Later keys win; each is looked at all the same, so that a mistake in an
 * overridden key is still an error.
 */
#include "pipelines/description/description.h"

#include <string.h>

#include "core/base/printable.h"
#include "core/base/fail.h"
#include "predict/need.h"
#include "pipelines/description/key_text.h"
#include "pipelines/description/parameters.h"
#include "pipelines/description/sources.h"
#include "pipelines/description/substitute.h"
#include "core/base/suggest.h"
#include "pipelines/description/typed_values.h"

#define SUFFIX ".pipeline"
#define ELEMENT_PREFIX "element "
#define MAX_OVERRIDES 4096
/* What GStreamer does of each takes time by their number. */
#define MAX_ELEMENTS 1000
#define MAX_LAUNCH 262144
#define DEFAULT_BACKOFF_MIN 500
#define DEFAULT_BACKOFF_MAX 30000
#define DEFAULT_WATCHDOG 10000
#define DEFAULT_START_TIMEOUT 30000
#define BUDGET_GROUP "budget"
#define BUDGET_PREFIX "budget "
#define HTTP_GROUP "http"
#define RECORD_GROUP "record"
#define REDACT_GROUP "redact"
#define PUBLISH_GROUP "publish"
#define NOTIFY_GROUP "notify"
#define PUSH_GROUP "push"
#define GALLERY_GROUP "gallery"
#define SEARCH_GROUP "search"
#define DEFAULT_HTTP_STALL 2000
#define DEFAULT_HTTP_RATE 10
#define DEFAULT_HTTP_WIDTH 640
#define DEFAULT_HTTP_VIEWERS 4

static const char *const restart_names[] = { "no", "on-failure", "always" };

const char *
sl_restart_name (SlRestart restart)
{
  return restart_names[restart];
}

static gboolean
take_text (SlDescription *self, gpointer slot, const SlKeyEntry *entry, const char *value,
           GError **error)
{
  char **text = slot;
  if (value[0] == '\0')
    return sl_key_fail (entry, error, "expected a value, got ''");
  g_free (*text);
  *text = g_strdup (value);
  return TRUE;
}

static gboolean
take_launch (SlDescription *self, gpointer slot, const SlKeyEntry *entry, const char *value,
             GError **error)
{
  if (strlen (value) > MAX_LAUNCH)
    return sl_key_fail (entry, error, "expected at most %d bytes, got %" G_GSIZE_FORMAT, MAX_LAUNCH,
                        strlen (value));
  if (sl_launch_count (value) > MAX_ELEMENTS)
    return sl_key_fail (entry, error,
                        "more than %d elements, caps among them; expected several descriptions",
                        MAX_ELEMENTS);
  g_clear_pointer (&self->launch_file, g_ref_string_release);
  self->launch_file = g_ref_string_acquire (entry->file);
  self->launch_line = entry->line;
  return take_text (self, slot, entry, value, error);
}

static gboolean
take_restart (SlDescription *self, gpointer slot, const SlKeyEntry *entry, const char *value,
              GError **error)
{
  guint restart = 0;
  if (!sl_value_choice (entry, value, restart_names, G_N_ELEMENTS (restart_names), &restart, error))
    return FALSE;
  self->restart = (SlRestart) restart;
  return TRUE;
}

static gboolean
take_privacy (SlDescription *self, gpointer slot, const SlKeyEntry *entry, const char *value,
              GError **error)
{
  static const char *const names[] = { "off", "strict" };
  guint chosen = 0;
  if (!sl_value_choice (entry, value, names, G_N_ELEMENTS (names), &chosen, error))
    return FALSE;
  self->privacy_strict = chosen == 1;
  return TRUE;
}

static gboolean
take_time (SlDescription *self, gpointer slot, const SlKeyEntry *entry, const char *value,
           GError **error)
{
  return sl_value_time (entry, value, slot, error);
}

/* A pipeline that may go without a frame for no time is never well. */
static gboolean
take_stall (SlDescription *self, gpointer slot, const SlKeyEntry *entry, const char *value,
            GError **error)
{
  guint ms;
  if (!sl_value_time (entry, value, &ms, error))
    return FALSE;
  if (ms == 0)
    return sl_key_fail (entry, error, "expected a time longer than 0, such as 2s, got '%s'", value);
  *(guint *) slot = ms;
  return TRUE;
}

static gboolean
take_whole (const SlKeyEntry *entry, const char *value, guint least, guint most, guint *whole,
            GError **error)
{
  guint64 number;
  if (!g_ascii_string_to_unsigned (value, 10, least, most, &number, NULL))
    return sl_key_fail (entry, error, "expected a whole number from %u to %u, got '%s'", least,
                        most, value);
  *whole = (guint) number;
  return TRUE;
}

static gboolean
take_number (const SlKeyEntry *entry, const char *value, gdouble least, gdouble most,
             gdouble *number, GError **error)
{
  if (sl_value_number (value, number) && *number >= least && *number <= most)
    return TRUE;
  return sl_key_fail (entry, error, "expected a number from %g to %g, got '%s'", least, most,
                      value);
}

static gboolean
take_rate (SlDescription *self, gpointer slot, const SlKeyEntry *entry, const char *value,
           GError **error)
{
  return take_number (entry, value, 0.1, 60, slot, error);
}

static gboolean
take_cores (SlDescription *self, gpointer slot, const SlKeyEntry *entry, const char *value,
            GError **error)
{
  return take_number (entry, value, 0.1, 1024, slot, error);
}

static gboolean
take_promise (SlDescription *self, gpointer slot, const SlKeyEntry *entry, const char *value,
              GError **error)
{
  return take_number (entry, value, 0.01, 1000, &self->promise->rate, error);
}

static gboolean
take_priority (SlDescription *self, gpointer slot, const SlKeyEntry *entry, const char *value,
               GError **error)
{
  return take_whole (entry, value, 1, 10, &self->promise->priority, error);
}

static gboolean
take_need (SlDescription *self, gpointer slot, const SlKeyEntry *entry, const char *value,
           GError **error)
{
  SlNeedKind kind;
  const char *zone;
  if (!sl_need_parse (value, &kind, &zone))
    return sl_key_fail (entry, error, "expected " SL_NEED_EXPECTED ", got '%s'", value);
  return take_text (self, &self->promise->need, entry, value, error);
}

static gboolean
take_width (SlDescription *self, gpointer slot, const SlKeyEntry *entry, const char *value,
            GError **error)
{
  return take_whole (entry, value, 64, 3840, slot, error);
}

static gboolean
take_viewers (SlDescription *self, gpointer slot, const SlKeyEntry *entry, const char *value,
              GError **error)
{
  return take_whole (entry, value, 1, 64, slot, error);
}

static gboolean
take_role (SlDescription *self, gpointer slot, const SlKeyEntry *entry, const char *value,
           GError **error)
{
  static const char *const roles[] = { "look", "review", "configure" };
  guint role = 0;
  return sl_value_choice (entry, value, roles, G_N_ELEMENTS (roles), &role, error)
         && take_text (self, slot, entry, roles[role], error);
}

typedef struct
{
  const char *key;
  gsize offset;
  gboolean launch; /* values are escaped for gst-launch */
  gboolean (*take) (SlDescription *, gpointer, const SlKeyEntry *, const char *, GError **);
} Key;

/* The keys of [pipeline], but for include, which sources.c has taken. */
static const Key pipeline_keys[] = {
  { "name", G_STRUCT_OFFSET (SlDescription, name), FALSE, take_text },
  { "description", G_STRUCT_OFFSET (SlDescription, description), FALSE, take_text },
  { "launch", G_STRUCT_OFFSET (SlDescription, launch), TRUE, take_launch },
  { "restart", 0, FALSE, take_restart },
  { "backoff-min", G_STRUCT_OFFSET (SlDescription, backoff_min), FALSE, take_time },
  { "backoff-max", G_STRUCT_OFFSET (SlDescription, backoff_max), FALSE, take_time },
  { "watchdog", G_STRUCT_OFFSET (SlDescription, watchdog), FALSE, take_time },
  { "start-timeout", G_STRUCT_OFFSET (SlDescription, start_timeout), FALSE, take_time },
  { "black-box", G_STRUCT_OFFSET (SlDescription, black_box), FALSE, take_text },
  { "state", G_STRUCT_OFFSET (SlDescription, state), FALSE, take_text },
  { "privacy", 0, FALSE, take_privacy },
};

/* The keys of [budget NAME], and of [budget], which also has the last one. */
static const Key budget_keys[] = {
  { "rate", 0, FALSE, take_promise },
  { "priority", 0, FALSE, take_priority },
  { "need", 0, FALSE, take_need },
  { "cores", G_STRUCT_OFFSET (SlDescription, cores), FALSE, take_cores },
};

#define HTTP(member) G_STRUCT_OFFSET (SlDescription, http.member)

static const Key http_keys[] = {
  { "listen", HTTP (listen), FALSE, take_text },
  { "password-file", HTTP (password_file), FALSE, take_text },
  { "certificate", HTTP (certificate), FALSE, take_text },
  { "private-key", HTTP (private_key), FALSE, take_text },
  { "users", HTTP (users), FALSE, take_text },
  { "role", HTTP (role), FALSE, take_role },
  { "audit", HTTP (audit), FALSE, take_text },
  { "proxy", HTTP (proxy), FALSE, take_text },
  { "stall", HTTP (stall), FALSE, take_stall },
  { "frame-rate", HTTP (frame_rate), FALSE, take_rate },
  { "width", HTTP (width), FALSE, take_width },
  { "viewers", HTTP (viewers), FALSE, take_viewers },
};

/* @first: (nullable): a key that is known beside @keys. */
static gboolean
take_key (SlDescription *self, SlParameterSet *set, const Key *keys, guint n, const char *first,
          const SlKeyEntry *entry, GError **error)
{
  g_autoptr (GPtrArray) known = g_ptr_array_new ();
  if (first != NULL)
    g_ptr_array_add (known, (gpointer) first);
  for (guint i = 0; i < n; i++) {
    g_ptr_array_add (known, (gpointer) keys[i].key);
    if (strcmp (entry->key, keys[i].key) != 0)
      continue;
    g_autofree char *value =
      sl_substitute (entry->value, keys[i].launch, sl_parameter_set_lookup, set, error);
    if (value == NULL)
      return sl_key_prefix (entry, error);
    return keys[i].take (self, G_STRUCT_MEMBER_P (self, keys[i].offset), entry, value, error);
  }
  g_autofree char *hint =
    sl_suggest_text (entry->key, (const char *const *) known->pdata, known->len);
  return sl_key_fail (entry, error, "unknown key%s", hint);
}

static gboolean
take_http_key (SlDescription *self, SlParameterSet *set, const SlKeyEntry *entry, GError **error)
{
  g_clear_pointer (&self->http.file, g_ref_string_release);
  self->http.file = g_ref_string_acquire (entry->file);
  self->http.line = entry->line;
  return take_key (self, set, http_keys, G_N_ELEMENTS (http_keys), NULL, entry, error);
}

/* The last place of the group is told. */
static gboolean
take_budget (SlDescription *self, SlParameterSet *set, const char *element, const SlKeyEntry *entry,
             GError **error)
{
  self->promise = NULL;
  for (guint i = 0; i < self->promises->len && self->promise == NULL; i++)
    if (strcmp (g_array_index (self->promises, SlPromise, i).element, element) == 0)
      self->promise = &g_array_index (self->promises, SlPromise, i);
  if (self->promise == NULL) {
    const SlPromise made = { .element = g_strdup (element) };
    g_array_append_val (self->promises, made);
    self->promise = &g_array_index (self->promises, SlPromise, self->promises->len - 1);
  }
  g_clear_pointer (&self->promise->file, g_ref_string_release);
  self->promise->file = g_ref_string_acquire (entry->file);
  self->promise->line = entry->line;
  return *entry->key == '\0'
         || take_key (self, set, budget_keys, G_N_ELEMENTS (budget_keys) - (*element != '\0'), NULL,
                      entry, error);
}

static void
promise_clear (gpointer data)
{
  SlPromise *promise = data;
  g_free (promise->element);
  g_free (promise->need);
  g_clear_pointer (&promise->file, g_ref_string_release);
}

void
sl_http_settings_copy (SlHttpSettings *to, const SlHttpSettings *from)
{
  *to = *from;
  to->listen = g_strdup (from->listen);
  to->password_file = g_strdup (from->password_file);
  to->certificate = g_strdup (from->certificate);
  to->private_key = g_strdup (from->private_key);
  to->users = g_strdup (from->users);
  to->role = g_strdup (from->role);
  to->audit = g_strdup (from->audit);
  to->proxy = g_strdup (from->proxy);
  to->file = from->file != NULL ? g_ref_string_acquire (from->file) : NULL;
}

void
sl_http_settings_clear (SlHttpSettings *settings)
{
  g_clear_pointer (&settings->listen, g_free);
  g_clear_pointer (&settings->password_file, g_free);
  g_clear_pointer (&settings->certificate, g_free);
  g_clear_pointer (&settings->private_key, g_free);
  g_clear_pointer (&settings->users, g_free);
  g_clear_pointer (&settings->role, g_free);
  g_clear_pointer (&settings->audit, g_free);
  g_clear_pointer (&settings->proxy, g_free);
  g_clear_pointer (&settings->file, g_ref_string_release);
}

static void
override_clear (gpointer data)
{
  SlElementOverride *override = data;
  g_free (override->element);
  g_free (override->property);
  g_free (override->value);
  g_clear_pointer (&override->file, g_ref_string_release);
}

static SlElementOverride *
find_override (SlDescription *self, const char *element, const char *property)
{
  for (guint i = 0; i < self->overrides->len; i++) {
    SlElementOverride *override = &g_array_index (self->overrides, SlElementOverride, i);
    if (strcmp (override->element, element) == 0 && strcmp (override->property, property) == 0)
      return override;
  }
  SlElementOverride empty = { 0 };
  g_array_append_val (self->overrides, empty);
  return &g_array_index (self->overrides, SlElementOverride, self->overrides->len - 1);
}

static gboolean
take_override (SlDescription *self, SlParameterSet *set, const char *element,
               const SlKeyEntry *entry, GError **error)
{
  g_autofree char *value = sl_substitute (entry->value, FALSE, sl_parameter_set_lookup, set, error);
  if (value == NULL)
    return sl_key_prefix (entry, error);
  if (self->overrides->len >= MAX_OVERRIDES)
    return sl_key_fail (entry, error, "more than %d properties of elements", MAX_OVERRIDES);
  SlElementOverride *override = find_override (self, element, entry->key);
  override_clear (override);
  *override =
    (SlElementOverride){ g_strdup (element), g_strdup (entry->key), g_steal_pointer (&value),
                         g_ref_string_acquire (entry->file), entry->line };
  return TRUE;
}

/* Each key is checked by itself; all of them together in complete(). */
static gboolean
take_region (SlDescription *self, SlParameterSet *set, const SlKeyEntry *entry, GError **error)
{
  if (*entry->key == '\0') {
    if (sl_regions_open (self->region_set, entry->group, error))
      return TRUE;
    return sl_fail_prefix (error, "%s:%u: ", entry->file, entry->line);
  }
  g_autofree char *value = sl_substitute (entry->value, FALSE, sl_parameter_set_lookup, set, error);
  if (value == NULL || !sl_regions_set (self->region_set, entry->group, entry->key, value, error))
    return sl_key_prefix (entry, error);
  if (strpbrk (value, ";\n") != NULL)
    return sl_key_fail (entry, error, "expected a value without ';', got '%s'", value);
  if (self->regions == NULL) {
    self->regions_file = g_ref_string_acquire (entry->file);
    self->regions_line = entry->line;
  }
  g_autofree char *before = g_steal_pointer (&self->regions);
  self->regions = g_strdup_printf ("%s[%s] %s=%s\n", before != NULL ? before : "", entry->group,
                                   entry->key, value);
  return TRUE;
}

static gboolean
is_named_group (const SlKeyEntry *entry, const char *prefix)
{
  return g_str_has_prefix (entry->group, prefix) && entry->group[strlen (prefix)] != '\0';
}

/* In the order in which messages list them. */
static const char *const groups[] = {
  SL_PIPELINE_GROUP, SL_PARAMETERS_GROUP, HTTP_GROUP,   RECORD_GROUP, REDACT_GROUP,  PUBLISH_GROUP,
  NOTIFY_GROUP,      PUSH_GROUP,          BUDGET_GROUP, SEARCH_GROUP, GALLERY_GROUP, "budget NAME",
  "parameter NAME",  "element NAME",      "zone NAME",  "line NAME",  "mask NAME"
};

/* "; expected [a], [b] or [c]" */
static void
list_groups (GString *hint)
{
  for (guint i = 0; i < G_N_ELEMENTS (groups); i++)
    g_string_append_printf (hint, "%s[%s]",
                            i == 0                          ? "; expected "
                            : i + 1 < G_N_ELEMENTS (groups) ? ", "
                                                            : " or ",
                            groups[i]);
}

static gboolean
unknown_group (const SlKeyEntry *entry, GError **error)
{
  const gboolean named = strchr (entry->group, ' ') != NULL;
  g_autofree char *word = g_strndup (entry->group, strcspn (entry->group, " "));
  g_autoptr (GString) hint = g_string_new (NULL);
  char *words[G_N_ELEMENTS (groups)] = { NULL };
  for (guint i = 0; i < G_N_ELEMENTS (groups); i++)
    if (g_str_has_suffix (groups[i], " NAME") == named)
      words[i] = g_strndup (groups[i], strcspn (groups[i], " "));
  const char *near = sl_suggest (word, (const char *const *) words, G_N_ELEMENTS (groups));
  for (guint i = 0; i < G_N_ELEMENTS (groups); i++) {
    if (near != NULL && near == words[i])
      g_string_printf (hint, "; did you mean [%s]?", groups[i]);
    g_free (words[i]);
  }
  if (near == NULL)
    list_groups (hint);
  return sl_key_fail (entry, error, "unknown group%s", hint->str);
}

/* First pass: what declares parameters; second pass: the rest, which may use them. */
static gboolean
take_entry (SlDescription *self, SlParameterSet *set, const SlKeyEntry *entry, gboolean second,
            GError **error)
{
  if (sl_regions_is_group (entry->group))
    return !second || take_region (self, set, entry, error);
  if (strcmp (entry->group, RECORD_GROUP) == 0)
    return !second || take_override (self, set, SL_RECORDER, entry, error);
  if (strcmp (entry->group, REDACT_GROUP) == 0)
    return !second || take_override (self, set, SL_REDACTOR, entry, error);
  if (strcmp (entry->group, PUBLISH_GROUP) == 0)
    return !second || take_override (self, set, SL_RESTREAMER, entry, error);
  if (strcmp (entry->group, NOTIFY_GROUP) == 0)
    return !second || take_override (self, set, SL_NOTIFIER, entry, error);
  if (strcmp (entry->group, BUDGET_GROUP) == 0)
    return !second || take_budget (self, set, "", entry, error);
  if (is_named_group (entry, BUDGET_PREFIX))
    return !second || take_budget (self, set, entry->group + strlen (BUDGET_PREFIX), entry, error);
  if (strcmp (entry->group, SEARCH_GROUP) == 0)
    return !second || take_override (self, set, SL_SEARCHER, entry, error);
  if (strcmp (entry->group, GALLERY_GROUP) == 0)
    return !second || take_override (self, set, SL_GALLERIST, entry, error);
  if (strcmp (entry->group, PUSH_GROUP) == 0)
    return !second || take_override (self, set, SL_PUSHER, entry, error);
  if (*entry->key == '\0')
    return TRUE;
  if (strcmp (entry->group, SL_PARAMETERS_GROUP) == 0)
    return second || sl_parameter_set_default (set, entry, error);
  if (is_named_group (entry, SL_PARAMETER_PREFIX))
    return second
           || sl_parameter_set_detail (set, entry->group + strlen (SL_PARAMETER_PREFIX), entry,
                                       error);
  if (strcmp (entry->group, SL_PIPELINE_GROUP) == 0)
    return !second
           || take_key (self, set, pipeline_keys, G_N_ELEMENTS (pipeline_keys), SL_INCLUDE_KEY,
                        entry, error);
  if (is_named_group (entry, ELEMENT_PREFIX))
    return !second
           || take_override (self, set, entry->group + strlen (ELEMENT_PREFIX), entry, error);
  if (strcmp (entry->group, HTTP_GROUP) == 0)
    return !second || take_http_key (self, set, entry, error);
  return unknown_group (entry, error);
}

static char *
default_name (const char *path)
{
  char *name = g_path_get_basename (path);
  if (g_str_has_suffix (name, SUFFIX) && strlen (name) > strlen (SUFFIX))
    name[strlen (name) - strlen (SUFFIX)] = '\0';
  return name;
}

/* What is wrong with a region is told at its points, or where it begins. */
static gboolean
check_regions (const SlDescription *self, const GArray *entries, GError **error)
{
  const SlRegion *fault = sl_regions_find_fault (self->region_set, error);
  const SlKeyEntry *place = NULL;
  for (guint i = 0; fault != NULL && i < entries->len; i++) {
    const SlKeyEntry *entry = &g_array_index (entries, SlKeyEntry, i);
    if (sl_region_is_of (fault, entry->group)
        && (place == NULL || strcmp (entry->key, "points") == 0))
      place = entry;
  }
  if (place != NULL)
    g_prefix_error (error, "%s:%u: ", place->file, place->line);
  return fault == NULL;
}

/* Nothing is stored that no rule erases. */
static gboolean
check_gallery (const SlDescription *self, GError **error)
{
  static const char *const needed[][2] = {
    { "keep", "nothing is stored that no rule erases; expected a time such as keep=7d" },
    { "location", "expected the file of the gallery, such as location=people.gallery" }
  };
  const SlElementOverride *first = NULL;
  for (guint i = 0; i < self->overrides->len && first == NULL; i++) {
    const SlElementOverride *override = &g_array_index (self->overrides, SlElementOverride, i);
    first = strcmp (override->element, SL_GALLERIST) == 0 ? override : NULL;
  }
  for (guint i = 0; i < G_N_ELEMENTS (needed) && first != NULL; i++)
    if (sl_description_setting (self, SL_GALLERIST, needed[i][0]) == NULL)
      return sl_fail (error, SL_ERROR_FORMAT, "%s:%u: [" GALLERY_GROUP "] %s: missing; %s",
                      first->file, first->line, needed[i][0], needed[i][1]);
  return TRUE;
}

static gboolean
complete (SlDescription *self, const GArray *entries, GError **error)
{
  if (self->launch == NULL)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "%s: [pipeline] launch: missing; expected launch=SOURCE ! ... ! SINK",
                    self->path);
  if (self->backoff_min > self->backoff_max)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "%s: [pipeline] backoff-min: %u ms is more than backoff-max, %u ms", self->path,
                    self->backoff_min, self->backoff_max);
  if (self->name == NULL)
    self->name = default_name (self->path);
  return check_gallery (self, error) && check_regions (self, entries, error);
}

static gboolean
interpret (SlDescription *self, GArray *entries, GHashTable *parameters, GError **error)
{
  g_autoptr (SlParameterSet) set = sl_parameter_set_new ();
  for (guint i = 0; i < entries->len; i++)
    if (!take_entry (self, set, &g_array_index (entries, SlKeyEntry, i), FALSE, error))
      return FALSE;
  if (!sl_parameter_set_resolve (set, parameters, self->path, error))
    return FALSE;
  for (guint i = 0; i < entries->len; i++)
    if (!take_entry (self, set, &g_array_index (entries, SlKeyEntry, i), TRUE, error))
      return FALSE;
  self->parameters = sl_parameter_set_steal (set);
  return complete (self, entries, error);
}

static SlDescription *
description_new (const char *path)
{
  SlDescription *self = g_new0 (SlDescription, 1);
  self->path = g_strdup (path);
  self->backoff_min = DEFAULT_BACKOFF_MIN;
  self->backoff_max = DEFAULT_BACKOFF_MAX;
  self->watchdog = DEFAULT_WATCHDOG;
  self->start_timeout = DEFAULT_START_TIMEOUT;
  self->http = (SlHttpSettings){ .stall = DEFAULT_HTTP_STALL,
                                 .frame_rate = DEFAULT_HTTP_RATE,
                                 .width = DEFAULT_HTTP_WIDTH,
                                 .viewers = DEFAULT_HTTP_VIEWERS };
  self->overrides = g_array_new (FALSE, TRUE, sizeof (SlElementOverride));
  g_array_set_clear_func (self->overrides, override_clear);
  self->promises = g_array_new (FALSE, TRUE, sizeof (SlPromise));
  g_array_set_clear_func (self->promises, promise_clear);
  self->files = g_ptr_array_new_with_free_func (g_free);
  self->region_set = sl_regions_new ();
  return self;
}

SlDescription *
sl_description_load (const char *path, GHashTable *parameters, GError **error)
{
  return sl_description_load_texts (path, parameters, NULL, error);
}

SlDescription *
sl_description_load_texts (const char *path, GHashTable *parameters, GHashTable *texts,
                           GError **error)
{
  g_autoptr (SlDescription) self = description_new (path);
  g_autoptr (GArray) entries = sl_key_entries_new ();
  if (sl_sources_load (path, texts, entries, self->files, error)
      && interpret (self, entries, parameters, error))
    return g_steal_pointer (&self);
  sl_printable_error (error);
  return NULL;
}

SlDescription *
sl_description_new_from_string (const char *text, gssize length, const char *path,
                                GHashTable *parameters, GError **error)
{
  g_autoptr (SlDescription) self = description_new (path);
  g_autoptr (GArray) entries = sl_key_entries_new ();
  if (sl_sources_parse (text, length < 0 ? strlen (text) : (gsize) length, path, entries,
                        self->files, error)
      && interpret (self, entries, parameters, error))
    return g_steal_pointer (&self);
  sl_printable_error (error);
  return NULL;
}

GHashTable *
sl_description_declared (const char *path, GError **error)
{
  g_autoptr (GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GArray) entries = sl_key_entries_new ();
  if (!sl_sources_load (path, NULL, entries, files, error))
    return NULL;
  for (guint i = 0; i < entries->len; i++) {
    const SlKeyEntry *entry = &g_array_index (entries, SlKeyEntry, i);
    if (strcmp (entry->group, SL_PARAMETERS_GROUP) == 0 && *entry->key != '\0')
      g_hash_table_add (names, g_strdup (entry->key));
    else if (is_named_group (entry, SL_PARAMETER_PREFIX))
      g_hash_table_add (names, g_strdup (entry->group + strlen (SL_PARAMETER_PREFIX)));
  }
  return g_steal_pointer (&names);
}

void
sl_description_free (SlDescription *description)
{
  g_free (description->path);
  g_free (description->name);
  g_free (description->description);
  g_free (description->launch);
  g_free (description->black_box);
  g_free (description->state);
  g_clear_pointer (&description->launch_file, g_ref_string_release);
  sl_regions_free (description->region_set);
  g_free (description->regions);
  g_clear_pointer (&description->regions_file, g_ref_string_release);
  g_clear_pointer (&description->parameters, g_array_unref);
  g_array_unref (description->overrides);
  g_array_unref (description->promises);
  sl_http_settings_clear (&description->http);
  g_ptr_array_unref (description->files);
  g_free (description);
}

const char *
sl_description_setting (const SlDescription *self, const char *group, const char *key)
{
  for (guint i = 0; i < self->overrides->len; i++) {
    const SlElementOverride *override = &g_array_index (self->overrides, SlElementOverride, i);
    if (strcmp (override->element, group) == 0 && strcmp (override->property, key) == 0)
      return override->value;
  }
  return NULL;
}

const SlParameter *
sl_description_find (const SlDescription *description, const char *name)
{
  for (guint i = 0; i < description->parameters->len; i++) {
    const SlParameter *parameter = &g_array_index (description->parameters, SlParameter, i);
    if (strcmp (parameter->name, name) == 0)
      return parameter;
  }
  return NULL;
}
