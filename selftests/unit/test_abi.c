// SPDX-License-Identifier: GPL-2.0
/*
 * The ABI is pinned: every size, offset and number of linux/speed.h. A change
 * to any of them does not compile here. What is pinned was chosen once; it is
 * not computed from the header.
 */
#include <assert.h>
#include <stddef.h>
#include <linux/speed_ring.h>

#include "tap.h"

#define PIN(expr, value)	_Static_assert((expr) == (value), #expr " is part of the ABI")
#define PIN_SIZE(type, bytes)	PIN(sizeof(struct type), bytes)
#define PIN_FIELD(type, field, at, bytes)				\
	PIN(offsetof(struct type, field), at);				\
	PIN(sizeof(((struct type *)0)->field), bytes)

PIN(SPEED_FAMILY_DEFAULT, 18);
PIN(SOL_SPEED, 21328);
PIN(SPEED_MAGIC_VALUE, 0x53504431u);
PIN(SPEED_NAME_MAX, 64);
PIN(SPEED_NUMBER_RESERVED, 1024);
PIN(SPEED_NUMBER_AUTO, 0x80000000u);

PIN_SIZE(speed_sockaddr, 72);
PIN_FIELD(speed_sockaddr, sp_family, 0, 2);
PIN_FIELD(speed_sockaddr, sp_reserved, 2, 2);
PIN_FIELD(speed_sockaddr, sp_number, 4, 4);
PIN_FIELD(speed_sockaddr, sp_name, 8, 64);

PIN(SPEED_MAGIC, 1);
PIN(SPEED_INFO, 2);
PIN(SPEED_LEASE, 3);
PIN(SPEED_SETTLE, 4);
PIN(SPEED_UNLEASE, 5);
PIN(SPEED_MODE, 6);

PIN(SPEED_FUSE, 7);
PIN(SPEED_FUSION, 8);

PIN(SPEED_TCP_FUSED, 0);
PIN(SPEED_TCP_OFF, 1);
PIN(SPEED_TCP_PORT, 2);
PIN(SPEED_TCP_PEER, 3);
PIN(SPEED_TCP_REQUEST, 4);
PIN(SPEED_TCP_TAP, 5);
PIN(SPEED_TCP_FILTER, 6);
PIN(SPEED_TCP_CGROUP, 7);
PIN(SPEED_TCP_ULP, 8);
PIN(SPEED_TCP_KERNEL, 9);
PIN(SPEED_TCP_MPTCP, 10);
PIN(SPEED_TCP_SMC, 11);
PIN(SPEED_TCP_FASTOPEN, 12);
PIN(SPEED_TCP_SIGNED, 13);
PIN(SPEED_TCP_STAMP, 14);
PIN(SPEED_TCP_REPAIR, 15);
PIN(SPEED_TCP_ZEROCOPY, 16);
PIN(SPEED_TCP_MEMORY, 17);
PIN(SPEED_TCP_FULL, 18);
PIN(SPEED_TCP_ODD, 19);
PIN(SPEED_TCP_BUSY, 20);
PIN(SPEED_TCP_SHUT, 21);
PIN(SPEED_TCP_REASONS, 22);

PIN(SPEED_FUSION_PAIRED, 1);
PIN(SPEED_FUSION_TX, 2);
PIN(SPEED_FUSION_RX, 4);

PIN_SIZE(speed_fusion, 80);
PIN_FIELD(speed_fusion, flags, 0, 4);
PIN_FIELD(speed_fusion, reason, 4, 4);
PIN_FIELD(speed_fusion, fused, 8, 8);
PIN_FIELD(speed_fusion, unfused, 16, 8);
PIN_FIELD(speed_fusion, ring_bytes, 24, 16);
PIN_FIELD(speed_fusion, bytes, 40, 16);
PIN_FIELD(speed_fusion, pair, 56, 8);
PIN_FIELD(speed_fusion, fill, 64, 16);

PIN(SPEED_ROLE_TX, 0);
PIN(SPEED_ROLE_RX, 1);
PIN(SPEED_ROLES, 2);

PIN(SPEED_FEATURE_MAP, 1u);
PIN(SPEED_FEATURE_CALL, 2u);
PIN(SPEED_FEATURE_EPOLL, 4u);
PIN(SPEED_FEATURE_MOVED, 8u);
PIN(SPEED_FEATURE_AGAIN, 16u);

PIN(SPEED_STATE_UNCONNECTED, 0);
PIN(SPEED_STATE_LISTENING, 1);
PIN(SPEED_STATE_CONNECTED, 2);
PIN(SPEED_STATE_CLOSED, 3);

PIN_SIZE(speed_info, 80);
PIN_FIELD(speed_info, features, 0, 4);
PIN_FIELD(speed_info, state, 4, 4);
PIN_FIELD(speed_info, type, 8, 4);
PIN_FIELD(speed_info, spin_us, 12, 4);
PIN_FIELD(speed_info, pair, 16, 8);
PIN_FIELD(speed_info, side, 24, 4);
PIN_FIELD(speed_info, reserved, 28, 4);
PIN_FIELD(speed_info, ring_bytes, 32, 16);
PIN_FIELD(speed_info, bytes, 48, 16);
PIN_FIELD(speed_info, leased, 64, 16);

PIN_SIZE(speed_lease, 88);
PIN_FIELD(speed_lease, role, 0, 4);
PIN_FIELD(speed_lease, flags, 4, 4);
PIN_FIELD(speed_lease, epoch, 8, 8);
PIN_FIELD(speed_lease, size, 16, 8);
PIN_FIELD(speed_lease, own, 24, 8);
PIN_FIELD(speed_lease, off_own, 32, 8);
PIN_FIELD(speed_lease, off_peer, 40, 8);
PIN_FIELD(speed_lease, off_data, 48, 8);
PIN_FIELD(speed_lease, retry, 56, 4);
PIN_FIELD(speed_lease, spin_us, 60, 4);
PIN_FIELD(speed_lease, type, 64, 4);
PIN_FIELD(speed_lease, reserved, 68, 4);
PIN_FIELD(speed_lease, pair, 72, 8);
PIN_FIELD(speed_lease, cookie, 80, 8);

PIN_SIZE(speed_settle, 32);
PIN_FIELD(speed_settle, role, 0, 4);
PIN_FIELD(speed_settle, flags, 4, 4);
PIN_FIELD(speed_settle, epoch, 8, 8);
PIN_FIELD(speed_settle, index, 16, 8);
PIN_FIELD(speed_settle, cookie, 24, 8);

PIN(SPEED_WAKE_READER, 1u);
PIN(SPEED_WAKE_WRITER, 2u);
PIN(SPEED_WAIT_DATA, 4u);
PIN(SPEED_WAIT_SPACE, 8u);
PIN(SPEED_WAIT_MOVED, 16u);
PIN(SPEED_WAIT_AGAIN, 32u);

PIN_SIZE(speed_wait, 16);
PIN_FIELD(speed_wait, flags, 0, 4);
PIN_FIELD(speed_wait, reserved, 4, 4);
PIN_FIELD(speed_wait, want, 8, 8);

/* As _IO() and _IOW() give them where ioctl numbers have the usual layout. */
PIN(SPEED_IOC_WAKE, 0xb501u);
PIN(SPEED_IOC_WAIT, 0x4010b502u);
PIN(SPEED_IOC_EPOLL, 0xb503u);

PIN(SPEED_RING_MIN, 4096u);
PIN(SPEED_RING_MAX, 0x40000000u);

PIN_SIZE(speed_index, 8);
PIN_FIELD(speed_index, index, 0, 8);

PIN(SPEED_NEED_DATA, 1u);
PIN(SPEED_NEED_SPACE, 2u);
PIN(SPEED_OVERFLOW, 4u);
PIN(SPEED_CLOSED, 8u);

PIN_SIZE(speed_kern, 32);
PIN_FIELD(speed_kern, epoch, 0, 16);
PIN_FIELD(speed_kern, flags, 16, 4);
PIN_FIELD(speed_kern, reserved0, 20, 4);
PIN_FIELD(speed_kern, wake_free, 24, 8);

PIN_SIZE(speed_record, 8);
PIN_FIELD(speed_record, len, 0, 4);
PIN_FIELD(speed_record, reserved, 4, 4);

PIN(SPEED_RECORD_BYTES(0), 8);
PIN(SPEED_RECORD_BYTES(1), 16);
PIN(SPEED_RECORD_BYTES(8), 16);
PIN(SPEED_RECORD_BYTES(9), 24);
PIN(SPEED_RECORD_BYTES(0xffffffffu), 0x100000008ull);

int main(void)
{
	ok("every size, offset and number is what it was pinned to");
	return tap_done();
}
