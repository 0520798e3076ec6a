// SPDX-License-Identifier: GPL-2.0
/* One series, of the test's own transport, measured by one trial. */
#include <string.h>

#include "../../tools/bench/bench.h"
#include "../../tools/bench/transport.h"
#include "stand_in_series.h"

unsigned int series_make(struct series *all, unsigned int able)
{
	(void)able;
	memset(all, 0, sizeof(*all));
	all->transport = &transport_test;
	all->size = opt.size;
	return 1;
}

void measure_given(struct series *all, unsigned int count)
{
	(void)count;
	all->trial(all, all->n);
}

const char *unit_of_time(void)
{
	return "ns";
}
