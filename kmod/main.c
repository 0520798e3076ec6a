// SPDX-License-Identifier: GPL-2.0
/*
 * The module: what is set up, in order, and undone in reverse.
 */
#include <linux/module.h>
#include <linux/rcupdate.h>

#include "charge.h"
#include "family.h"
#include "map.h"
#include "netns.h"
#include "pages.h"
#include "pair.h"
#include "reap.h"
#include "share.h"
#include "shim.h"

static int __init speed_init(void)
{
	int err;

	err = speed_pages_init();
	if (err)
		return err;
	err = speed_map_init();
	if (err)
		goto pages;
	err = speed_pair_init();
	if (err)
		goto map;
	err = shim_ulp_init();
	if (err)
		goto pair;
	err = speed_netns_init();
	if (err)
		goto shim;
	err = speed_family_init();
	if (err)
		goto netns;
	/* Last: a TCP socket that has the shim has it for good. */
	shim_ulp_open();
	return 0;
netns:
	speed_netns_exit();
shim:
	shim_ulp_exit();
pair:
	speed_pair_exit();
map:
	speed_map_exit();
pages:
	speed_pages_exit();
	return err;
}

static void __exit speed_exit(void)
{
	speed_family_exit();
	shim_ulp_stop();
	speed_pair_flush();
	speed_reap_exit();
	speed_netns_exit();
	shim_charge_stop();
	shim_ulp_exit();
	speed_share_exit();
	speed_charge_exit();
	speed_pair_exit();
	speed_map_exit();
	speed_pages_exit();
}

module_init(speed_init);
module_exit(speed_exit);

MODULE_DESCRIPTION("Fast loopback: sockets whose connections are shared rings");
MODULE_LICENSE("GPL");
MODULE_VERSION(SPEED_VERSION);
