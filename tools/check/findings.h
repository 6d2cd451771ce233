/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What `sightline check` found out: facts, advice and problems, each about one part of the
 * pipeline.
 */
#pragma once

#include <gst/gst.h>

#include "models/model.h"

typedef enum
{
  SL_FINDING_FACT,
  SL_FINDING_ADVICE, /* it works, but could be better */
  SL_FINDING_PROBLEM /* it will not work */
} SlFindingKind;

typedef struct
{
  SlFindingKind kind;
  char *about, *text;
} SlFinding;

/** sl_findings_new: (transfer full): of SlFinding. */
GArray *sl_findings_new (void);
/** sl_findings_add: @about: a word such as "caps", or an element's name. */
void sl_findings_add (GArray *findings, SlFindingKind kind, const char *about, const char *format,
                      ...) G_GNUC_PRINTF (4, 5);
/** sl_findings_have_problems: whether one of them is a problem. */
gboolean sl_findings_have_problems (const GArray *findings);
/** sl_findings_print: on standard output, as lines or as one JSON object. */
void sl_findings_print (const GArray *findings, const char *path, gboolean json);

/** sl_check_is: whether @element was made by @factory. */
gboolean sl_check_is (GstElement *element, const char *factory);
/** sl_check_upstream: (transfer full) (nullable): the element before the first sink pad of
 * @element, other than those that only pass frames on (queue, capsfilter, identity, tee) when
 * @skip. */
GstElement *sl_check_upstream (GstElement *element, gboolean skip);
/** sl_check_go_up: *@element (transfer full), which is there, becomes the one before it. */
void sl_check_go_up (GstElement **element, gboolean skip);
/** sl_check_predict: (transfer none) (nullable): the slpredict that @element is a part of. */
GstElement *sl_check_predict (GstElement *element);
/** sl_check_elements: (transfer full): of GstElement, every element of @pipeline that is no bin,
 * and slcamera, sources first as far as possible. */
GPtrArray *sl_check_elements (GstElement *pipeline);

/** sl_check_fixate: takes writable @caps, of frames that @element gets or gives; makes the first of
 * them definite. What they leave open is what the slcamera before it is set to, else 1280x720 at 30
 * frames/s. */
GstCaps *sl_check_fixate (GstCaps *caps, GstElement *element);

/** sl_check_load: (transfer full): the model that an slinfer's properties name, under the limits
 * that they state. @backend: (nullable): runs it in place of what they state, on one thread. */
SlModel *sl_check_load (GstElement *infer, const char *backend, GError **error);
/** sl_check_backends: what runs @model, that of an slinfer, what each other backend that is here
 * costs, and which tensors are copied on the way. */
void sl_check_backends (GstElement *infer, const SlModel *model, GArray *findings);
/** SL_CHECK_CLASSES: data of an slinfer, once sl_check_advise() has looked at its model: a
 * GPtrArray of names of its classes. */
#define SL_CHECK_CLASSES "sl-check-classes"
/** SL_CHECK_LOOKS: data of an sltrack with a model of appearance: the SHA-256 of that. */
#define SL_CHECK_LOOKS "sl-check-looks"
/** sl_check_settings: properties of @element that its start would refuse; FALSE where there are
 * such. */
gboolean sl_check_settings (GstElement *element, GArray *findings);
/** sl_check_gallery: the file of an slgallery, whose properties are good: its key, rules and model,
 * and the cameras that write to it. */
void sl_check_gallery (GstElement *element, GArray *findings);
/** sl_check_order: what @elements, of sl_check_elements(), need of those before and behind them. */
void sl_check_order (GPtrArray *elements, GArray *findings);
/** sl_check_advise: looks at elements and their properties. */
void sl_check_advise (GstElement *pipeline, GArray *findings);
/** sl_check_ready: takes the pipeline to READY, which loads models and opens devices; FALSE, with a
 * problem found, when it cannot. */
gboolean sl_check_ready (GstElement *pipeline, GArray *findings);
/** sl_check_caps: what each link will carry, in READY. */
void sl_check_caps (GstElement *pipeline, GArray *findings);
/** sl_check_budget: memory, and time measured on frames like those predicted. @name: of the
 * pipeline; @all: promises of all pipelines, which get those of this one */
void sl_check_budget (GstElement *pipeline, const char *name, GArray *all, GArray *findings);
