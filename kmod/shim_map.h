/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Mapping a fused TCP connection.
 */
#ifndef SPEED_SHIM_MAP_H
#define SPEED_SHIM_MAP_H

#include <linux/net.h>

struct speed_map;
struct speed_pair;
struct speed_ring;

void shim_flag_ring(struct speed_ring *ring, u32 flag);
void shim_flag_mapped(struct speed_pair *pair, u32 flag);
void shim_drop_pair(struct speed_pair *pair, int end);
void shim_drop_old(struct shim *shim);
int shim_may_lease(struct speed_ring *ring, int role);
int shim_wait_mapped(struct speed_ring *ring, u64 want, long *timeo);
void shim_mapped(struct speed_map *map, bool on);
void shim_watch_stop(void);
int shim_op_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg);
int shim_compat_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg);
int shim_set_peek_off(struct sock *sk, int val);
int shim_mmap(struct file *file, struct socket *sock, struct vm_area_struct *vma);

#endif
