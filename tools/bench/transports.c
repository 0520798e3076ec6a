// SPDX-License-Identifier: GPL-2.0
/* All transports, in the order in which tables show them. */
#include "transport.h"

const struct transport *const transports[] = {
	&transport_pipe,
	&transport_vmsplice,
	&transport_unix,
	&transport_unix_packet,
	&transport_zmq,
	&transport_tcp,
	&transport_uring,
	&transport_smc,
	&transport_sockmap,
	&transport_fused,
	&transport_fused_poll,
	&transport_speedrun,
	&transport_speedrun_sleep,
	&transport_speed,
	&transport_speed_packet,
	&transport_mapped,
	&transport_mapped_sleep,
	&transport_zc,
	&transport_call,
	&transport_ring,
	&transport_bare,
	&transport_onecopy,
	NULL,
};
