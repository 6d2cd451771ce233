/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlCustomDecoder: an object as a row of the decoders' table, which is opened by itself and not
 * found by a name. A decoding keeps the object.
 */
#include "predict/custom_decoder_private.h"

#include "postprocess/collector.h"
#include "postprocess/params.h"
#include "predict/predictions_private.h"

#define THRESHOLD 0.5f

typedef struct
{
  SlDecoder decoder;
  SlCustomDecoder *object;
} Row;

typedef struct
{
  Row row;
  gboolean suppress;
} SlCustomDecoderPrivate;

struct _SlFindings
{
  gatomicrefcount refs;
  SlCollector *collector; /* (nullable): of the frame that is decoded */
};

typedef struct
{
  SlCustomDecoder *object;
  SlCollector collector;
  guint n;
  SlTensorInfo infos[SL_MAX_IO];
} State;

enum
{
  PROP_SUPPRESS = 1
};

G_DEFINE_BOXED_TYPE (SlFindings, sl_findings, sl_findings_ref, sl_findings_unref)
G_DEFINE_TYPE_WITH_PRIVATE (SlCustomDecoder, sl_custom_decoder, G_TYPE_OBJECT)

/**
 * sl_findings_ref:
 * @findings: findings
 *
 * Takes a reference to the findings.
 *
 * Returns: (transfer full): @findings
 *
 * Since: 0.1
 */
SlFindings *
sl_findings_ref (SlFindings *findings)
{
  g_return_val_if_fail (findings != NULL, NULL);
  g_atomic_ref_count_inc (&findings->refs);
  return findings;
}

/**
 * sl_findings_unref:
 * @findings: (transfer full): findings
 *
 * Drops a reference to the findings; the last one frees them.
 *
 * Since: 0.1
 */
void
sl_findings_unref (SlFindings *findings)
{
  g_return_if_fail (findings != NULL);
  if (g_atomic_ref_count_dec (&findings->refs))
    g_free (findings);
}

/**
 * sl_findings_add_object:
 * @findings: findings
 * @x_min: left edge in 0..1 of the width of the model's input
 * @y_min: top edge in 0..1 of its height
 * @x_max: right edge
 * @y_max: bottom edge
 * @confidence: 0..1
 * @label_id: number of its class, from 0 on
 *
 * Adds an object. Edges may lie outside of the picture; they are clipped.
 *
 * Since: 0.1
 */
void
sl_findings_add_object (SlFindings *findings, gdouble x_min, gdouble y_min, gdouble x_max,
                        gdouble y_max, gdouble confidence, gint label_id)
{
  g_return_if_fail (findings != NULL);
  const SlDetection box = { (gfloat) x_min,
                            (gfloat) y_min,
                            (gfloat) x_max,
                            (gfloat) y_max,
                            (gfloat) confidence,
                            label_id,
                            0,
                            0 };
  if (findings->collector != NULL)
    sl_collector_add_object (findings->collector, &box, NULL);
}

/**
 * sl_findings_add_label:
 * @findings: findings
 * @label_id: number of the class, from 0 on
 * @confidence: 0..1
 *
 * Adds a label of the whole picture.
 *
 * Since: 0.1
 */
void
sl_findings_add_label (SlFindings *findings, gint label_id, gdouble confidence)
{
  g_return_if_fail (findings != NULL);
  if (findings->collector != NULL)
    sl_collector_add_label (findings->collector, label_id, (gfloat) confidence);
}

/**
 * sl_findings_set_values:
 * @findings: findings
 * @values: (array length=n): numbers, at most 65536
 * @n: how many there are
 * @is_embedding: whether they are compared as a whole
 *
 * States numbers about the whole picture that are no scores: sl_predictions_get_values().
 *
 * Since: 0.1
 */
void
sl_findings_set_values (SlFindings *findings, const gfloat *values, guint n, gboolean is_embedding)
{
  g_return_if_fail (findings != NULL && (values != NULL || n == 0));
  if (findings->collector != NULL)
    sl_collector_set_values (findings->collector, values, n, is_embedding);
}

static void
close_custom (gpointer opened)
{
  State *state = opened;
  sl_collector_clear (&state->collector);
  sl_tensor_infos_clear (state->infos, state->n);
  g_object_unref (state->object);
  g_free (state);
}

static gpointer
open_custom (const SlDecoderConfig *config, GError **error)
{
  SlCustomDecoder *object = ((const Row *) config->decoder)->object;
  const SlCustomDecoderPrivate *priv = sl_custom_decoder_get_instance_private (object);
  State *state = g_new0 (State, 1);
  state->object = g_object_ref (object);
  for (state->n = 0; state->n < config->n_tensors; state->n++) {
    SlTensorInfo *info = &state->infos[state->n];
    *info = config->tensors[state->n];
    info->name = g_strdup (info->name);
    info->bytes = (gsize) sl_decoder_elements (info) * sl_dtype_size (info->dtype);
  }
  if (sl_collector_init (&state->collector, config, NULL, priv->suppress, error))
    return state;
  close_custom (state);
  return NULL;
}

static void
decode_custom (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  const SlPredictionView view = { .timestamp = G_MAXUINT64,
                                  .outputs = { state->n, state->infos, data } };
  SlFindings *findings = g_new0 (SlFindings, 1);
  g_autoptr (SlPredictions) tensors = sl_predictions_new (&view);
  g_atomic_ref_count_init (&findings->refs);
  findings->collector = &state->collector;
  sl_collector_begin (&state->collector, result);
  if (SL_CUSTOM_DECODER_GET_CLASS (state->object)->decode != NULL)
    SL_CUSTOM_DECODER_GET_CLASS (state->object)->decode (state->object, tensors, findings);
  sl_collector_finish (&state->collector);
  findings->collector = NULL;
  sl_findings_unref (findings);
}

const SlDecoder *
sl_custom_decoder_row (SlCustomDecoder *self)
{
  SlCustomDecoderPrivate *priv = sl_custom_decoder_get_instance_private (self);
  return &priv->row.decoder;
}

static void
sl_custom_decoder_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  SlCustomDecoderPrivate *priv =
    sl_custom_decoder_get_instance_private (SL_CUSTOM_DECODER (object));
  priv->suppress = g_value_get_boolean (value);
}

static void
sl_custom_decoder_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  const SlCustomDecoderPrivate *priv =
    sl_custom_decoder_get_instance_private (SL_CUSTOM_DECODER (object));
  g_value_set_boolean (value, priv->suppress);
}

static void
sl_custom_decoder_class_init (SlCustomDecoderClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  object_class->set_property = sl_custom_decoder_set_property;
  object_class->get_property = sl_custom_decoder_get_property;
  /**
   * SlCustomDecoder:suppress:
   *
   * Whether objects that overlap a better one of their class by more than
   * #SlPredictor:iou-threshold, 0.5 where that is 0, are left out.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
    object_class, PROP_SUPPRESS,
    g_param_spec_boolean ("suppress", "Suppress",
                          "Whether objects that overlap a better one of their class are left out",
                          TRUE,
                          G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS));
}

static void
sl_custom_decoder_init (SlCustomDecoder *self)
{
  SlCustomDecoderPrivate *priv = sl_custom_decoder_get_instance_private (self);
  priv->row.object = self;
  priv->row.decoder = (SlDecoder){ .name = "custom",
                                   .description = "the application's own",
                                   .threshold = THRESHOLD,
                                   .open = open_custom,
                                   .decode = decode_custom,
                                   .close = close_custom };
}
