// SPDX-License-Identifier: GPL-2.0
/*
 * native: without the module, on two processors of this machine, where time is real:
 * the ring alone, libspeed on a memfd (ring), the yardstick (bare), both spinning, and
 * what every kernel has (pipe, unix, tcp). A round trip of 64 bytes and a stream of
 * 512-byte messages, as latency and stream do them; runs of all alternate. memcpy: the
 * copies alone, two a message, so four a round trip.
 */
#include "bench.h"
#include "transport.h"

#define COPIES		2	/* of a message */
#define ROUND_TRIP	64	/* as latency and stream have them */
#define MESSAGE		512

static uint64_t message_trial(struct series *s, uint64_t n)
{
	return copy_trial(s, COPIES * n);
}

static uint64_t round_trip_trial(struct series *s, uint64_t n)
{
	return copy_trial(s, 2 * COPIES * n);
}

static void copies(void)
{
	struct series round_trip = { .transport = &transport_memcpy, .trial = round_trip_trial,
				     .size = opt.size ? opt.size : ROUND_TRIP };
	struct series stream = { .transport = &transport_memcpy, .trial = message_trial,
				 .size = opt.size ? opt.size : MESSAGE };

	measure(&round_trip, 1);
	emit("latency", &round_trip, "round_trip", unit_of_time());
	measure(&stream, 1);
	to_bandwidth(&stream);
	emit("stream", &stream, "throughput", unit_of_bandwidth());
}

void exp_native(void)
{
	bool all = !opt.transports;

	if (all)
		opt.transports = "pipe,unix,tcp,ring,bare";
	opt.two_cpus = true;
	opt.experiment = "latency";
	exp_latency();
	opt.experiment = "stream";
	exp_stream();
	if (all)
		copies();
}
