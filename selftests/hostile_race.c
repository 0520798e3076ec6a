// SPDX-License-Identifier: GPL-2.0
/*
 * Peers that lie while the victim works: processes that connect, map their side
 * and scribble over all they may write, as fast as they can, to a server that
 * sends and receives by either path. Beside it a connection between friends
 * must not lose or change a byte, and nobody may see its bytes.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stress.h"

#define RING		8192
#define LATE_MS		20000
#define HOSTILE_MS	2000	/* for each transport; twenty times more in the long form */
#define SCRIBBLES	400	/* strokes on one connection */
#define SECRET		'S'	/* what friends say; no liar writes this byte */

struct liar {
	const struct transport *t;
	struct address a;
	int id;
};

static uint64_t wild(struct chance *c, uint64_t near)
{
	switch (chance_below(c, 6)) {
	case 0:
		return chance64(c);
	case 1:
		return 1ull << chance_below(c, 64);
	case 2:
		return near + chance_below(c, 2 * RING);
	case 3:
		return near - chance_below(c, 2 * RING);
	default:
		return near + 8 * chance_below(c, 32);
	}
}

/* The lengths have no byte in them that looks like a secret. */
static uint32_t wild_length(struct chance *c)
{
	static const uint32_t lengths[] = {
		0, 1, 7, 8, 9, 100, 4080, 4088, 8176, 8184, 8185, 8192, 65536, 0x7fffffff,
		0x80000000, 0xfffffff0, 0xfffffff8, 0xffffffff,
	};

	return lengths[chance_below(c, sizeof(lengths) / sizeof(lengths[0]))];
}

/* A stroke near the truth, so that the victim goes on for a while. */
static void scribble(struct chance *c, int fd, struct raw *tx, struct raw *rx)
{
	struct speed_record rec = { .len = wild_length(c) };
	uint64_t at = 8 * chance_below(c, RING / 8);
	struct speed_wait w = { 0 };

	switch (chance_below(c, 12)) {
	case 0:
		raw_publish(tx, wild(c, *tx->own));
		break;
	case 1:
		raw_publish(rx, wild(c, *rx->own));
		break;
	case 2:
		memset(tx->r.data + at, 0x80 | chance_below(c, 128), 64);
		break;
	case 3:
		rec.reserved = chance_below(c, 3) ? 0 : 0x80;
		memcpy(tx->r.data + at, &rec, sizeof(rec));
		break;
	case 4:
		ioctl(fd, SPEED_IOC_WAKE, chance_below(c, 8));
		break;
	case 5:
		w.flags = chance_below(c, 32);
		w.want = wild(c, 1);
		set_timeout(fd, SO_RCVTIMEO, 1);
		set_timeout(fd, SO_SNDTIMEO, 1);
		ioctl(fd, SPEED_IOC_WAIT, &w);
		break;
	case 6:
		get_exact(fd, SPEED_SETTLE, &(struct speed_settle){
			.role = chance_below(c, 3), .epoch = tx->l.epoch + chance_below(c, 3),
		}, sizeof(struct speed_settle));
		break;
	default:
		/* A record that is true, so that messages flow. */
		rec.len = 8 * chance_below(c, 16);
		memcpy(tx->r.data + (*tx->own & (tx->l.size - 1)), &rec, sizeof(rec));
		raw_publish(tx, *tx->own + SPEED_RECORD_BYTES(rec.len));
		raw_publish(rx, *(volatile uint64_t *)(rx->r.peer + PAGE));
	}
}

/* Maps, lies, goes; now and then with its mappings held over the close. */
static void lie_once(struct liar *l, struct chance *c)
{
	int fd = socket(l->t->family, l->t->type, 0), i;
	struct raw tx, rx;

	if (fd < 0 || connect_to(fd, &l->a))
		_exit(0);	/* the server is done */
	/* A direction of TCP can be mapped once something went by its ring. */
	if (l->t->fused && send(fd, "\x80", 1, MSG_NOSIGNAL) == 1)
		poll_wait(fd, POLLIN, 100);
	/* Where the server has gone meanwhile there is nothing to map. */
	if (!raw_try(&tx, fd, SPEED_ROLE_TX)) {
		close(fd);
		return;
	}
	if (!raw_try(&rx, fd, SPEED_ROLE_RX)) {
		raw_unmap(&tx);
		close(fd);
		return;
	}
	memset(tx.r.data, 0x80, tx.l.size);
	for (i = 0; i < SCRIBBLES; i++)
		scribble(c, fd, &tx, &rx);
	/* A plain call takes the roles back; the strokes that follow must not count. */
	if (chance_below(c, 2))
		send(fd, "\xff", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	for (i = 0; i < SCRIBBLES / 4; i++)
		scribble(c, fd, &tx, &rx);
	close(fd);
	raw_publish(&tx, chance64(c));
	memset(tx.r.data, 0xee, tx.l.size);
	raw_unmap(&tx);
	raw_unmap(&rx);
}

static int liar(void *arg)
{
	struct liar *l = arg;
	struct chance c = { 0x11a5 + l->id };

	while (1)
		lie_once(l, &c);
	return 0;
}

/* Friends: by the path under test, exact to the byte. */
static long friends_talk(struct end e[2], size_t *at)
{
	char out[700], in[700];
	long wrong = 0;

	memset(out, SECRET, sizeof(out));
	memcpy(out, at, sizeof(*at));
	wrong += end_send(&e[0], out, sizeof(out), 0) != sizeof(out);
	wrong += end_recv(&e[1], in, sizeof(in), MSG_WAITALL) != sizeof(in);
	wrong += memcmp(out, in, sizeof(in)) != 0;
	++*at;
	return wrong;
}

/**
 * struct seen - what the server saw of its liars
 * @leaked: bytes of friends among what a liar is said to have sent
 */
struct seen {
	long connections, resets, bytes, bad_errno, bad_count, leaked;
	int last_errno;
};

static bool receive(struct end *e, struct seen *s)
{
	char buf[3000];
	ssize_t n = end_recv(e, buf, sizeof(buf), 0);

	if (n > 0) {
		s->bytes += n;
		s->bad_count += n > (ssize_t)sizeof(buf);
		s->leaked += memchr(buf, SECRET, n) != NULL;
		return true;
	}
	if (n == 0)
		return true;	/* an empty message, or the end: send finds out */
	s->resets += errno == ECONNRESET;
	if (errno != ECONNRESET && errno != EAGAIN && errno != EPIPE) {
		s->bad_errno++;
		s->last_errno = errno;
	}
	return errno == EAGAIN;
}

static bool transmit(struct end *e, struct seen *s)
{
	char buf[600];
	ssize_t n;

	memset(buf, 'v', sizeof(buf));
	n = end_send(e, buf, sizeof(buf), MSG_NOSIGNAL);
	if (n > 0) {
		s->bad_count += n > (ssize_t)sizeof(buf);
		return true;
	}
	s->resets += errno == ECONNRESET;
	if (errno != ECONNRESET && errno != EAGAIN && errno != EPIPE) {
		s->bad_errno++;
		s->last_errno = errno;
	}
	return errno == EAGAIN;
}

static void serve(const struct transport *t, int listener, struct seen *s)
{
	struct end e;
	int fd, i;

	MUST(poll_wait(listener, POLLIN, 20000) & POLLIN);
	fd = accept(listener, NULL, NULL);
	MUST(fd >= 0);
	MUST(set_timeout(fd, SO_RCVTIMEO, 5) == 0 && set_timeout(fd, SO_SNDTIMEO, 5) == 0);
	end_init(t, &e, fd, 1);
	for (i = 0; i < 40; i++) {
		if (!receive(&e, s) || !transmit(&e, s))
			break;
	}
	s->connections++;
	end_close(&e);
}

#define LIARS	2

/* A machine with other work needs longer. */
static bool enough(const struct seen *s)
{
	return s->connections >= 10 && s->resets && s->bytes;
}

static void storm(const struct transport *t)
{
	struct liar l[LIARS];
	struct seen s = { 0 };
	long until, latest, wrong = 0;
	struct end friends[2];
	pid_t pid[LIARS];
	size_t talk = 0;
	struct address a;
	int fd, i;

	trace_num(0x11a5, "seed");
	fd = tp_socket(t, SOCK_CLOEXEC);
	MUST(set_int(fd, SOL_SOCKET, SO_SNDBUF, RING / 2) == 0);
	MUST(set_int(fd, SOL_SOCKET, SO_RCVBUF, RING / 2) == 0);
	tp_address(t, &a);
	MUST(bind_to(fd, &a) == 0 && listen(fd, 4) == 0);
	tp_pair_sized(t, friends, RING / 2);
	for (i = 0; i < LIARS; i++) {
		l[i] = (struct liar){ t, a, i };
		pid[i] = process_start(liar, &l[i]);
	}
	until = now_ms() + soak_times(HOSTILE_MS, 20);
	latest = until + LATE_MS;
	while (now_ms() < until || (!enough(&s) && now_ms() < latest)) {
		serve(t, fd, &s);
		wrong += friends_talk(friends, &talk);
	}
	for (i = 0; i < LIARS; i++) {
		kill(pid[i], SIGKILL);
		process_join(pid[i]);
	}
	trace_num(s.connections, "connections");
	trace_num(s.bytes, "bytes");
	WANT_TRUE(s.connections >= 10, "there were some");
	WANT_TRUE(s.resets > 0, "lies were found");
	WANT_TRUE(s.bytes > 0, "bytes came");
	WANT(s.bad_errno, 0, 0, "errors other than resets, the last %d", s.last_errno);
	WANT(s.bad_count, 0, 0, "more bytes than asked for");
	WANT(s.leaked, 0, 0, "bytes of others");
	WANT(wrong, 0, 0, "wrong among friends, who talked %zu times", talk);
	close(fd);
	pair_close(friends);
}

static const struct test_case cases[] = {
	{ "storm", storm, CASE_BOTH | CASE_SPEED | CASE_FUSED | CASE_PATHS },
};

RUN_CASES(cases)
