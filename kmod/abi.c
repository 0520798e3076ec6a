// SPDX-License-Identifier: GPL-2.0
/*
 * The ABI, pinned: a change of any offset or size does not compile.
 */
#include <linux/build_bug.h>
#include <linux/module.h>
#include <linux/speed.h>

#define PIN(type, field, offset)	static_assert(offsetof(struct type, field) == (offset))
#define SIZE(type, size)		static_assert(sizeof(struct type) == (size))

PIN(speed_sockaddr, sp_family, 0);
PIN(speed_sockaddr, sp_reserved, 2);
PIN(speed_sockaddr, sp_number, 4);
PIN(speed_sockaddr, sp_name, 8);
SIZE(speed_sockaddr, 72);

PIN(speed_info, features, 0);
PIN(speed_info, state, 4);
PIN(speed_info, type, 8);
PIN(speed_info, spin_us, 12);
PIN(speed_info, pair, 16);
PIN(speed_info, side, 24);
PIN(speed_info, reserved, 28);
PIN(speed_info, ring_bytes, 32);
PIN(speed_info, bytes, 48);
PIN(speed_info, leased, 64);
SIZE(speed_info, 80);

PIN(speed_lease, role, 0);
PIN(speed_lease, flags, 4);
PIN(speed_lease, epoch, 8);
PIN(speed_lease, size, 16);
PIN(speed_lease, own, 24);
PIN(speed_lease, off_own, 32);
PIN(speed_lease, off_peer, 40);
PIN(speed_lease, off_data, 48);
PIN(speed_lease, retry, 56);
PIN(speed_lease, spin_us, 60);
PIN(speed_lease, type, 64);
PIN(speed_lease, reserved, 68);
PIN(speed_lease, pair, 72);
PIN(speed_lease, cookie, 80);
SIZE(speed_lease, 88);

PIN(speed_settle, role, 0);
PIN(speed_settle, flags, 4);
PIN(speed_settle, epoch, 8);
PIN(speed_settle, index, 16);
PIN(speed_settle, cookie, 24);
SIZE(speed_settle, 32);

PIN(speed_fusion, flags, 0);
PIN(speed_fusion, reason, 4);
PIN(speed_fusion, fused, 8);
PIN(speed_fusion, unfused, 16);
PIN(speed_fusion, ring_bytes, 24);
PIN(speed_fusion, bytes, 40);
PIN(speed_fusion, pair, 56);
PIN(speed_fusion, fill, 64);
SIZE(speed_fusion, 80);

PIN(speed_wait, flags, 0);
PIN(speed_wait, reserved, 4);
PIN(speed_wait, want, 8);
SIZE(speed_wait, 16);

PIN(speed_index, index, 0);
SIZE(speed_index, 8);

PIN(speed_kern, epoch, 0);
PIN(speed_kern, flags, 16);
PIN(speed_kern, reserved0, 20);
PIN(speed_kern, wake_free, 24);
SIZE(speed_kern, 32);

PIN(speed_record, len, 0);
PIN(speed_record, reserved, 4);
SIZE(speed_record, 8);

static_assert(SPEED_IOC_WAKE == 0xB501);
static_assert(SPEED_IOC_WAIT == 0x4010B502);
static_assert(SPEED_IOC_EPOLL == 0xB503);
