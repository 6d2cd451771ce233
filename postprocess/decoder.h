/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Decoders make an SlResult from tensors. Each decoder is one file that ends in one const
 * SlDecoder, and one line in postprocess/decoders.c. Decoders know nothing of caps, drawing and the
 * mapping to frames.
 */
#pragma once

#include <glib.h>

#include "core/base/picture.h"
#include "core/base/word_vectors.h"
#include "core/graph/graph.h"
#include "core/graph/tensor_info.h"
#include "postprocess/result.h"

typedef struct _SlDecoder SlDecoder;
typedef struct _SlDecoding SlDecoding;

#define SL_OWN_THRESHOLD (-1.0f)

typedef enum
{
  SL_PARAM_IS_TEXT, /* only the decoder knows, with the model's tensors */
  SL_PARAM_IS_CHOICE,
  SL_PARAM_IS_BOOL,
  SL_PARAM_IS_INTEGER,
  SL_PARAM_IS_NUMBER,
  SL_PARAM_IS_LIST,
  SL_PARAM_IS_WORDS, /* choices with ',' between */
} SlDecoderParamKind;

/**
 * SlDecoderParam: a parameter of a decoder, and the values that it takes with any model. The
 * readers of postprocess/params.h use the row, and so do programs that check options.
 * @choices: of a choice and of words: NULL-terminated
 * @minimum, @maximum: of an integer, of a number and of the numbers of a list
 * @most: of a list: how many numbers
 * @word: (nullable): of a list: a word in place of the numbers
 */
typedef struct
{
  const char *name;
  SlDecoderParamKind kind;
  const char *const *choices;
  double minimum, maximum;
  guint most;
  const char *word;
} SlDecoderParam;

#define SL_PARAM_TEXT(name)  \
  {                          \
    (name), SL_PARAM_IS_TEXT \
  }
#define SL_PARAM_CHOICE(name, choices)    \
  {                                       \
    (name), SL_PARAM_IS_CHOICE, (choices) \
  }
#define SL_PARAM_WORDS(name, choices)    \
  {                                      \
    (name), SL_PARAM_IS_WORDS, (choices) \
  }
#define SL_PARAM_BOOL(name)  \
  {                          \
    (name), SL_PARAM_IS_BOOL \
  }
#define SL_PARAM_INTEGER(name, lo, hi)            \
  {                                               \
    (name), SL_PARAM_IS_INTEGER, NULL, (lo), (hi) \
  }
#define SL_PARAM_NUMBER(name, lo, hi)            \
  {                                              \
    (name), SL_PARAM_IS_NUMBER, NULL, (lo), (hi) \
  }
#define SL_PARAM_LIST(name, lo, hi, most)              \
  {                                                    \
    (name), SL_PARAM_IS_LIST, NULL, (lo), (hi), (most) \
  }

/**
 * SlDecoderConfig:
 * @tensors: the tensors to decode; their data changes every frame. The caller owns the names, which
 * may be NULL. Sizes in bytes are ignored
 * @threshold: lowest confidence reported, 0..1; SL_OWN_THRESHOLD = the decoder's default, which its
 * parameter "threshold" overrides
 * @iou_threshold: overlap (intersection over union) above which the less confident of two boxes is
 * removed, 0..1; 0 = the decoder's default, which its parameter "iou-threshold" overrides
 * @max_results: 1..SL_MAX_RESULTS
 * @n_labels: number of known class names, 0 = unknown
 * @first_label: (nullable): name of class 0; NULL where the names leave it out
 * @label_names: (nullable): the @n_labels names; NULL for a name that is left out. Only read while
 * the decoder is opened
 * @input_width, @input_height: pixels of the model's input, 0 = unknown
 * @gray: the model's input has one channel
 * @params: (nullable): string -> string, the decoder's own parameters (documented in its file)
 * @words: (nullable): the embeddings of classes that sentences describe; only read while the
 * decoder is opened
 * @named: TRUE: the decoder is opened by its name; FALSE: it is chosen by the tensors.
 * sl_decoding_new() sets it
 * @decoder: the row of the table that is opened, for functions that several rows share;
 * sl_decoding_new() sets it
 */
typedef struct
{
  guint n_tensors;
  SlTensorInfo tensors[SL_MAX_IO];
  gfloat threshold;
  gfloat iou_threshold;
  guint max_results;
  guint n_labels;
  const char *first_label;
  const char *const *label_names;
  gint32 input_width, input_height;
  gboolean gray;
  GHashTable *params;
  const SlWordVectors *words;
  gboolean named;
  const SlDecoder *decoder;
} SlDecoderConfig;

/** Whether the values of a frame fit the way in which the decoder reads them. SL_CHECK_CHANGED: the
 * decoder reads them in another way from now on. */
typedef enum
{
  SL_CHECK_FITS,
  SL_CHECK_CHANGED,
  SL_CHECK_CONTRADICTS
} SlCheck;

/** SlDecoderPictures: how the models of a decoder get their pictures. @pad_value: of letterbox
 * borders, 0..255 */
typedef struct
{
  SlFit fit;
  gint32 pad_value;
} SlDecoderPictures;

/**
 * SlDecoder:
 * @name: its name in the property decoder and in modelinfo
 * @description: one sentence for `sightline inspect` and messages: the shapes that it takes
 * @params: (nullable): the parameters that it takes; the last row has no name
 * @names: (nullable): default names of its classes, where there are no labels; NULL-terminated
 * @names_of: (nullable): the same for an open decoder; interned, or owned by the decoder; NULL =
 * @names. *@own becomes TRUE where they replace labels
 * @threshold: the default threshold
 * @matches: (nullable): whether it can decode these tensors without being named; NULL = it must be
 * named
 * @unmatched: (nullable): why it must be named for tensors of its shape, a clause; NULL = there is
 * no such reason
 * @likely: (nullable): whether a message may propose it for tensors that it takes when it is named;
 * NULL = it may
 * @open: checks @config and returns the decoder's state, or NULL with a message that names expected
 * and got
 * @decode: fills @result from @data (one pointer per tensor, aligned to its elements); accepts NaN,
 * infinities and any quantised value
 * @close: frees the state
 * @classes: (nullable): number of classes in the tensors, 0 = the tensors do not tell it
 * @ids: (nullable): fills in the ids of GStreamer's tensor-id registry for each tensor. Only set
 * where a tensor decoder of GStreamer decodes the same
 * @check: (nullable): called after @decode on the first frames: whether the values fit the way in
 * which they are read. If not, the contradiction and the fitting reading are appended to @why.
 * postprocess/plausible.h has shared code
 * @pictures: (nullable): the fit that its models are made for, where nothing states one; NULL =
 * stretch
 * @note: (nullable): the assumption of the decoder, a sentence for `sightline inspect`; NULL = no
 * assumption
 */
struct _SlDecoder
{
  const char *name;
  const char *description;
  const SlDecoderParam *params;
  const char *const *names;
  const char *const *(*names_of) (gconstpointer state, gboolean *own);
  gfloat threshold;
  gboolean (*matches) (const SlDecoderConfig *config);
  const char *(*unmatched) (const SlDecoderConfig *config);
  gboolean (*likely) (const SlDecoderConfig *config);
  gpointer (*open) (const SlDecoderConfig *config, GError **error);
  void (*decode) (gpointer state, const void *const *data, SlResult *result);
  void (*close) (gpointer state);
  guint (*classes) (const SlDecoderConfig *config);
  void (*ids) (gconstpointer state, const char *ids[SL_MAX_IO]);
  const char *(*note) (gconstpointer state);
  SlCheck (*check) (gpointer state, const void *const *data, GString *why);
  const SlDecoderPictures *pictures;
};

/** sl_decoding_new: opens the decoder @name, which may be the name or the path of a plug-in
 * (postprocess/plugin.h). NULL opens the first matching decoder of the table. Parameters may follow
 * the name and override those of @config: "yolo,preset=v5,iou-threshold=0.6". A value may hold
 * commas. A parameter after the name that the decoder does not take is SL_ERROR_ARGUMENT. So is a
 * parameter of @config that no decoder takes. "threshold" and "check" are always accepted
 * (check=no: values are not checked). So are parameters that exporters write into models: "task",
 * "stride", "imgsz", "kpt_shape". */
SlDecoding *sl_decoding_new (const char *name, const SlDecoderConfig *config, GError **error);
/** sl_decoding_new_row: opens @decoder, which need not be in the table. It gets all parameters of
 * @config. */
SlDecoding *sl_decoding_new_row (const SlDecoder *decoder, const SlDecoderConfig *config,
                                 GError **error);
void sl_decoding_free (SlDecoding *decoding);
/** sl_decoding_run: (transfer none): the result, valid until the next run. One thread at a time. On
 * the first frames it checks whether the values fit the decoder. After them it allocates nothing.
 */
const SlResult *sl_decoding_run (SlDecoding *decoding, const void *const *data);
/** sl_decoding_contradiction: (transfer none) (nullable): why the values of the last run do not fit
 * the decoder, and which setting to state, in one sentence. The result of that run is empty. */
const char *sl_decoding_contradiction (const SlDecoding *decoding);
/** sl_decoding_take_choice: (transfer full) (nullable): the setting that the decoder chose from the
 * values, since nothing states it: a sentence for the log. Returned only once. */
char *sl_decoding_take_choice (SlDecoding *decoding);
const SlDecoder *sl_decoding_decoder (const SlDecoding *decoding);
/** sl_decoding_threshold: the lowest confidence that it reports. */
double sl_decoding_threshold (const SlDecoding *decoding);
/** sl_decoding_names: (transfer none) (nullable): the default names of its classes, where there are
 * no labels; NULL-terminated. @own: (out) (optional): whether they replace labels */
const char *const *sl_decoding_names (const SlDecoding *decoding, gboolean *own);
/** sl_decoding_classes: number of classes in the tensors, 0 = the tensors do not tell it. */
guint sl_decoding_classes (const SlDecoding *decoding);
/** sl_decoding_ids: the ids of GStreamer's tensor-id registry for each tensor. FALSE, with @ids
 * unset, where no tensor decoder of GStreamer decodes the same. */
gboolean sl_decoding_ids (const SlDecoding *decoding, const char *ids[SL_MAX_IO]);
/** sl_decoding_note: (transfer none) (nullable): the assumption that the decoder makes because
 * nothing states the setting, as a sentence. */
const char *sl_decoding_note (const SlDecoding *decoding);
/** sl_decoder_check: FALSE with SL_ERROR_ARGUMENT where @text, "NAME,PARAMETER=VALUE,...", names no
 * decoder, a parameter that it does not take, or a value that it takes with no model. */
gboolean sl_decoder_check (const char *text, GError **error);
/** sl_decoder_names: (transfer full): the names of all decoders, separated by ", ". */
char *sl_decoder_names (void);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlDecoding, sl_decoding_free)
