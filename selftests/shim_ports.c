// SPDX-License-Identifier: GPL-2.0
/* net.speed.loopback_ports: its syntax, and which connections it chooses. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <unistd.h>

#include "stress.h"
#include "tcp_pair.h"

#define PORTS	"loopback_ports"

static bool says(const char *want)
{
	char text[4096];

	MUST(sysctl_get(PORTS, text, sizeof(text)) == 0);
	if (strcmp(text, want))
		trace_str(text, "it says");
	return !strcmp(text, want);
}

static void syntax(const struct transport *t)
{
	static const struct {
		const char *in, *out;
	} good[] = {
		{ "80", "80" }, { "80\n", "80" }, { "80,443,6000-6100", "80,443,6000-6100" },
		{ "443,80", "80,443" }, { "80,81,82", "80-82" }, { "5-7,6-9", "5-9" },
		{ "0-65535", "0-65535" }, { "65535", "65535" }, { "7-7", "7" }, { "0", "0" },
		{ "!80", "!80" }, { "!443,80-81\n", "!80-81,443" }, { " !9", "!9" },
		{ "!0-65535", "!0-65535" }, { "\n", "" }, { "!", "" },
	};
	size_t i;

	(void)t;
	tcp_own_net();
	WANT_TRUE(says(""), "empty in a new namespace");
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		WANT_OK(sysctl_set(PORTS, good[i].in), "%s", good[i].in);
		WANT_TRUE(says(good[i].out), "reads as %s", good[i].out);
		WANT_OK(sysctl_set(PORTS, good[i].out[0] ? good[i].out : "\n"), "what was read");
		WANT_TRUE(says(good[i].out), "stays %s", good[i].out);
	}
}

static void wrong(const struct transport *t)
{
	static const char *const bad[] = {
		"x", "80,x", "65536", "70000", "0-65536", "9-5", "-1", "80-", "-80", "80,-5",
		"80 90",
		"!!80", "80!90", "80,!90", "!x", "80;90", "80,90-", "1-2-3",
	};
	size_t i;

	(void)t;
	tcp_own_net();
	WANT_OK(sysctl_set(PORTS, "!7,11-13"), "a good one");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		WANT_ERR(sysctl_set(PORTS, bad[i]), EINVAL, "%s", bad[i]);
		WANT_TRUE(says("!7,11-13"), "what was there stays after %s", bad[i]);
	}
}

/* As a shell does: what one call did not take, the next does. */
static bool write_all(const char *text)
{
	int fd = open("/proc/sys/net/speed/" PORTS, O_WRONLY | O_CLOEXEC);
	size_t done = 0, len = strlen(text);
	ssize_t n = 1;

	MUST(fd >= 0);
	while (done < len && n > 0) {
		n = write(fd, text + done, len - done);
		done += n > 0 ? n : 0;
	}
	close(fd);
	return done == len;
}

/* A list that is longer than a page. */
static void long_list(const struct transport *t)
{
	static char text[80000], back[80000];
	int i, fd, used;
	ssize_t n;

	(void)t;
	tcp_own_net();
	for (i = 0, used = 1, text[0] = '!'; i < 6000; i++)
		used += sprintf(text + used, "%s%d", i ? "," : "", 1000 + 2 * i);
	WANT_TRUE(write_all(text + 1), "6000 ports");
	MUST(sysctl_get(PORTS, back, sizeof(back)) == 0);
	WANT_TRUE(!strcmp(text + 1, back), "read back: %.40s, %zu bytes of %d", back,
		  strlen(back), used - 1);
	WANT_TRUE(write_all(text), "all but these");
	MUST(sysctl_get(PORTS, back, sizeof(back)) == 0);
	WANT_TRUE(!strcmp(text, back), "read back: %.40s, %zu bytes of %d", back, strlen(back),
		  used);
	fd = open("/proc/sys/net/speed/" PORTS, O_RDONLY | O_CLOEXEC);
	MUST(fd >= 0);
	n = read(fd, back, 3);
	WANT_TRUE(n <= 3, "a short read: %zd", n);
	close(fd);
}

static bool takes_part(const char *ports, int port)
{
	struct address a;
	int listener, fd[2];
	bool yes;

	MUST(sysctl_set(PORTS, ports) == 0);
	listener = tcp_listen_at(LOCAL4, port, &a);
	tcp_join(listener, &a, tcp_socket(&a), fd);
	close(listener);
	WANT_TRUE(tcp_exchange(fd), "exchange");
	yes = tcp_fused(fd);
	WANT(tcp_takes_part(fd[0]), yes, 0, "who connected takes part if they are fused");
	WANT(tcp_takes_part(fd[1]), yes, 0, "and so does who was accepted");
	tcp_close(fd);
	return yes;
}

static void chosen(const struct transport *t)
{
	long not = stat_number("tcp_not_port");

	(void)t;
	tcp_shim_net();
	WANT(takes_part("\n", 7001), 1, 0, "all");
	WANT(takes_part("7001", 7001), 1, 0, "on the list");
	WANT(takes_part("7000,7002-7010", 7001), 0, 0, "not on the list");
	WANT(takes_part("7000-7010", 7010), 1, 0, "the end of a range");
	WANT(takes_part("7000-7010", 7011), 0, 0, "after a range");
	WANT(takes_part("!7001", 7001), 0, 0, "excluded");
	WANT(takes_part("!7001", 7002), 1, 0, "not excluded");
	WANT(takes_part("!0-65535", 7002), 0, 0, "all excluded");
	WANT(takes_part("!", 7002), 1, 0, "nothing excluded");
	WANT(stat_number("tcp_not_port") - not, 4, 0, "tcp_not_port");
}

/* It is the listener's port that counts, not that of who connects. */
static void other_port(const struct transport *t)
{
	struct address a, from;
	int listener, client, fd[2], i;

	(void)t;
	tcp_shim_net();
	MUST(sysctl_set(PORTS, "7100") == 0);
	for (i = 0; i < 2; i++) {
		listener = tcp_listen_at(LOCAL4, i ? 7100 : 7200, &a);
		tcp_address(&from, LOCAL4, i ? 7200 : 7100);
		client = tcp_socket(&a);
		MUST(set_int(client, SOL_SOCKET, SO_REUSEADDR, 1) == 0);
		MUST(bind_to(client, &from) == 0);
		tcp_join(listener, &a, client, fd);
		WANT_TRUE(tcp_exchange(fd), "exchange");
		WANT(tcp_fused(fd), i, 0, "fused by the listener's port alone");
		close(listener);
		MUST(setsockopt(fd[0], SOL_SOCKET, SO_LINGER, &(struct linger){ 1, 0 },
				sizeof(struct linger)) == 0);
		/* The reset comes before the addresses are used again. */
		close(fd[0]);
		poll_wait(fd[1], POLLIN, 5000);
		close(fd[1]);
	}
}

/* Connections that are there are left alone; each namespace has its own list. */
static void later(const struct transport *t)
{
	int fd[2], home;

	(void)t;
	tcp_shim_net();
	tcp_fused_pair(fd);
	MUST(sysctl_set(PORTS, "9") == 0);
	WANT_TRUE(tcp_exchange(fd) && tcp_fused(fd), "fused before, and still");
	tcp_close(fd);
	home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	MUST(home >= 0);
	tcp_shim_net();
	WANT_TRUE(says(""), "empty abroad");
	tcp_fused_pair(fd);
	tcp_close(fd);
	MUST(setns(home, CLONE_NEWNET) == 0);
	WANT_TRUE(says("9"), "as it was at home");
}

static const struct test_case cases[] = {
	{ "syntax", syntax, CASE_STREAM | CASE_SPEED },
	{ "wrong", wrong, CASE_STREAM | CASE_SPEED },
	{ "long_list", long_list, CASE_STREAM | CASE_SPEED },
	{ "chosen", chosen, CASE_STREAM | CASE_SPEED },
	{ "other_port", other_port, CASE_STREAM | CASE_SPEED },
	{ "later", later, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
