// SPDX-License-Identifier: GPL-2.0
/*
 * A stream's sender or receiver, whose other side is the fuzzer.
 */
#include "drive.h"

#define USER_BYTES	(4 * SIZE)

static unsigned char user[USER_BYTES];

/* As a plain call does it: what there is, at most what was asked for. */
static int64_t some(struct speed_side *s, int role, uint64_t len)
{
	int64_t can = role == SPEED_ROLE_TX ? speed_prod_free(s, len) : speed_cons_ready(s, len);

	if (can <= 0)
		return can;
	if ((uint64_t)can < len)
		len = can;
	if (role == SPEED_ROLE_TX)
		memcpy(speed_ring_span(s, 0), user, len);
	else
		memcpy(user, speed_ring_span(s, 0), len);
	speed_ring_publish(s, len);
	return len;
}

/* As MSG_WAITALL does it, or a send that publishes in steps. */
static int64_t in_steps(struct speed_side *s, int role, uint64_t len, uint64_t step)
{
	uint64_t done = 0, rounds = 0;
	int64_t n = 0;

	while (done < len) {
		must(rounds++ <= len);
		n = some(s, role, len - done < step ? len - done : step);
		if (n <= 0)
			break;
		done += n;
	}
	/* What was moved before the lie was met counts; the next call meets it again. */
	return done ? (int64_t)done : n;
}

/* As zero copy does it: look at a span, use it, tell how much was used. */
static int64_t span(struct speed_side *s, int role, uint64_t want, uint64_t use)
{
	int64_t can = role == SPEED_ROLE_TX ? speed_prod_free(s, want) : speed_cons_ready(s, want);

	if (can <= 0)
		return can;
	if (use > (uint64_t)can)
		use = can;
	if (role == SPEED_ROLE_TX)
		memset(speed_ring_span(s, 0), 1, can);
	else
		memcpy(user, speed_ring_span(s, 0), can);
	speed_ring_publish(s, use);
	return use;
}

static int64_t honest(struct speed_side *s, int role, uint8_t what)
{
	uint64_t len = take(2) % USER_BYTES + 1;

	switch (what % 4) {
	case 0:
	case 1:
		return some(s, role, len);
	case 2:
		return in_steps(s, role, len > SIZE ? SIZE : len, take8() * 8 + 1);
	default:
		return span(s, role, len > SIZE ? SIZE : len, take(2));
	}
}
