// SPDX-License-Identifier: GPL-2.0
/* SOL_SPEED on a TCP socket: SPEED_FUSE in the middle of a stream, SPEED_FUSION. */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include "stress.h"
#include "tcp_pair.h"

static int wish_of(int fd)
{
	uint32_t wish = 77;

	return get_exact(fd, SPEED_FUSE, &wish, sizeof(wish)) ? -1 : (int)wish;
}

/* Sets and gets that must fail, and leave everything as it is. */
static void wrong(const struct transport *t)
{
	uint64_t room[16] = { 1 };
	socklen_t len;
	int fd[2], i;

	(void)t;
	tcp_shim_net();
	tcp_fused_pair(fd);
	for (i = 0; i <= 8; i++) {
		if (i != 4)
			WANT_ERR(setsockopt(fd[0], SOL_SPEED, SPEED_FUSE, room, i), EINVAL,
				 "set with %d bytes", i);
	}
	WANT_ERR(tcp_set_fuse(fd[0], 2), EINVAL, "2");
	WANT_ERR(tcp_set_fuse(fd[0], 0xffffffff), EINVAL, "all ones");
	WANT_ERR(setsockopt(fd[0], SOL_SPEED, SPEED_FUSE, bad_pointer(), 4), EFAULT, "bad pointer");
	for (i = 0; i < 20; i++) {
		if (i != SPEED_FUSE && i != SPEED_UNLEASE)
			WANT_ERR(setsockopt(fd[0], SOL_SPEED, i, room, 4), ENOPROTOOPT,
				 "set %d", i);
		len = 4;
		if (i < SPEED_MAGIC || i > SPEED_FUSION || i == SPEED_MODE || i == SPEED_UNLEASE)
			WANT_ERR(getsockopt(fd[0], SOL_SPEED, i, room, &len), ENOPROTOOPT,
				 "get %d", i);
	}
	for (i = 0; i <= 80; i++) {
		len = i;
		if (i != sizeof(struct speed_fusion))
			WANT_ERR(getsockopt(fd[0], SOL_SPEED, SPEED_FUSION, room, &len), EINVAL,
				 "SPEED_FUSION of %d bytes", i);
		len = i;
		if (i != 4)
			WANT_ERR(getsockopt(fd[0], SOL_SPEED, SPEED_FUSE, room, &len), EINVAL,
				 "SPEED_FUSE of %d bytes", i);
	}
	len = 4;
	WANT_ERR(getsockopt(fd[0], SOL_SPEED, SPEED_FUSE, bad_pointer(), &len), EFAULT, "there");
	WANT_ERR(getsockopt(fd[0], SOL_SPEED, SPEED_FUSE, room, bad_pointer()), EFAULT, "its size");
	WANT_TRUE(tcp_exchange(fd) && tcp_fused(fd), "fused as before");
	tcp_close(fd);
}

#define NO_LEVEL	(SOL_SPEED + 1)

static int get_word(int fd, int level, int name, uint32_t *word)
{
	socklen_t len = sizeof(*word);

	return getsockopt(fd, level, name, word, &len) ? errno : 0;
}

static int set_word(int fd, int level, int name)
{
	return setsockopt(fd, level, name, &(uint32_t){ 0 }, sizeof(uint32_t)) ? errno : 0;
}

/* As any other level that a socket does not know. */
static void no_part(const struct transport *t)
{
	uint32_t word = 0;
	int fd[2];

	(void)t;
	tcp_own_net();
	tcp_pair(fd);
	WANT_TRUE(set_word(fd[0], NO_LEVEL, 7) && get_word(fd[0], NO_LEVEL, 7, &word), "no level");
	WANT(set_word(fd[0], SOL_SPEED, SPEED_FUSE), set_word(fd[0], NO_LEVEL, 7), 0,
	     "set, who takes no part");
	WANT(get_word(fd[0], SOL_SPEED, SPEED_FUSE, &word), get_word(fd[0], NO_LEVEL, 7, &word), 0,
	     "get");
	tcp_close(fd);
	tcp_shim_set(1);
	tcp_fused_pair(fd);
	WANT(get_word(fd[1], SOL_SPEED, SPEED_MAGIC, &word), 0, 0, "magic, who does");
	WANT_TRUE(word == SPEED_MAGIC_VALUE, "its value");
	tcp_close(fd);
}

/* Each end's wish holds the whole connection on TCP, and each is its own. */
static void wishes(const struct transport *t)
{
	long request = stat_number("tcp_not_request");
	int fd[2], i;

	(void)t;
	tcp_shim_net();
	tcp_fused_pair(fd);
	for (i = 0; i < 2; i++) {
		WANT(wish_of(fd[i]), 1, 0, "may fuse at first");
		WANT_OK(tcp_set_fuse(fd[i], 0), "%d wants TCP", i);
		WANT(wish_of(fd[i]), 0, 0, "its wish");
		WANT(wish_of(fd[!i]), 1, 0, "the other's");
		WANT_TRUE(tcp_unfuses(fd), "unfused");
		WANT(tcp_reason(fd[i]), SPEED_TCP_REQUEST, 0, "the reason");
		WANT(tcp_reason(fd[!i]), SPEED_TCP_REQUEST, 0, "the other's reason");
		WANT_OK(tcp_set_fuse(fd[!i], 0), "the other wants it, too");
		WANT_OK(tcp_set_fuse(fd[i], 1), "this one does not any more");
		WANT_TRUE(tcp_exchange(fd) && !tcp_fused(fd), "not fused yet");
		WANT_OK(tcp_set_fuse(fd[!i], 1), "nor does the other");
		WANT_TRUE(tcp_fuses(fd), "fused again");
	}
	WANT(stat_number("tcp_not_request") - request, 4, 0, "tcp_not_request");
	tcp_close(fd);
}

/* At each change bytes lie unread, some by the ring and some by TCP. */
static void in_the_stream(const struct transport *t)
{
	struct chance c = chance_of(31);
	size_t put[2] = { 0 }, got[2] = { 0 };
	struct speed_fusion f;
	int fd[2], i, from;

	(void)t;
	tcp_shim_net();
	tcp_fused_pair(fd);
	for (i = 0; i < soak_times(1000, 50); i++) {
		size_t len = chance_below(&c, 8) ? 1 + chance_below(&c, 3000) : 40000;

		from = chance_below(&c, 2);
		if (chance_below(&c, 3) == 0)
			WANT_OK(tcp_set_fuse(fd[chance_below(&c, 2)], chance_below(&c, 2)),
				"a wish");
		if (put[from] - got[!from] + len < 200000) {
			WANT_TRUE(tcp_put(fd[from], len, put[from]), "put");
			put[from] += len;
		}
		len = put[from] - got[!from];
		if (len && chance_below(&c, 3)) {
			len = 1 + chance_below(&c, len);
			WANT_TRUE(tcp_get(fd[!from], len, got[!from]), "get");
			got[!from] += len;
		}
	}
	for (i = 0; i < 2; i++)
		WANT_TRUE(tcp_get(fd[!i], put[i] - got[!i], got[!i]), "the rest");
	f = tcp_fusion(fd[0]);
	WANT_TRUE(f.fused > 10 && f.unfused > 10, "it moved %llu and %llu times",
		  (unsigned long long)f.fused, (unsigned long long)f.unfused);
	WANT_TRUE(f.bytes[0] > 0 && f.bytes[0] < put[0], "some by the ring, some by TCP");
	tcp_close(fd);
}

/* Asked for before a connection, the wish goes with it, to children too. */
static void from_the_start(const struct transport *t)
{
	struct address a;
	int listener, fd[2], i;

	(void)t;
	tcp_own_net();
	for (i = 0; i < 2; i++) {
		listener = tcp_listen_at(LOCAL4, 0, &a);
		fd[0] = tcp_socket(&a);
		MUST(tcp_set_ulp(fd[0], "speed") == 0);
		MUST(tcp_set_ulp(listener, "speed") == 0);
		WANT_OK(tcp_set_fuse(i ? listener : fd[0], 0), "stay on TCP");
		tcp_join(listener, &a, fd[0], fd);
		WANT(wish_of(fd[i]), 0, 0, "the wish, connected");
		WANT_TRUE(tcp_exchange(fd) && tcp_exchange(fd) && !tcp_fused(fd), "on TCP");
		WANT(tcp_fusion(fd[0]).fused + tcp_fusion(fd[1]).fused, 0, 0, "never fused");
		WANT_OK(tcp_set_fuse(fd[i], 1), "may fuse");
		WANT_TRUE(tcp_fuses(fd), "fused");
		tcp_close(fd);
		close(listener);
	}
}

static const struct test_case cases[] = {
	{ "wrong", wrong, CASE_STREAM | CASE_SPEED },
	{ "no_part", no_part, CASE_STREAM | CASE_SPEED },
	{ "wishes", wishes, CASE_STREAM | CASE_SPEED },
	{ "in_the_stream", in_the_stream, CASE_STREAM | CASE_SPEED },
	{ "from_the_start", from_the_start, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
