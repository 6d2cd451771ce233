/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TFLite Metadata has no words for fit, borders, decoders and BGR, so the contract lies behind the
 * model as a description file, too. What both say is the same, for other readers.
 */
#include "models/tflite/write_metadata.h"

#include <string.h>

#include "models/tflite/flatbuffer_writer.h"
#include "models/tflite/metadata.h"
#include "models/tflite/schema.h"
#include "models/zip_writer.h"

#define LABELS "labels.txt"
/* Layout of the picture that the written file takes is in its shape, unless that could be either.
 */
#define OURS "sightline"

static void
put_text (GKeyFile *file, const char *key, const char *value)
{
  g_key_file_set_string (file, OURS, key, value);
}

static void
put_numbers (GKeyFile *file, const char *key, const gdouble *values, guint n)
{
  g_autoptr (GString) text = g_string_new (NULL);
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? "," : "",
                            g_ascii_dtostr (number, sizeof number, values[i]));
  put_text (file, key, text->str);
}

static guint
n_means (const SlImageContract *image)
{
  gboolean equal = TRUE;
  for (gint c = 1; c < image->channels; c++)
    equal = equal && image->mean[c] == image->mean[0] && image->std[c] == image->std[0];
  return equal ? 1 : 3;
}

static void
put_image (GKeyFile *file, const SlImageContract *image)
{
  if (image->range_known) {
    put_numbers (file, "mean", image->mean, n_means (image));
    put_numbers (file, "std", image->std, n_means (image));
  }
  put_text (file, "colour", sl_colour_name (image->colour));
  if (image->fit_known)
    put_text (file, "fit", sl_fit_name (image->fit));
  if (image->crop_share != 1)
    put_numbers (file, "crop-share", &image->crop_share, 1);
  if (image->pad_known)
    g_key_file_set_integer (file, OURS, "pad-value", image->pad_value);
}

static void
put_params (GKeyFile *file, GHashTable *params)
{
  g_autoptr (GList) keys = g_list_sort (g_hash_table_get_keys (params), (GCompareFunc) strcmp);
  for (const GList *l = keys; l != NULL; l = l->next) {
    g_autofree char *key = g_strconcat ("decoder-", (const char *) l->data, NULL);
    put_text (file, key, g_hash_table_lookup (params, l->data));
  }
}

static GBytes *
modelinfo_of (const SlContract *contract)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  gsize length;
  g_key_file_set_string (file, "modelinfo", "version", "1.0");
  g_key_file_set_string (file, "modelinfo", "group-id", "sightline");
  if (contract->image.valid)
    put_image (file, &contract->image);
  if (contract->decoder != NULL)
    put_text (file, "decoder", contract->decoder);
  if (contract->decoder_params != NULL)
    put_params (file, contract->decoder_params);
  char *text = g_key_file_to_data (file, &length, NULL);
  return g_bytes_new_take (text, length);
}

/* Names alone where readers take each line for one; else with their numbers. */
static GBytes *
labels_of (const SlLabels *labels)
{
  GString *text = g_string_new (NULL);
  gboolean plain = TRUE;
  for (guint i = 0; i < sl_labels_count (labels); i++) {
    const char *name = sl_labels_get (labels, i);
    plain = plain && name != NULL && name[0] != '\0' && !g_ascii_isdigit (name[0]);
  }
  for (guint i = 0; i < sl_labels_count (labels); i++) {
    const char *name = sl_labels_get (labels, i);
    if (plain)
      g_string_append_printf (text, "%s\n", name);
    else if (name != NULL)
      g_string_append_printf (text, "%u %s\n", i, name);
  }
  return g_string_free_to_bytes (text);
}

static FbNode *
vector_of (FbWriter *fb, const gdouble *values, guint n)
{
  gfloat floats[3];
  for (guint i = 0; i < n; i++)
    floats[i] = (gfloat) values[i];
  return fb_vector (fb, floats, n, 4, 4, 0);
}

static FbNode *
input_of (FbWriter *fb, const SlImageContract *image)
{
  FbNode *inputs = fb_refs (fb), *input = fb_table (fb), *content = fb_table (fb),
         *properties = fb_table (fb);
  if (image->colour != SL_COLOUR_BGR) {
    fb_u8 (properties, TFM_IMAGE_COLOUR,
           image->colour == SL_COLOUR_GRAY ? TFM_COLOUR_GRAY : TFM_COLOUR_RGB);
    fb_u8 (content, TFM_CONTENT_TYPE, TFM_CONTENT_IMAGE);
    fb_ref (content, TFM_CONTENT_PROPERTIES, properties);
    fb_ref (input, TFM_TENSOR_CONTENT, content);
  }
  if (image->range_known) {
    FbNode *units = fb_refs (fb), *unit = fb_table (fb), *options = fb_table (fb);
    fb_ref (options, TFM_NORMALISATION_MEAN, vector_of (fb, image->mean, n_means (image)));
    fb_ref (options, TFM_NORMALISATION_STD, vector_of (fb, image->std, n_means (image)));
    fb_u8 (unit, TFM_UNIT_TYPE, TFM_UNIT_NORMALISATION);
    fb_ref (unit, TFM_UNIT_OPTIONS, options);
    fb_push (units, unit);
    fb_ref (input, TFM_TENSOR_PROCESS_UNITS, units);
  }
  fb_push (inputs, input);
  return inputs;
}

static FbNode *
outputs_of (FbWriter *fb, guint n)
{
  FbNode *outputs = fb_refs (fb);
  for (guint i = 0; i < n; i++) {
    FbNode *output = fb_table (fb);
    if (i == 0) {
      FbNode *files = fb_refs (fb), *file = fb_table (fb);
      fb_ref (file, TFM_FILE_NAME, fb_string (fb, LABELS));
      fb_u8 (file, TFM_FILE_TYPE, TFM_FILE_AXIS_LABELS);
      fb_push (files, file);
      fb_ref (output, TFM_TENSOR_FILES, files);
    }
    fb_push (outputs, output);
  }
  return outputs;
}

GBytes *
tfl_metadata_write (const SlContract *contract, guint n_outputs)
{
  g_autoptr (FbWriter) fb = fb_writer_new ();
  FbNode *model = fb_table (fb), *subgraphs = fb_refs (fb), *subgraph = fb_table (fb);
  if (contract->image.valid)
    fb_ref (subgraph, TFM_SUBGRAPH_INPUTS, input_of (fb, &contract->image));
  if (contract->labels != NULL)
    fb_ref (subgraph, TFM_SUBGRAPH_OUTPUTS, outputs_of (fb, n_outputs));
  fb_push (subgraphs, subgraph);
  fb_ref (model, TFM_MODEL_SUBGRAPHS, subgraphs);
  return g_byte_array_free_to_bytes (fb_finish (fb, model, TFL_METADATA_IDENTIFIER));
}

void
tfl_metadata_append (GByteArray *out, const SlContract *contract)
{
  ZipMember members[2] = { { .name = (char *) TFL_METADATA_MEMBER,
                             .data = modelinfo_of (contract) } };
  guint n = 1;
  if (contract->labels != NULL)
    members[n++] = (ZipMember){ .name = (char *) LABELS, .data = labels_of (contract->labels) };
  zip_append (out, members, n);
  for (guint i = 0; i < n; i++)
    g_bytes_unref (members[i].data);
}
