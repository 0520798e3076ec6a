// SPDX-License-Identifier: GPL-2.0
/*
 * native: the ring alone, without the module: libspeed on a memfd (ring) and
 * the yardstick (bare), on two processors of this machine, where time is real.
 * A round trip of 64 bytes, both sides spinning, and a stream of 512-byte
 * messages, as latency and stream do them; runs of both alternate.
 */
#include "bench.h"

void exp_native(void)
{
	if (!opt.transports)
		opt.transports = "ring,bare";
	opt.two_cpus = true;
	opt.experiment = "latency";
	exp_latency();
	opt.experiment = "stream";
	exp_stream();
}
