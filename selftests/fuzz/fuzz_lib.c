// SPDX-License-Identifier: GPL-2.0
/*
 * libspeed's transfers on the pages of a hostile peer.
 */
#include <signal.h>

#include "played.h"

#define LEN_MOST	(3 * SIZE)
#define TOLD_MOST	(4 * 65536)	/* length that a plain call may tell of a message */

static struct speed *handle;

static int some_flags(uint8_t how)
{
	static const int flags[] = {
		0, MSG_DONTWAIT, MSG_WAITALL, MSG_TRUNC, MSG_DONTWAIT | MSG_TRUNC,
		MSG_DONTWAIT | MSG_WAITALL, MSG_PEEK, MSG_NOSIGNAL,
	};

	return flags[how % 8];
}

/* A transfer's end: bytes that were asked for, or an error that has a name. */
static void check(ssize_t ret, size_t most)
{
	must(ret >= -1 && (ret < 0 || (size_t)ret <= most));
	if (ret < 0)
		must(errno > 0);
}

static void copy_once(uint8_t what, size_t len, int flags)
{
	unsigned char *buf = malloc(len ? len : 1);
	size_t most = flags & MSG_TRUNC ? TOLD_MOST : len;

	memset(buf, 'u', len);
	if (what & 1)
		check(speed_send(handle, buf, len, flags), len);
	else
		check(speed_recv(handle, buf, len, flags), most);
	free(buf);
}

static void copy_vector(uint8_t what, size_t len, int flags)
{
	size_t most = flags & MSG_TRUNC ? TOLD_MOST : len;
	size_t first = len / 3;
	struct iovec iov[3] = {
		{ .iov_base = calloc(1, first + 1), .iov_len = first },
		{ .iov_base = NULL, .iov_len = 0 },
		{ .iov_base = calloc(1, len - first + 1), .iov_len = len - first },
	};

	if (what & 1)
		check(speed_sendv(handle, iov, 3, flags), len);
	else
		check(speed_recvv(handle, iov, 3, flags), most);
	free(iov[0].iov_base);
	free(iov[2].iov_base);
}

static void zero_copy_send(uint8_t what, size_t len, int flags)
{
	void *span = NULL;
	ssize_t n;

	if (what & 1) {
		n = speed_reserve(handle, len, &span, flags & MSG_DONTWAIT);
		check(n, len);
		if (n > 0)
			memset(span, 'z', n);
	} else {
		check(speed_commit(handle, len, flags & MSG_DONTWAIT), len);
	}
}

static void zero_copy_recv(uint8_t what, size_t len, int flags)
{
	const void *span = NULL;
	ssize_t n;

	if (what & 1) {
		n = speed_peek(handle, len, &span, flags & (MSG_DONTWAIT | MSG_WAITALL));
		check(n, handle->type == SOCK_STREAM ? len : TOLD_MOST);
		if (n > 0)
			look_at(span, n);
	} else {
		check(speed_release(handle, len == LEN_MOST - 1 ? SPEED_CANCEL : len), 0);
	}
}

static void exchange(uint8_t what, size_t len, int flags)
{
	unsigned char *out = calloc(1, len + 1), *in = malloc(len + 1);

	flags &= MSG_WAITALL | MSG_NOSIGNAL;
	if (what & 1)
		check(speed_call(handle, out, len, in, len + 1, flags), len + 1);
	else
		check(speed_reply_wait(handle, what & 2 ? out : NULL, len, in, len + 1, flags),
		      len + 1);
	free(out);
	free(in);
}

static void honest(uint8_t what)
{
	int flags = some_flags(take8());
	size_t len = take(2) % LEN_MOST;

	switch (what % 8) {
	case 0:
	case 1:
		copy_once(what, len, flags);
		break;
	case 2:
	case 3:
		copy_vector(what, len, flags);
		break;
	case 4:
		zero_copy_send(what / 8, len, flags);
		break;
	case 5:
		zero_copy_recv(what / 8, len, flags);
		break;
	case 6:
		exchange(what / 8, len, flags);
		break;
	case 7:
		speed_map(handle, what / 8 % 4);
		break;
	}
}

static void hold_to_promises(void)
{
	const struct speed_side *side;
	int role;

	for (role = 0; role < SPEED_ROLES; role++) {
		side = &handle->role[role].side;
		if (handle->role[role].epoch == SPD_NO_LEASE)
			continue;
		must(side->size == SIZE);
		must((role == SPEED_ROLE_TX ? side->own - side->other :
					      side->other - side->own) <= SIZE);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	uint8_t op;
	int role;

	all_played();
	signal(SIGPIPE, SIG_IGN);	/* EPIPE comes with it */
	input = (struct cursor){ bytes, count };
	meddle_after = 0;
	op = take8();
	for (role = 0; role < SPEED_ROLES; role++) {
		if (!arenas[role].side.data)
			arena_open(&arenas[role], role);
		arenas[role].live = &arenas[role].side;
		arena_restart(&arenas[role], op & 2 ? -(uint64_t)take(2) : take(2));
	}
	handle = spd_handle_new(-1, op & 1 ? SOCK_SEQPACKET : SOCK_STREAM, SPEED_ATTACH_SINGLE,
				&ops);
	must(handle);
	handle->whole = op & 4;
	handle->alive = &handle->generation;
	for (role = 0; role < SPEED_ROLES; role++)
		handle->role[role].countdown = 0;
	while (input.left) {
		op = take8();
		arena = &arenas[op % SPEED_ROLES];
		if (op < 0x60)
			hostile_write(op / 2);
		else if (op < 0x80)
			hostile_later(op / 2, take8());
		else
			honest(op);
		hold_to_promises();
	}
	speed_detach(handle);
	return 0;
}
