/* SPDX-License-Identifier: GPL-2.0 */
/* Deliberate mistakes, which show that the comparison notices such ones. */
#ifndef SPEED_SELFTESTS_DIFF_BREAK_H
#define SPEED_SELFTESTS_DIFF_BREAK_H

#include "diff_work.h"

extern const char *const diff_break_names[DIFF_BREAKS];

/* Falsifies what the call has done and told, where it is of that kind. */
void diff_spoil(struct diff_call *c);

#endif
