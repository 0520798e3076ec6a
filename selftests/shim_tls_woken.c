// SPDX-License-Identifier: GPL-2.0
/*
 * One end of a fused connection has given its ULP to kTLS, whose callbacks want the
 * socket locked; the other end, which still has the connection, may say as often as it
 * likes that its peer shall look.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "procfile.h"
#include "stress.h"
#include "tcp_pair.h"
#include "tls.h"
#include "tracing.h"

#define PROBE		"speed_tls_woken"
#define PROBES		TRACING "/kprobe_events"
#define PROBE_EVENT	TRACING "/events/kprobes/" PROBE "/enable"
#define PROBE_COUNTS	TRACING "/kprobe_profile"
#define WAKES		100

/* One probe more, or less: file_write() would take all others away. */
static bool change_probes(const char *text)
{
	int fd = open(PROBES, O_WRONLY | O_APPEND);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

/* How often the probe was hit. */
static long probe_hits(void)
{
	char name[64];
	long hits, found = -1;
	FILE *f = fopen(PROBE_COUNTS, "r");

	MUST(f);
	while (fscanf(f, "%63s %ld %*d", name, &hits) == 2)
		if (!strcmp(name, PROBE))
			found = hits;
	fclose(f);
	return found;
}

static long recv_one(void *fd)
{
	char c;

	return recv(*(int *)fd, &c, 1, 0);
}

/* The callback is not called, and whoever sleeps looks. */
static void callback(const struct transport *t)
{
	struct task k;
	int fd[2], i;
	long before;

	(void)t;
	tcp_shim_net();
	tracing_need();
	tcp_need_tls();
	if (!change_probes("p:" PROBE " tls_data_ready"))
		trace_skip("needs CONFIG_KPROBE_EVENTS (" PROBES ")");
	MUST(file_write(PROBE_EVENT, "1") == 0);
	tcp_fused_pair(fd);
	WANT_OK(tcp_set_ulp(fd[0], "tls"), "who reads");
	WANT_OK(tls_keys(fd[0], TLS_RX), "its keys");
	WANT_OK(tls_keys(fd[0], TLS_TX), "its keys");
	task_start(&k, recv_one, &fd[0]);
	WANT_TRUE(task_sleeps(&k), "recv waits");
	before = probe_hits();
	for (i = 0; i < WAKES; i++)
		WANT_OK(ioctl(fd[1], SPEED_IOC_WAKE, SPEED_WAKE_READER), "wake");
	WANT(probe_hits() - before, 0, 0, "calls of kTLS's callback");
	WANT_OK(tcp_set_ulp(fd[1], "tls"), "who sends");
	WANT_OK(tls_keys(fd[1], TLS_TX), "its keys");
	WANT(send(fd[1], "x", 1, 0), 1, 0, "send");
	WANT(task_join(&k), 1, 0, "recv");
	WANT_TRUE(probe_hits() > before, "TCP calls it");
	file_write(PROBE_EVENT, "0");
	change_probes("-:" PROBE);
	tcp_close(fd);
}

/* Records that nobody has decrypted. Return: how many bytes. */
static ssize_t make_records(char *to, size_t room, size_t len)
{
	ssize_t n, sum = 0;
	int fd[2];

	tcp_shim_set(0);
	tcp_pair(fd);
	WANT_OK(tcp_set_ulp(fd[0], "tls"), "who makes records");
	WANT_OK(tls_keys(fd[0], TLS_TX), "its keys");
	WANT_TRUE(tcp_put(fd[0], len, 0), "records");
	shutdown(fd[0], SHUT_WR);
	while ((n = recv(fd[1], to + sum, room - sum, 0)) > 0)
		sum += n;
	tcp_close(fd);
	tcp_shim_set(1);
	return sum;
}

#define WOKEN_BYTES	30000	/* in small pieces */
#define WOKEN_ROOM	(2 * WOKEN_BYTES)

struct woken {
	int fd;
	bool done;
	const char *records;
	ssize_t len;
};

static long wakes(void *arg)
{
	struct woken *w = arg;
	long times = 0;

	while (!__atomic_load_n(&w->done, __ATOMIC_RELAXED)) {
		ioctl(w->fd, SPEED_IOC_WAKE, SPEED_WAKE_READER | SPEED_WAKE_WRITER);
		times++;
	}
	return times;
}

static long sends_pieces(void *arg)
{
	struct woken *w = arg;
	ssize_t at = 0, n;

	while (at < w->len) {
		n = w->len - at < 97 ? w->len - at : 97;
		if (send(w->fd, w->records + at, n, 0) != n)
			return -1;
		at += n;
	}
	return at;
}

/* While records come, and while the socket is closed. */
static void storm(const struct transport *t)
{
	static char records[WOKEN_ROOM];
	struct woken w = { .records = records };
	int fd[2], i, rounds = soak_times(brief() ? 2 : 6, 20);
	struct task wake, send;

	(void)t;
	tcp_shim_net();
	tcp_need_tls();
	w.len = make_records(records, sizeof(records), WOKEN_BYTES);
	WANT_TRUE(w.len > WOKEN_BYTES, "records");
	for (i = 0; i < rounds; i++) {
		tcp_fused_pair(fd);
		WANT_OK(tcp_set_ulp(fd[0], "tls"), "%d: who reads", i);
		WANT_OK(tls_keys(fd[0], TLS_RX), "%d: its keys", i);
		w.fd = fd[1];
		w.done = false;
		task_start(&wake, wakes, &w);
		task_start(&send, sends_pieces, &w);
		WANT_TRUE(tcp_get(fd[0], WOKEN_BYTES, 0), "%d: what was in them", i);
		WANT(task_join(&send), w.len, 0, "%d: sent", i);
		if (i & 1)
			close(fd[0]);	/* while it is woken */
		__atomic_store_n(&w.done, true, __ATOMIC_RELAXED);
		WANT_TRUE(task_join(&wake) > 0, "%d: woken", i);
		if (!(i & 1))
			close(fd[0]);
		close(fd[1]);
	}
}

static const struct test_case cases[] = {
	{ "callback", callback, CASE_STREAM | CASE_SPEED },
	{ "storm", storm, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
