/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decides whether an EAN or UPC code was read correctly. Their check digit accepts one of ten wrong
 * readings. Blurred or bent bars give the same wrong reading on many lines. So a text counts as
 * checked only when readers agree on it.
 */
#pragma once

#include "postprocess/read/reader.h"

#define SL_VOTES_MOST 8

/** One text: the readers that read it (bits), in how many pictures, the most lines that agreed in
 * one, and whether the bars of the picture are those of the text. */
typedef struct
{
  char text[16];
  const char *symbology;
  guint readers, pictures;
  gint lines;
  gboolean bars_fit;
  double corners[4][2];
} SlVote;

typedef struct
{
  SlVote votes[SL_VOTES_MOST];
  guint n;
} SlVotes;

/** sl_votes_takes: whether @code is one of those that are to be confirmed. */
gboolean sl_votes_takes (const SlReadCode *code);
/** sl_votes_add: what the reader number @reader read in a picture; @code is one that
 * sl_votes_takes(). */
void sl_votes_add (SlVotes *votes, guint reader, const SlReadCode *code);
/** sl_votes_agree: whether two readers said the same, and nobody another text: no more readings are
 * needed. */
gboolean sl_votes_agree (const SlVotes *votes);
/** sl_votes_choose: sets @code to the text whose bars alone fit, else to that of most readers, then
 * of most lines. It is checked where two readers agree and no other text was read, or where its
 * bars alone fit. */
void sl_votes_choose (const SlVotes *votes, SlReadCode *code);
