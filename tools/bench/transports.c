// SPDX-License-Identifier: GPL-2.0
/* All transports, in the order in which tables show them. */
#include "transport.h"

const struct transport *const transports[] = {
	&transport_pipe,
	&transport_unix,
	&transport_tcp,
	&transport_fused,
	&transport_fused_poll,
	&transport_speed,
	&transport_mapped,
	&transport_mapped_sleep,
	&transport_zc,
	&transport_call,
	&transport_ring,
	&transport_bare,
	NULL,
};
