/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Decoders: tensors -> SlResult. Each is one file ending in one const SlDecoder, and one line in
 * postprocess/decoders.c. Pure C: no caps, no drawing, no mapping to frames.
 */
#ifndef SL_POSTPROCESS_DECODER_H
#define SL_POSTPROCESS_DECODER_H

#include <glib.h>

#include "core/graph/graph.h"
#include "core/graph/tensor_info.h"
#include "postprocess/result.h"

G_BEGIN_DECLS

typedef struct _SlDecoder SlDecoder;
typedef struct _SlDecoding SlDecoding;

#define SL_OWN_THRESHOLD (-1.0f)

/**
 * SlDecoderConfig:
 * @tensors: those to decode; their data changes every frame. Names are the caller's and may be NULL; sizes in bytes do not count
 * @threshold: lowest confidence reported, 0..1; SL_OWN_THRESHOLD = the decoder's own, which its parameter "threshold" overrides
 * @iou_threshold: overlap (intersection over union) above which the less confident of two boxes goes, 0..1; 0 = the
 *   decoder's own, which its parameter "iou-threshold" overrides
 * @max_results: 1..SL_MAX_RESULTS
 * @n_labels: number of class names known, 0 = unknown
 * @first_label: (nullable): name of class 0; NULL where @n_labels names leave it out
 * @label_names: (nullable): the @n_labels names, NULL where they leave one out; read while the decoder is opened
 * @input_width, @input_height: pixels of the model's input, 0 = unknown
 * @params: (nullable): string -> string, the decoder's own parameters (documented in its file)
 * @named: whether it is opened by its name, and not chosen by the tensors; sl_decoding_new() sets it
 * @decoder: the row that is opened, for functions that several rows have; sl_decoding_new() sets it
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
  GHashTable *params;
  gboolean named;
  const SlDecoder *decoder;
} SlDecoderConfig;

/** What the numbers of a frame say of the way in which they are read. SL_CHECK_CHANGED: they are read in another way from now on. */
typedef enum
{
  SL_CHECK_FITS,
  SL_CHECK_CHANGED,
  SL_CHECK_CONTRADICTS
} SlCheck;

/**
 * SlDecoder:
 * @name: what the decoder property and modelinfo call it
 * @description: one sentence for `sightline inspect` and messages: the shapes it takes
 * @params: (nullable): names of the parameters it takes, NULL-terminated
 * @names: (nullable): what its classes are called where no labels say so, NULL-terminated
 * @names_of: (nullable): the same of an open decoder, interned or its own; NULL = @names. *@own becomes TRUE where they count before labels
 * @threshold: used where the user states none
 * @matches: (nullable): whether it can decode these tensors without being named; NULL = it is only named
 * @unmatched: (nullable): why it does not match tensors of its shape unless it is named, a clause; NULL = there is no such reason
 * @likely: (nullable): whether a message may propose it for tensors that it takes when it is named; NULL = it may
 * @open: checks @config and returns the decoder's state, or NULL with a message naming expected and got
 * @decode: fills @result from @data (one pointer per tensor, aligned to its elements); tolerates NaN, infinities and any code
 * @close: frees the state
 * @classes: (nullable): number of classes the tensors have, 0 = they do not say
 * @ids: (nullable): fills in what GStreamer's own tensor decoders call each tensor, by the tensor-id registry; only where one of them decodes
 *   the same
 * @check: (nullable): after @decode, on the first frames: whether the numbers can be what they were taken for; what contradicts, and which
 *   reading fits, is appended to @why. postprocess/plausible.h has what decoders share
 * @note: (nullable): what the decoder took for granted, a sentence for `sightline inspect`; NULL = nothing
 */
struct _SlDecoder
{
  const char *name;
  const char *description;
  const char *const *params;
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
};

/** sl_decoding_new: opens decoder @name, which may be a plug-in's or the path of one (postprocess/plugin.h), or the first of the table that
 *  matches when NULL. Parameters may follow the name and win over
 *  those of @config: "yolo,preset=v5,iou-threshold=0.6"; a value may hold commas. One that the decoder does not take is
 *  SL_ERROR_ARGUMENT; one of @config that no decoder takes is, too. "threshold", "check" (no: numbers are not looked at, and decoded
 *  whatever they are) and those that exporters write into models ("task", "stride", "imgsz", "kpt_shape") are always taken. */
SlDecoding *sl_decoding_new (const char *name, const SlDecoderConfig *config, GError **error);
/** sl_decoding_new_row: opens @decoder, which need not be in the table and takes the parameters of @config, whatever they are. */
SlDecoding *sl_decoding_new_row (const SlDecoder *decoder, const SlDecoderConfig *config, GError **error);
void sl_decoding_free (SlDecoding *decoding);
/** sl_decoding_run: (transfer none): valid until the next run. One thread at a time; allocates nothing after the first frames, on which it looks
 *  whether the numbers can be what the decoder takes them for. */
const SlResult *sl_decoding_run (SlDecoding *decoding, const void *const *data);
/** sl_decoding_contradiction: (transfer none) (nullable): why the numbers of the last run cannot be what the decoder takes them for, and what to
 *  state: a sentence; its result is then empty. */
const char *sl_decoding_contradiction (const SlDecoding *decoding);
/** sl_decoding_take_choice: (transfer full) (nullable): once: what the numbers decided that nothing states, a sentence for the log. */
char *sl_decoding_take_choice (SlDecoding *decoding);
const SlDecoder *sl_decoding_decoder (const SlDecoding *decoding);
/** sl_decoding_threshold: the lowest confidence that it reports. */
double sl_decoding_threshold (const SlDecoding *decoding);
/** sl_decoding_names: (transfer none) (nullable): what its classes are called where no labels say so, NULL-terminated. @own: (out) (optional): whether
 *  they count before labels, too */
const char *const *sl_decoding_names (const SlDecoding *decoding, gboolean *own);
/** sl_decoding_classes: number of classes the tensors have, 0 = they do not say. */
guint sl_decoding_classes (const SlDecoding *decoding);
/** sl_decoding_ids: what GStreamer's own tensor decoders call each tensor; FALSE, and nothing in @ids, where none decodes the same. */
gboolean sl_decoding_ids (const SlDecoding *decoding, const char *ids[SL_MAX_IO]);
/** sl_decoding_note: (transfer none) (nullable): what the decoder took for granted because nothing states it, as a sentence. */
const char *sl_decoding_note (const SlDecoding *decoding);
/** sl_decoder_names: (transfer full): every decoder, ", " between. */
char *sl_decoder_names (void);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlDecoding, sl_decoding_free)

G_END_DECLS

#endif
