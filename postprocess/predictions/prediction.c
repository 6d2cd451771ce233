/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes predictions as JSON and text, once for each frame that is printed. The output is valid
 * JSON and UTF-8, whatever bytes labels and sources hold. It does not depend on the locale.
 */
#include "postprocess/predictions/prediction.h"

#include <string.h>

#include "core/base/printable.h"
#include "core/base/json.h"
#include "core/base/utc.h"
#include "postprocess/predictions/outputs.h"

#define DIGITS 6

/* As JSON strings, but bare: characters that would break a line or command a terminal become
 * spaces. */
static void
append_plain (GString *out, const char *text)
{
  while (*text != '\0') {
    gunichar c = sl_utf8_next (&text);
    g_string_append_unichar (out, sl_is_plain (c) ? c : ' ');
  }
}

static void
append_double (GString *out, double value)
{
  sl_json_append_double (out, value, DIGITS);
}

static void
append_field (GString *out, const char *key, double value)
{
  sl_json_append_number (out, key, value, DIGITS);
}

static void
append_points (GString *out, const SlObjectView *object, const SlSkeleton *common)
{
  const SlSkeleton *skeleton = sl_object_skeleton (object, common);
  g_string_append (out, ",\"keypoints\":[");
  for (guint i = 0; i < object->n_points; i++) {
    const SlPoint *point = &object->points[i];
    g_string_append (out, i > 0 ? ",{" : "{");
    sl_json_append_text (out, "name", skeleton != NULL ? skeleton->names[i] : NULL);
    append_field (out, "x", point->x);
    append_field (out, "y", point->y);
    append_field (out, "confidence", point->confidence);
    g_string_append_c (out, '}');
  }
  g_string_append_c (out, ']');
}

/* Lengths of runs, outside and inside in turn, beginning with outside. */
static void
append_object_mask (GString *out, const SlObjectMask *mask)
{
  const gsize n = (gsize) mask->width * mask->height;
  gboolean inside = FALSE;
  sl_json_append_printf (out, ",\"mask\":{\"width\":%u,\"height\":%u,\"runs\":[", mask->width,
                         mask->height);
  for (gsize start = 0, end = 0; start < n; start = end, inside = !inside) {
    while (end < n && (mask->cells[end] >= SL_OBJECT_CELL) == inside)
      end++;
    sl_json_append_printf (out, "%s%" G_GSIZE_FORMAT, start > 0 || inside ? "," : "", end - start);
  }
  g_string_append (out, "]}");
}

static void
append_label (GString *out, const SlLabelled *label)
{
  g_string_append_c (out, '{');
  sl_json_append_text (out, "label", label->label);
  sl_json_append_printf (out, ",\"label_id\":%d", label->label_id);
  append_field (out, "confidence", label->confidence);
  if (label->model != NULL) {
    sl_json_append_text (out, "model", label->model);
  }
  g_string_append_c (out, '}');
}

static void
append_labels (GString *out, const SlLabelled *labels, guint n)
{
  g_string_append (out, ",\"labels\":[");
  for (guint i = 0; i < n; i++) {
    if (i > 0)
      g_string_append_c (out, ',');
    append_label (out, &labels[i]);
  }
  g_string_append_c (out, ']');
}

/* The next object from @at on that was found inside @parent (1 + its place, 0 = the frame);
 * n_objects when there is none. */
static guint
next_inside (const SlPredictionView *prediction, guint parent, guint at)
{
  while (at < prediction->n_objects && prediction->objects[at].parent != parent)
    at++;
  return at;
}

/* Whether a further model found objects inside of some. */
static gboolean
is_nested (const SlPredictionView *prediction)
{
  for (guint i = 0; i < prediction->n_objects; i++)
    if (prediction->objects[i].parent > 0)
      return TRUE;
  return FALSE;
}

/* Bytes that are no text are Base64. */
static void
append_code (GString *out, const SlObjectView *object)
{
  const SlCodeView *code = object->code;
  g_string_append (out, ",\"code\":{\"symbology\":");
  sl_json_append_string (out, code->symbology);
  sl_json_append_text (out, "text", code->text);
  if (code->text == NULL) {
    g_autofree char *base64 = g_base64_encode (code->bytes, code->n_bytes);
    sl_json_append_text (out, "base64", base64);
  }
  if (code->add_on != NULL) {
    sl_json_append_text (out, "add_on", code->add_on);
  }
  sl_json_append_boolean (out, "checked", code->is_checked);
  sl_json_append_printf (out, ",\"quality\":%d,\"corners\":[", code->quality);
  for (guint i = 0; i < 4; i++) {
    g_string_append (out, i > 0 ? ",{" : "{");
    append_field (out, "x", object->x_min + code->corners[i][0] * (object->x_max - object->x_min));
    append_field (out, "y", object->y_min + code->corners[i][1] * (object->y_max - object->y_min));
    g_string_append_c (out, '}');
  }
  g_string_append (out, "]}");
}

static void
append_character (GString *out, gunichar c)
{
  char text[8] = "";
  text[g_unichar_to_utf8 (c, text)] = '\0';
  sl_json_append_string (out, text);
}

static void
append_text (GString *out, const SlTextView *text)
{
  g_string_append (out, ",\"text\":{\"text\":");
  sl_json_append_string (out, text->text);
  append_field (out, "confidence", text->confidence);
  sl_json_append_printf (out, ",\"votes\":%u", text->votes);
  sl_json_append_text (out, "format", text->format);
  sl_json_append_key (out, "characters");
  for (guint i = 0; i < text->n; i++) {
    const SlTextCharacter *character = &text->characters[i];
    g_string_append (out, i > 0 ? ",{\"character\":" : "[{\"character\":");
    append_character (out, character->character);
    append_field (out, "confidence", character->confidence);
    if (character->read != 0) {
      sl_json_append_key (out, "read");
      append_character (out, character->read);
    }
    g_string_append_c (out, '}');
  }
  g_string_append_c (out, ']');
  g_string_append_c (out, '}');
}

static void
append_identity (GString *out, const SlObjectView *object)
{
  const char *at = object->identity_cameras != NULL ? object->identity_cameras : "";
  sl_json_append_printf (out, ",\"identity\":{\"id\":%" G_GINT64_FORMAT, object->identity);
  append_field (out, "confidence", object->identity_confidence);
  if (object->identity_name != NULL)
    sl_json_append_text (out, "name", object->identity_name);
  g_string_append (out, ",\"cameras\":[");
  while (*at != '\0') {
    const gsize n = strcspn (at, ",");
    g_autofree char *name = g_strndup (at, n);
    sl_json_append_string (out, name);
    at += n;
    if (*at == ',') {
      g_string_append_c (out, ',');
      at++;
    }
  }
  g_string_append (out, "]}");
}

static void
append_object (GString *out, const SlObjectView *object, const SlSkeleton *skeleton)
{
  sl_json_append_printf (out, "{\"x\":%d,\"y\":%d,\"w\":%d,\"h\":%d,\"roi_type\":", object->x,
                         object->y, object->w, object->h);
  sl_json_append_string (out, object->label);
  if (object->object_id > 0)
    sl_json_append_printf (out, ",\"id\":%d", object->object_id);
  if (object->identity > 0)
    append_identity (out, object);
  g_string_append (out, ",\"detection\":{\"bounding_box\":{");
  append_field (out, "x_min", object->x_min);
  append_field (out, "x_max", object->x_max);
  append_field (out, "y_min", object->y_min);
  append_field (out, "y_max", object->y_max);
  g_string_append_c (out, '}');
  append_field (out, "confidence", object->confidence);
  sl_json_append_text (out, "label", object->label);
  sl_json_append_printf (out, ",\"label_id\":%d}", object->label_id);
  if (object->n_points > 0)
    append_points (out, object, skeleton);
  if (object->mask.width > 0)
    append_object_mask (out, &object->mask);
  if (object->n_labels > 0)
    append_labels (out, object->labels, object->n_labels);
  if (object->code != NULL)
    append_code (out, object);
  if (object->text != NULL)
    append_text (out, object->text);
}

/* Objects inside @parent (1 + its place, 0 = the frame). Those inside an object come behind it in
 * the list, so this ends. */
static void
append_objects (GString *out, const SlPredictionView *prediction, guint parent, gboolean nested)
{
  gboolean first = TRUE;
  g_string_append_c (out, '[');
  for (guint i = next_inside (prediction, parent, parent); i < prediction->n_objects;
       i = next_inside (prediction, parent, i + 1)) {
    if (!first)
      g_string_append_c (out, ',');
    first = FALSE;
    append_object (out, &prediction->objects[i], prediction->skeleton);
    if (nested && next_inside (prediction, i + 1, i + 1) < prediction->n_objects) {
      sl_json_append_key (out, "objects");
      append_objects (out, prediction, i + 1, nested);
    }
    g_string_append_c (out, '}');
  }
  g_string_append_c (out, ']');
}

/* Runs of equal cells, row after row: class, length, class, length, ... */
static void
append_runs (GString *out, const SlClassMask *mask)
{
  const gsize n = (gsize) mask->width * mask->height;
  for (gsize start = 0, end; start < n; start = end) {
    for (end = start + 1; end < n && mask->classes[end] == mask->classes[start];)
      end++;
    sl_json_append_printf (out, "%s%u,%" G_GSIZE_FORMAT, start > 0 ? "," : "", mask->classes[start],
                           end - start);
  }
}

static void
append_mask (GString *out, const SlPredictionView *prediction)
{
  sl_json_append_printf (out, ",\"mask\":{\"width\":%u,\"height\":%u,\"classes\":[",
                         prediction->mask.width, prediction->mask.height);
  for (guint i = 0; i < prediction->n_mask_classes; i++) {
    const SlMaskClass *found = &prediction->mask_classes[i];
    g_string_append (out, i > 0 ? ",{" : "{");
    sl_json_append_text (out, "label", found->label);
    sl_json_append_printf (out, ",\"label_id\":%d", found->label_id);
    append_field (out, "fraction", found->fraction);
    g_string_append_c (out, '}');
  }
  g_string_append (out, "],\"runs\":[");
  append_runs (out, &prediction->mask);
  g_string_append (out, "]}");
}

/* Appends @words, one for each number. Appends nothing where there are no words. */
static void
append_vector_words (GString *out, const char *key, const char *const *words, guint n)
{
  if (words == NULL)
    return;
  sl_json_append_key (out, key);
  for (guint i = 0; i < n; i++) {
    g_string_append_c (out, i > 0 ? ',' : '[');
    sl_json_append_string (out, words[i]);
  }
  g_string_append_c (out, ']');
}

static void
append_vector (GString *out, const SlVector *vector)
{
  g_string_append (out, ",\"vector\":{");
  sl_json_append_text (out, "kind", vector->is_embedding ? "embedding" : "values");
  sl_json_append_key (out, "values");
  for (guint i = 0; i < vector->n; i++) {
    g_string_append_c (out, i > 0 ? ',' : '[');
    append_double (out, vector->values[i]);
  }
  g_string_append_c (out, ']');
  append_vector_words (out, "names", vector->names, vector->n);
  append_vector_words (out, "units", vector->units, vector->n);
  g_string_append_c (out, '}');
}

static void
append_latency (GString *out, const SlLatency *latency)
{
  const struct
  {
    const char *name;
    gint64 us;
  } times[] = { { "age", latency->age },
                { "preprocess", latency->preprocess },
                { "inference", latency->inference },
                { "decode", latency->decode } };
  g_string_append (out, ",\"latency\":");
  for (guint i = 0; i < G_N_ELEMENTS (times); i++) {
    sl_json_append_printf (out, "%c\"%s\":", i > 0 ? ',' : '{', times[i].name);
    if (times[i].us < 0)
      g_string_append (out, "null");
    else
      sl_json_append_printf (out, "%" G_GINT64_FORMAT, times[i].us);
  }
  g_string_append_c (out, '}');
}

void
sl_prediction_append_json (GString *out, const SlPredictionView *prediction)
{
  g_string_append_c (out, '{');
  sl_json_append_text (out, "source", prediction->source);
  sl_json_append_printf (out, ",\"frame\":%" G_GUINT64_FORMAT ",\"timestamp\":", prediction->frame);
  if (prediction->timestamp == G_MAXUINT64)
    g_string_append (out, "null");
  else
    sl_json_append_printf (out, "%" G_GUINT64_FORMAT, prediction->timestamp);
  sl_json_append_printf (out, ",\"resolution\":{\"width\":%d,\"height\":%d},\"objects\":",
                         prediction->width, prediction->height);
  append_objects (out, prediction, 0, is_nested (prediction));
  append_labels (out, prediction->labels, prediction->n_labels);
  if (prediction->mask.width > 0)
    append_mask (out, prediction);
  if (prediction->vector.n > 0)
    append_vector (out, &prediction->vector);
  if (prediction->outputs.n > 0) {
    sl_json_append_key (out, "outputs");
    sl_outputs_append_json (out, &prediction->outputs);
  }
  if (prediction->analysis != NULL) {
    sl_json_append_key (out, "analysis");
    sl_analysis_append_json (out, prediction->analysis);
  }
  if (prediction->utc > 0) {
    g_string_append (out, ",\"utc\":\"");
    sl_utc_append (out, prediction->utc);
    g_string_append_c (out, '"');
  }
  if (prediction->latency != NULL)
    append_latency (out, prediction->latency);
  if (prediction->worker != NULL) {
    sl_json_append_text (out, "worker", prediction->worker);
  }
  g_string_append_c (out, '}');
}

/* Classes of the mask, the largest first, without the background. */
static void
append_shares (GString *out, const SlPredictionView *prediction)
{
  for (guint i = 0; i < prediction->n_mask_classes; i++) {
    const SlMaskClass *found = &prediction->mask_classes[i];
    if (found->label_id == prediction->mask.background)
      continue;
    append_plain (out, found->label);
    g_string_append_c (out, ' ');
    append_double (out, found->fraction);
    g_string_append_c (out, '\n');
  }
}

/* An embedding as one line; else a line "name value unit" each, with the number's place where it
 * has no name. */
static void
append_numbers (GString *out, const SlVector *vector)
{
  for (guint i = 0; i < vector->n; i++) {
    if (vector->is_embedding) {
      g_string_append (out, i > 0 ? " " : "");
    } else if (vector->names != NULL) {
      append_plain (out, vector->names[i]);
      g_string_append_c (out, ' ');
    } else {
      sl_json_append_printf (out, "%u ", i);
    }
    append_double (out, vector->values[i]);
    if (!vector->is_embedding && vector->units != NULL) {
      g_string_append_c (out, ' ');
      append_plain (out, vector->units[i]);
    }
    if (!vector->is_embedding || i + 1 == vector->n)
      g_string_append_c (out, '\n');
  }
}

static void
append_words (GString *out, guint depth, const char *label, double confidence)
{
  sl_json_append_printf (out, "%*s", (int) (2 * depth), "");
  append_plain (out, label);
  g_string_append_c (out, ' ');
  append_double (out, confidence);
}

/* Bytes that are no text, from @first to before @end. */
static void
append_bytes (GString *out, const SlCodeView *code, gsize first, gsize end)
{
  for (gsize i = first; i < end; i++)
    if (g_ascii_isprint (code->bytes[i]) && code->bytes[i] != '\\')
      g_string_append_c (out, (char) code->bytes[i]);
    else
      sl_json_append_printf (out, "\\x%02x", code->bytes[i]);
}

void
sl_code_append_text (GString *out, const SlCodeView *code, gsize most)
{
  g_autofree char *shown = code->text != NULL ? sl_printable (code->text, most) : NULL;
  if (shown != NULL) {
    g_string_append (out, shown);
    return;
  }
  const gsize half = code->n_bytes > most ? most / 2 : code->n_bytes;
  append_bytes (out, code, 0, half);
  if (half < code->n_bytes) {
    g_string_append (out, "...");
    append_bytes (out, code, code->n_bytes - half, code->n_bytes);
  }
}

/* "symbology text", and the add-on behind it, in one line. */
static void
append_read (GString *out, guint depth, const SlCodeView *code)
{
  sl_json_append_printf (out, "%*s", (int) (2 * depth), "");
  append_plain (out, code->symbology);
  g_string_append_c (out, ' ');
  sl_code_append_text (out, code, SL_MAX_CODE_BYTES);
  if (code->add_on != NULL)
    sl_json_append_printf (out, " + %s", code->add_on);
  g_string_append_c (out, '\n');
}

/* "text confidence", and the format behind it. */
static void
append_voted (GString *out, guint depth, const SlTextView *text)
{
  append_words (out, depth, text->text, text->confidence);
  if (text->format != NULL) {
    g_string_append_c (out, ' ');
    append_plain (out, text->format);
  }
  g_string_append_c (out, '\n');
}

/* A label that is a reading of the object is not repeated below the text that was voted on. */
static gboolean
is_said (const SlObjectView *object, const SlLabelled *label)
{
  return object->text != NULL && label->label_id == SL_TEXT_ID;
}

/* One line an object inside @parent; what is said of it, and what is inside it, below it and
 * further in. */
static void
append_lines (GString *out, const SlPredictionView *prediction, guint parent, guint depth,
              gboolean nested)
{
  for (guint i = next_inside (prediction, parent, parent); i < prediction->n_objects;
       i = next_inside (prediction, parent, i + 1)) {
    const SlObjectView *object = &prediction->objects[i];
    append_words (out, depth, object->label, object->confidence);
    sl_json_append_printf (out, " %d %d %d %d", object->x, object->y, object->w, object->h);
    if (object->object_id > 0)
      sl_json_append_printf (out, " %d", object->object_id);
    g_string_append_c (out, '\n');
    if (object->code != NULL)
      append_read (out, depth + 1, object->code);
    if (object->text != NULL)
      append_voted (out, depth + 1, object->text);
    for (guint k = 0; k < object->n_labels; k++) {
      if (is_said (object, &object->labels[k]))
        continue;
      append_words (out, depth + 1, object->labels[k].label, object->labels[k].confidence);
      g_string_append_c (out, '\n');
    }
    if (nested)
      append_lines (out, prediction, i + 1, depth + 1, nested);
  }
}

void
sl_prediction_append_text (GString *out, const SlPredictionView *prediction)
{
  append_shares (out, prediction);
  append_numbers (out, &prediction->vector);
  sl_outputs_append_text (out, &prediction->outputs);
  if (prediction->n_objects == 0 && prediction->n_labels > 0) {
    append_plain (out, prediction->labels[0].label);
    g_string_append_c (out, '\n');
  }
  append_lines (out, prediction, 0, 0, is_nested (prediction));
}
