/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a transport may differ from AF_UNIX, the reference, and why.
 *
 * Each entry names the test, the transport, the line and the value that the
 * line must have instead; all four are patterns of fnmatch(). A value of an
 * AF_SPEED transport must be exact: it says what AF_SPEED promises.
 */
#ifndef SPEED_SELFTESTS_EXCEPTIONS_H
#define SPEED_SELFTESTS_EXCEPTIONS_H

static const struct exception exceptions[] = {
	{ "flags.out_of_band", "speed*", "recv with OOB*", "-1 EOPNOTSUPP",
	  "a ring has no urgent byte; AF_UNIX answers so where it is built without one" },
	{ "flags.out_of_band", "speed*", "send with OOB", "-1 EOPNOTSUPP",
	  "a ring has no urgent byte; AF_UNIX answers so where it is built without one" },
	{ "cmsg.credentials*", "speed", "credentials of one's own", "-1 EINVAL",
	  "a ring carries no control messages; who the peer is, SO_PEERCRED tells" },
	{ "cmsg.credentials*", "speed", "those of process 1", "-1 EINVAL",
	  "a ring carries no control messages; who the peer is, SO_PEERCRED tells" },
	{ "cmsg.asked_for_credentials*", "speed", "msg_controllen", "0",
	  "a ring carries no control messages; who the peer is, SO_PEERCRED tells" },
	{ "cmsg.asked_for_credentials*", "speed", "SO_PASSCRED", "-1 EOPNOTSUPP",
	  "kernels from 6.16 on know by number which families may set it" },
	{ "cmsg.rights*", "speed*", "a descriptor", "-1 EOPNOTSUPP",
	  "a ring cannot carry descriptors, and says so before it looks at them" },
	{ "cmsg.rights", "speed*", "two descriptors", "-1 EOPNOTSUPP",
	  "a ring cannot carry descriptors, and says so before it looks at them" },
	{ "cmsg.rights", "speed*", "one that is not open", "-1 EOPNOTSUPP",
	  "a ring cannot carry descriptors, and says so before it looks at them" },
	{ "cmsg.rights.*", "speed*", "two descriptors", "-1 EOPNOTSUPP",
	  "a ring cannot carry descriptors, and says so before it looks at them" },
	{ "cmsg.rights.*", "speed*", "one that is not open", "-1 EOPNOTSUPP",
	  "a ring cannot carry descriptors, and says so before it looks at them" },
	{ "cmsg.rights_among_data", "speed*", "recv", "3",
	  "the byte beside the descriptor, which AF_UNIX glues to what came before, was refused" },
	{ "options.passing*", "speed", "*SO_PASSCRED*", "-1 EOPNOTSUPP",
	  "kernels from 6.16 on know by number which families may set it" },
	{ "ioctls.at_mark", "speed", "SIOCATMARK", "-1 ENOTTY",
	  "a ring has no urgent byte; AF_UNIX answers so where it is built without one" },
	{ "close.unread_waitall", "speed*", "recv after that", "-1 ECONNRESET",
	  "AF_UNIX forgets an error that MSG_WAITALL meets after some bytes; TCP does not" },
	{ "ioctls.unread_bytes", "speed*", "it says, 8000 sent", "8000",
	  "bytes that were not read; AF_UNIX tells the memory that they take" },
	{ "ioctls.unread_bytes", "speed*", "it says, 4000 of them read", "4000",
	  "bytes that were not read; AF_UNIX tells the memory that they take" },
	{ "ioctls.unread_bytes.*", "speed*", "it says, 8000 sent", "8016",
	  "the same of messages: what they take of the ring, 8 bytes more each" },
	{ "ioctls.unread_bytes.*", "speed*", "it says, 4000 of them read", "4008",
	  "the same of messages: what they take of the ring, 8 bytes more each" },
	{ "splice.messages_to_pipe*", "speed*", "SPLICE_F_NONBLOCK waits", "0",
	  "AF_UNIX heeds the flag in its streams alone, and waits for a message" },
	{ "splice.messages_to_pipe*", "speed*", "SPLICE_F_NONBLOCK", "-1 EAGAIN",
	  "AF_UNIX heeds the flag in its streams alone, and waits for a message" },
	{ "options.buffers_count", "speed*", "it takes less", "0",
	  "a ring keeps its size while the pair lives; SO_SNDBUF bounds what is beyond it" },
	{ "close.wakes_writer", "speed-mapped", "send", "-1 EPIPE +SIGPIPE",
	  "a mapped send that was woken asks by a fresh call, and a fresh call gets EPIPE" },
	{ "close.wakes_writer", "speed-half", "send", "-1 EPIPE +SIGPIPE",
	  "a mapped send that was woken asks by a fresh call, and a fresh call gets EPIPE" },
	{ "splice.from_pipe_full", "speed*", "splice to a full socket", "-1 EAGAIN",
	  "AF_UNIX of 6.1 takes pages beyond its buffer; that of later kernels says EAGAIN" },
	{ "shutdown.wakes_writer", "speed*", "send", "-1 EPIPE +SIGPIPE",
	  "AF_UNIX forgets the signal when a shutdown finds send asleep; POSIX and TCP do not" },
};

#endif
