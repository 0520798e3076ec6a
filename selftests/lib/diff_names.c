// SPDX-License-Identifier: GPL-2.0
/* The names of operations, words and actors: see diff_op.h. */
#define _GNU_SOURCE
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "diff_op.h"

const char *const diff_actors[DIFF_NAMES] = {
	"a", "a2", "aq", "af", "b", "b2", "bq", "bf", "x"
};

const char *const diff_nets[DIFF_NETS] = { "v4", "v6", "mapped", "dual", "alias" };

#define SENDS	(DC_SEND | DC_LENGTH)
#define READS	(DC_READ | DC_LOOK | DC_LENGTH)

const struct diff_code_info diff_codes[DIFF_CODES] = {
	[DO_LISTEN]	= { "listen", 0 },
	[DO_LSET]	= { "lset", DC_OPTION | DC_VALUE },
	[DO_SOCKET]	= { "socket", 0 },
	[DO_CONNECT]	= { "connect", 0 },
	[DO_ACCEPT]	= { "accept", DC_ACCEPT },
	[DO_LCLOSE]	= { "lclose", 0 },
	[DO_SEND]	= { "send", SENDS },
	[DO_WRITE]	= { "write", SENDS },
	[DO_WRITEV]	= { "writev", SENDS },
	[DO_SENDMSG]	= { "sendmsg", SENDS },
	[DO_SENDTO]	= { "sendto", SENDS },
	[DO_SENDMMSG]	= { "sendmmsg", SENDS },
	[DO_SENDFILE]	= { "sendfile", SENDS },
	[DO_SPLICEIN]	= { "splicein", SENDS },
	[DO_RECV]	= { "recv", READS },
	[DO_READ]	= { "read", READS },
	[DO_READV]	= { "readv", READS },
	[DO_RECVMSG]	= { "recvmsg", READS },
	[DO_RECVFROM]	= { "recvfrom", READS },
	[DO_RECVMMSG]	= { "recvmmsg", READS },
	[DO_SPLICEOUT]	= { "spliceout", READS },
	[DO_DRAIN]	= { "drain", READS },
	[DO_ZCRECV]	= { "zcrecv", READS },
	[DO_SHUTDOWN]	= { "shutdown", DC_ABORT | DC_LOOK },
	[DO_CLOSE]	= { "close", DC_ABORT | DC_LOOK },
	[DO_DISCONNECT]	= { "disconnect", DC_ABORT | DC_LOOK },
	[DO_DUP]	= { "dup", 0 },
	[DO_FORK]	= { "fork", 0 },
	[DO_PASS]	= { "pass", 0 },
	[DO_KILL]	= { "kill", DC_ABORT | DC_LOOK },
	[DO_SIGNAL]	= { "signal", 0 },
	[DO_JOIN]	= { "join", 0 },
	[DO_POLL]	= { "poll", DC_LOOK | DC_OUTWARD },
	[DO_SELECT]	= { "select", DC_LOOK | DC_OUTWARD },
	[DO_EPADD]	= { "epadd", DC_LOOK | DC_OUTWARD },
	[DO_EPMOD]	= { "epmod", DC_LOOK | DC_OUTWARD },
	[DO_EPDEL]	= { "epdel", 0 },
	[DO_EPWAIT]	= { "epwait", DC_LOOK | DC_OUTWARD },
	[DO_SET]	= { "set", DC_LOOK | DC_OPTION | DC_VALUE },
	[DO_GET]	= { "get", DC_LOOK | DC_OPTION },
	[DO_INQ]	= { "inq", DC_LOOK },
	[DO_OUTQ]	= { "outq", DC_OUTWARD },
	[DO_ATMARK]	= { "atmark", DC_LOOK },
	[DO_NAMES]	= { "names", DC_LOOK },
	[DO_INFO]	= { "info", DC_LOOK | DC_OUTWARD },
	[DO_ERRQ]	= { "errq", DC_LOOK | DC_OUTWARD },
	[DO_ZCDONE]	= { "zcdone", DC_LOOK | DC_OUTWARD },
	[DO_OFF]	= { "off", DC_HIDDEN },
	[DO_ON]		= { "on", DC_HIDDEN },
	[DO_TAP]	= { "tap", DC_HIDDEN },
	[DO_UNTAP]	= { "untap", DC_HIDDEN },
	[DO_FUSE]	= { "fuse", DC_HIDDEN | DC_VALUE },
	[DO_TAKE]	= { "take", DC_TESTER },
	[DO_FINISH]	= { "finish", DC_READ | DC_LOOK | DC_TESTER },
	[DO_RESET]	= { "reset", DC_TESTER },
};

const char *const diff_words[DIFF_WORDS] = {
	"peek", "waitall", "dontwait", "trunc", "oob", "more", "nosignal", "zerocopy", "eor",
	"fastopen", "errqueue", "bad", "tail", "null", "wait", "in", "out", "pri", "rdhup", "hup",
	"err", "et", "oneshot", "nonblock", "refused", "defer", "rd", "wr", "restart"
};

struct pair_of_bits {
	uint32_t word;
	uint32_t bit;
};

static const struct pair_of_bits messages[] = {
	{ DW_PEEK, MSG_PEEK }, { DW_WAITALL, MSG_WAITALL }, { DW_DONTWAIT, MSG_DONTWAIT },
	{ DW_TRUNC, MSG_TRUNC }, { DW_OOB, MSG_OOB }, { DW_MORE, MSG_MORE },
	{ DW_NOSIGNAL, MSG_NOSIGNAL }, { DW_ZEROCOPY, MSG_ZEROCOPY }, { DW_EOR, MSG_EOR },
	{ DW_FASTOPEN, MSG_FASTOPEN }, { DW_ERRQUEUE, MSG_ERRQUEUE }, { 0 }
};

static const struct pair_of_bits events[] = {
	{ DW_IN, EPOLLIN | EPOLLRDNORM }, { DW_OUT, EPOLLOUT | EPOLLWRNORM }, { DW_PRI, EPOLLPRI },
	{ DW_RDHUP, EPOLLRDHUP }, { DW_HUP, EPOLLHUP }, { DW_ERR, EPOLLERR }, { DW_ET, EPOLLET },
	{ DW_ONESHOT, EPOLLONESHOT }, { 0 }
};

static uint32_t bits_of(const struct pair_of_bits *p, uint32_t words)
{
	uint32_t bits = 0;

	for (; p->word; p++) {
		if (words & p->word)
			bits |= p->bit;
	}
	return bits;
}

int diff_msg_flags(uint32_t words)
{
	return bits_of(messages, words);
}

uint32_t diff_poll_events(uint32_t words)
{
	return bits_of(events, words);
}

uint32_t diff_poll_words(uint32_t bits)
{
	const struct pair_of_bits *p;
	uint32_t words = 0;

	for (p = events; p->word; p++) {
		if (bits & p->bit)
			words |= p->word;
	}
	return words;
}
