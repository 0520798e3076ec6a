/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A stream from one end to the other without pause, by two threads, of which each
 * byte has its place; for who does something to the connection meanwhile.
 */
#ifndef SPEED_SELFTESTS_FLOW_H
#define SPEED_SELFTESTS_FLOW_H

#include "task.h"
#include "transport.h"

/**
 * struct flow - a stream
 * @from: the sender
 * @to: the receiver
 * @largest: bytes of one send at most
 * @patience: errno of calls that are tried again, as is EINVAL then, or 0
 * @hold: the receiver leaves what comes where it is
 * @stop: the sender comes to its end
 * @sent: bytes
 * @got: bytes
 * @wrong: after so many bytes, plus one, another came than was sent
 * @tx_errno: what a send failed with; zero at first
 * @rx_errno: what a receive failed with
 */
struct flow {
	struct end *from, *to;
	size_t largest;
	int patience;
	atomic_bool hold;
	atomic_bool stop;
	atomic_ulong sent, got, wrong;
	atomic_int tx_errno, rx_errno;
	struct task tx, rx;
};

void flow_start(struct flow *f, struct end *from, struct end *to, size_t largest);
/* Waits until so many more bytes have come; false where they do not. */
bool flow_moves(struct flow *f, size_t bytes);
/* Ends it by a shutdown, and writes down whether all came that was sent. */
void flow_stop(struct flow *f, const char *name);
/* Of a connection that has come to its end: only the bytes must be right. */
void flow_broken(struct flow *f, const char *name);

#endif
