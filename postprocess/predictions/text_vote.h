/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Votes on texts: several readings of the same object become one text. Readings are aligned, since
 * they may have different lengths, and each character is voted on by itself.
 */
#pragma once

#include "postprocess/predictions/prediction.h"

/** Most characters that are votes for in one place; the one with the least weight goes. */
#define SL_VOTE_CHOICES 6

/** A character and the sum of its votes; the character 0 stands for none. */
typedef struct
{
  gunichar character;
  gfloat weight;
} SlVoteChoice;

typedef struct
{
  guint n;
  SlVoteChoice choices[SL_VOTE_CHOICES];
} SlVoteColumn;

/** The votes on one text; zeroed at first. @readings: how many there were; @count: how many count
 * by now; @weight: the sum of their mean confidences. */
typedef struct
{
  guint readings;
  gfloat count, weight;
  guint n;
  SlVoteColumn columns[SL_MAX_TEXT];
} SlTextVotes;

/** What the alignment computes in. One thread at a time. */
typedef struct _SlTextVoter SlTextVoter;

SlTextVoter *sl_text_voter_new (void);
/** sl_text_voter_free: NULL is legal. */
void sl_text_voter_free (SlTextVoter *voter);
/** sl_text_voter_add: adds a reading of @n characters (1..SL_MAX_TEXT) with the confidences
 * @shares, 0..1, which are the weights of its votes. @memory: about so many readings count, 1 or
 * more; older ones lose weight. Allocates nothing. */
void sl_text_voter_add (SlTextVoter *voter, SlTextVotes *votes, const gunichar *characters,
                        const gfloat *shares, guint n, guint memory);
/** sl_text_votes_result: sets @text to the character with the most weight in each place. Its
 * confidence is that weight divided by the number of readings. FALSE if no character is left. */
gboolean sl_text_votes_result (const SlTextVotes *votes, SlTextView *text);
