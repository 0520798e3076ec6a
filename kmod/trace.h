/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints speed:*. Pairs are told by their number, as in /proc/net/speed;
 * rings by the endpoint that produces into them.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM speed

#if !defined(SPEED_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SPEED_TRACE_H

#include <linux/tracepoint.h>

DECLARE_EVENT_CLASS(speed_conn,
	TP_PROTO(u64 pair, u32 number),
	TP_ARGS(pair, number),
	TP_STRUCT__entry(
		__field(u64, pair)
		__field(u32, number)
	),
	TP_fast_assign(
		__entry->pair = pair;
		__entry->number = number;
	),
	TP_printk("pair=%llu number=%u", __entry->pair, __entry->number)
);

DEFINE_EVENT(speed_conn, speed_connect, TP_PROTO(u64 pair, u32 number), TP_ARGS(pair, number));
DEFINE_EVENT(speed_conn, speed_accept, TP_PROTO(u64 pair, u32 number), TP_ARGS(pair, number));

DECLARE_EVENT_CLASS(speed_ring,
	TP_PROTO(u64 pair, u32 end, u64 what),
	TP_ARGS(pair, end, what),
	TP_STRUCT__entry(
		__field(u64, pair)
		__field(u32, end)
		__field(u64, what)
	),
	TP_fast_assign(
		__entry->pair = pair;
		__entry->end = end;
		__entry->what = what;
	),
	TP_printk("pair=%llu end=%u what=%llu", __entry->pair, __entry->end, __entry->what)
);

/* what: bytes */
DEFINE_EVENT(speed_ring, speed_publish, TP_PROTO(u64 pair, u32 end, u64 what),
	     TP_ARGS(pair, end, what));
/* what: SPEED_NEED_DATA or SPEED_NEED_SPACE */
DEFINE_EVENT(speed_ring, speed_sleep, TP_PROTO(u64 pair, u32 end, u64 what),
	     TP_ARGS(pair, end, what));
/* what: SPEED_NEED_DATA or SPEED_NEED_SPACE */
DEFINE_EVENT(speed_ring, speed_wake, TP_PROTO(u64 pair, u32 end, u64 what),
	     TP_ARGS(pair, end, what));
/* what: bytes that were never read; end: who closes */
DEFINE_EVENT(speed_ring, speed_close, TP_PROTO(u64 pair, u32 end, u64 what),
	     TP_ARGS(pair, end, what));

/* what: SPEED_TCP_*, why the direction goes by TCP from now on; 0: it moved to its ring */
DEFINE_EVENT(speed_ring, speed_fuse, TP_PROTO(u64 pair, u32 end, u64 what),
	     TP_ARGS(pair, end, what));

/* A TCP socket was looked at, and takes no part, or not yet. why: SPEED_TCP_* */
TRACE_EVENT(speed_refuse,
	TP_PROTO(u16 port, u16 peer_port, u32 why),
	TP_ARGS(port, peer_port, why),
	TP_STRUCT__entry(
		__field(u16, port)
		__field(u16, peer_port)
		__field(u32, why)
	),
	TP_fast_assign(
		__entry->port = port;
		__entry->peer_port = peer_port;
		__entry->why = why;
	),
	TP_printk("port=%u peer_port=%u why=%u", __entry->port, __entry->peer_port, __entry->why)
);

TRACE_EVENT(speed_map,
	TP_PROTO(u64 pair, u32 end, u32 role, u64 epoch),
	TP_ARGS(pair, end, role, epoch),
	TP_STRUCT__entry(
		__field(u64, pair)
		__field(u32, end)
		__field(u32, role)
		__field(u64, epoch)
	),
	TP_fast_assign(
		__entry->pair = pair;
		__entry->end = end;
		__entry->role = role;
		__entry->epoch = epoch;
	),
	TP_printk("pair=%llu end=%u role=%s epoch=%llu", __entry->pair, __entry->end,
		  __entry->role ? "rx" : "tx", __entry->epoch)
);

TRACE_EVENT(speed_reset,
	TP_PROTO(u64 pair, u32 end),
	TP_ARGS(pair, end),
	TP_STRUCT__entry(
		__field(u64, pair)
		__field(u32, end)
	),
	TP_fast_assign(
		__entry->pair = pair;
		__entry->end = end;
	),
	TP_printk("pair=%llu end=%u", __entry->pair, __entry->end)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
