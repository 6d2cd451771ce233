/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Drawn people for tests of appearance: frames, clothes of two colours, and a model that gives the
 * mean colours of a grid. */
#ifndef SL_TESTS_ELEMENTS_PEOPLE_H
#define SL_TESTS_ELEMENTS_PEOPLE_H

#include <gst/gst.h>

#define TEST_PEOPLE_WIDTH 320
#define TEST_PEOPLE_HEIGHT 240
#define TEST_PEOPLE_CAPS "video/x-raw,format=RGB,width=320,height=240,framerate=25/1"

/** Upper and lower half of a person: red, green, blue. */
typedef guint8 TestClothes[2][3];

/** test_looks_file: looks_model() as a new file. */
char *test_looks_file (gfloat factor);
/** test_people_frame: frame @i, gray. */
GstBuffer *test_people_frame (guint i);
/** test_people_add: draws a person of 30 x 60 pixels, with a region. */
void test_people_add (GstBuffer *buffer, guint x, guint y, const TestClothes clothes);
/** test_people_add_region: a region of a person, without drawing one. */
void test_people_add_region (GstBuffer *buffer, guint x, guint y, guint w, guint h);

#endif
