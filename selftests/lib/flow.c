// SPDX-License-Identifier: GPL-2.0
/* A stream without pause: see flow.h. */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include "flow.h"
#include "trace.h"

#define MOST	4000
#define LATE_MS	60000

/* Sizes that repeat themselves after a while. */
static size_t some_size(const struct flow *f, size_t at)
{
	return 1 + (at * 2654435761u >> 7) % f->largest;
}

/* TCP must come to its end before a ring is used again: leave it that chance. */
static void let_drain(struct flow *f)
{
	int i;

	for (i = 0; i < 25 && !f->stop && !f->hold && f->got != f->sent; i++)
		usleep(200);
}

/* Under repair TCP sends and receives for nobody. */
static bool refused(const struct flow *f)
{
	return f->patience && (errno == f->patience || errno == EINVAL);
}

static long sender(void *arg)
{
	static __thread unsigned char out[MOST];
	struct flow *f = arg;
	unsigned int n = 0;
	ssize_t sent;
	size_t len;

	while (!f->stop) {
		len = some_size(f, f->sent);
		stream_fill(out, len, f->sent);
		sent = end_send(f->from, out, len, MSG_NOSIGNAL);
		if (sent < 0 && refused(f)) {
			usleep(100);
			continue;
		}
		if (sent < 0) {
			f->tx_errno = errno;
			break;
		}
		f->sent += sent;
		if (n++ % 16 == 0)
			let_drain(f);
	}
	return 0;
}

static long receiver(void *arg)
{
	static __thread unsigned char in[MOST];
	struct flow *f = arg;
	ssize_t n;

	for (;;) {
		while (f->hold && !f->stop)
			usleep(1000);
		n = end_recv(f->to, in, some_size(f, f->got), 0);
		if (n < 0 && refused(f)) {
			usleep(100);
			continue;
		}
		if (n <= 0)
			break;
		if (!f->wrong && !stream_check(in, n, f->got))
			f->wrong = f->got + 1;
		f->got += n;
	}
	f->rx_errno = n < 0 ? errno : 0;
	return 0;
}

void flow_start(struct flow *f, struct end *from, struct end *to, size_t largest)
{
	memset(f, 0, sizeof(*f));
	f->from = from;
	f->to = to;
	f->largest = largest < MOST ? largest : MOST;
	task_start(&f->rx, receiver, f);
	task_start(&f->tx, sender, f);
}

bool flow_moves(struct flow *f, size_t bytes)
{
	long until = now_ms() + LATE_MS;
	size_t goal = f->got + bytes;

	while (f->got < goal && !f->tx_errno && now_ms() < until)
		sleep_ms(2);
	return f->got >= goal;
}

void flow_stop(struct flow *f, const char *name)
{
	f->stop = true;
	task_join(&f->tx);
	shutdown(f->from->fd, SHUT_WR);
	task_join(&f->rx);
	WANT(f->tx_errno, 0, 0, "%s: errno of the sender", name);
	WANT(f->rx_errno, 0, 0, "%s: errno of the receiver", name);
	WANT(f->wrong, 0, 0, "%s: wrong after so many bytes, less one", name);
	WANT_TRUE(f->got == f->sent, "%s: received %lu of %lu sent", name, f->got, f->sent);
}

void flow_broken(struct flow *f, const char *name)
{
	f->stop = true;
	task_join(&f->tx);
	task_join(&f->rx);
	WANT(f->wrong, 0, 0, "%s: wrong after so many bytes, less one", name);
	WANT_TRUE(f->got <= f->sent, "%s: received %lu of %lu sent", name, f->got, f->sent);
}
