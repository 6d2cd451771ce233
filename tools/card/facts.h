/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a model's card says, as rows that the text and the page print alike. */
#pragma once

#include "models/zoo/row.h"
#include "tools/model_report.h"

/** SlCardFact: @section: what it belongs to; @value: as the file has it; the text and the page
 * make it printable. */
typedef struct
{
  const char *section;
  char *name, *value;
} SlCardFact;

/** SlCard: @row: (nullable): of the zoo; @report: where @problem is NULL. */
typedef struct
{
  char *path, *problem; /* @problem: (nullable): why the model cannot be loaded */
  guint64 size, parameters;
  SlZooRow *row;
  SlModelReport report;
} SlCard;

/** sl_card_fill: of the model of @options, once checked, into a zeroed @card. FALSE where there is
 * no such file. */
gboolean sl_card_fill (SlCard *card, const SlModelOptions *options, GError **error);
void sl_card_clear (SlCard *card);
/** sl_card_licence: (transfer none) (nullable): by the row, else by the file. */
const char *sl_card_licence (const SlCard *card);
/** sl_card_fit_known: whether the file, its key file, an option or the decoder states the fit. */
gboolean sl_card_fit_known (const SlCard *card);
/** sl_card_facts: (transfer full): of SlCardFact, those of a section one behind the other. */
GPtrArray *sl_card_facts (const SlCard *card);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SlCard, sl_card_clear)
