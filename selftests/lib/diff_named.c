// SPDX-License-Identifier: GPL-2.0
/*
 * Programs by name, run first: each was once found to differ and shrunk, or holds what
 * chance finds too seldom. Paste what the tester prints.
 */
#include "diff_test.h"

const struct diff_named diff_named[] = {
	{ "echo",
	  "net v4; b listen; a socket; a connect; b accept; a send 100; b recv 100; b send 50; "
	  "a recv 100; a close; b recv 10; b send 1; b send 1" },
	{ "sent before accept, closed before read",
	  "net v4; b listen; a socket; a connect; a send 100; a shutdown wr; b accept; "
	  "b poll in out rdhup; b recv 60; b recv 60; b recv 60; b close; a recv 1" },
	{ "four times the ring",
	  "net v4; b listen; a socket; a connect; b accept; a send 1000000; x off; b recv 5000; "
	  "x on; b drain 300000; x tap; b drain 0; a join; x untap; a send 10; b recv 20" },
	{ "reset by unread bytes",
	  "net v6; b listen; a socket; a connect; b accept; a send 100; b send 100; b close; "
	  "a poll in out; a recv 50; a recv 100; a send 10; a recv 10; a get error" },
	{ "waiting reader, interrupted and filled",
	  "net v4; b listen; a socket; a connect; b accept; b2 recv 100 waitall; a send 60; "
	  "b2 signal restart; b signal; a send 30; a send 10; b2 recv 10; b2 signal; a send 1" },
	{ "a read across the switch to the ring",
	  "net v4; b listen; a socket; a connect; a send 10; b accept; b recv 1; a send 1; "
	  "b recv 100" },
	{ "ADDRFORM without a connection",
	  "net v4; a socket; a connect; a set addrform 2" },
	{ "zerocopy receive behind a close",
	  "net v4; b listen; a socket; a connect; b accept; a send 1; a close; b zcrecv 1" },
	{ "no SIGIO for one who waits",
	  "net v4; b listen; a socket; a connect; b accept; b set async 1; b recv 1; a send 1" },
	{ "no SIGIO below the low-water mark",
	  "net v4; b listen; a socket; a connect; b accept; b set lowat 49; b set async 1; "
	  "a send 1" },
	{ "no wake-up below the low-water mark",
	  "net v4; b listen; a socket; a connect; b accept; b set lowat 13; b recv 1; a send 1" },
	{ "no bytes, in time",
	  "net v4; b listen; a socket; a connect; a set rcvtimeo 12; a recv 0" },
	{ "back to TCP, taken by a zerocopy receive",
	  "net v4; b listen; a socket; a connect; b accept; b send 1; a fuse 0; b send 1; "
	  "a zcrecv 1" },
	{ "a byte behind an urgent one",
	  "net v4; b listen; a socket; a connect; a send 1 oob; b accept; a send 1; b inq; "
	  "b recv 1 dontwait; b recv 1 oob; b recv 1 dontwait" },
	{ "the mark stays",
	  "net v4; b listen; a socket; a connect; b accept; a send 1; b recv 1; a send 10 oob; "
	  "a send 5; b inq; b recv 100; b inq; b atmark; b recv 100 dontwait" },
	{ "a peek over an urgent byte",
	  "net v4; b listen; a socket; a connect; b accept; b send 1 oob; b send 1; a recv 10 peek" },
	{ "what is told beside a peek before an urgent byte",
	  "net v4; b listen; a socket; a connect; b accept; b send 10 oob; a recvmsg 1 peek" },
	{ "an urgent byte ends recvmmsg()",
	  "net v4; b listen; a socket; a connect; a send 1; b accept; b send 1; a send 1 oob; "
	  "b recvmmsg 1 peek oob" },
	{ "reset while the ring is full",
	  "net v4; b listen; a socket; a connect; b accept; b send 300000; a close; b recv 1; "
	  "b get error" },
	{ "no SIGIO for a sender that waited",
	  "net v4; b listen; a socket; a connect; b accept; b set async 1; b send 304974; "
	  "a drain 0" },
	{ "no room, and all was peeked",
	  "net v4; b listen; a socket; a connect; a send 21; b accept; b set peekoff 17; "
	  "b recvmmsg 100 peek" },
	{ "a splice below the low-water mark, interrupted",
	  "net v4; b listen; a socket; a connect; b accept; a set lowat 30; a spliceout 1; "
	  "b send 1" },
	{ "an urgent byte, and how much is left",
	  "net v4; b listen; a socket; a connect; b accept; b set inq 1; a send 1; "
	  "a send 1 oob; b recvmsg 1 oob" },
	{ "urgent bytes behind an unread one",
	  "net v4; b listen; a socket; a connect; b accept; b send 1; b sendmmsg 5 oob; "
	  "a inq; a atmark; a recv 10; a recv 10; a recv 1 oob; a recv 10 dontwait" },
	{ "two urgent bytes behind what was sent to a ring, in line",
	  "net v4; b listen; a socket; a connect; b accept; a set oobinline 1; b send 100; "
	  "b send 1 oob; b send 10; b send 1 oob; b send 10; a recv 60; a recv 100; a atmark; "
	  "a recv 100; a recv 100 dontwait" },
	{ "a peek that waits behind an urgent byte in line",
	  "net v4; b listen; a socket; a connect; b accept; b set oobinline 1; a send 1 oob; "
	  "b recv 10 peek waitall; a send 5; a send 4" },
	{ "a peek that waits behind one it passed over",
	  "net v4; b listen; a socket; a connect; b accept; a send 1 oob; a send 2; "
	  "b recv 10 peek waitall; a send 5; a send 3" },
	{ "a peek of one byte behind one passed over, and of one that comes later",
	  "net v4; b listen; a socket; a connect; b accept; a send 1 oob; a send 1; b recv 1 peek; "
	  "b recv 2 peek waitall; a send 1; b recv 10 dontwait; b set peekoff 0; a send 5; "
	  "a send 1 oob; b recv 5 peek; b recv 1 peek; a send 1; b recv 1 peek; b recv 10" },
	{ "a peek behind an urgent byte that is next, from a place of its own",
	  "net v4; b listen; a socket; a connect; b accept; b set peekoff 3; a send 1 oob; "
	  "a send 2; b recv 1 peek; a send 1; a send 1" },
	{ "a peek that waits, and stops before an urgent byte",
	  "net v4; b listen; a socket; a connect; b accept; b set oobinline 1; a send 2; "
	  "b recv 10 peek waitall; a send 3 oob; a send 4; b recv 10 peek waitall" },
	{ "a splice leaves the place of a peek",
	  "net v4; b listen; a socket; a connect; b accept; b set peekoff 18; a send 44; "
	  "b spliceout 1; b recv 1 peek; b spliceout 30; b recv 1 peek; b recv 1 peek" },
	{ "a FIN that was read with the byte before it",
	  "net v4; b listen defer; a socket; a connect; a send 1; b accept; a send 8102; "
	  "a close; b recv 7042; b zcrecv 1; b inq; b zcrecv 5000; b recv 100; b recv 1" },
	{ "an urgent byte before there are two ends, and what follows it",
	  "net v4; b listen defer; a socket; a connect; a send 1 oob; b accept; a send 1; "
	  "x tap; a send 1" },
	{ "the acknowledgment of a send without copying, beyond the window",
	  "net v4; b listen; a socket; a connect; a set zerocopy 1; a send 64287; "
	  "a send 1 zerocopy; a zcdone" },
	{ "a splice by a child and by a thread, while another waits",
	  "net v4; b listen; a socket; a connect; b accept; a splicein 1; a2 fork; a spliceout 10; "
	  "af splicein 10; a2 splicein 10; b send 5; b recv 30" },
	{ "accept, in time",
	  "net v4; b listen; b lset rcvtimeo 12; b accept" },
	{ "SIGIO of a send without copying",
	  "net v4; b listen; a socket; a set async 1; a connect; b accept; a set zerocopy 1; "
	  "a send 1; b send 1; a get timestamp; a send 1 zerocopy" },
	{ "told again by SO_RCVLOWAT",
	  "net v4; b listen; a socket; a connect; b accept; b set async 1; a send 1; b poll; "
	  "b set lowat 0; b set lowat 1; b set lowat 2; b get lowat" },
	{ "how much of a buffer is left before an urgent byte",
	  "net v4; b listen; a socket; a connect; b accept; b send 1; a recv 1; a send 1; "
	  "b send 10 oob; b send 1; a zcrecv 10" },
	{ "an error queue behind an acknowledgment",
	  "net v4; b listen; a socket; a connect; b accept; a set zerocopy 1; a send 1; "
	  "b send 1; a send 1 zerocopy; a recv 1 errqueue" },
	{ "a small buffer, and a reader that does not wait",
	  "net v4; b listen; b lset sndbuf 1; a socket; a connect; b accept; b send 10000" },
	{ "a sender killed beyond the window",
	  "net v4; b listen; a socket; a connect; b accept; b send 291093; b kill; a info" },
	{ "closed by a reader that may have left some",
	  "net v4; b listen; a socket; a connect; b accept; a set nonblock 1; b send 944014; "
	  "a drain 0; a close; b recv 16 dontwait" },
	{ "bytes to write of a connection that was never begun",
	  "net v4; b listen; a socket; a set fastopen 1; a connect; a shutdown wr; a outq" },
	{ "disconnected under one who waits",
	  "net v4; b listen; a socket; a connect; a2 recv 1; a disconnect" },
};

const int diff_named_n = sizeof(diff_named) / sizeof(diff_named[0]);
