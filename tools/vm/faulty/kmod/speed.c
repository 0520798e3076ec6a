// SPDX-License-Identifier: GPL-2.0
/*
 * A module with the faults that tools/vm/run must notice, one at a time:
 * insmod speed.ko fault=NAME. See tools/vm/check.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

static char *fault = "none";
module_param(fault, charp, 0444);

static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);
static DEFINE_SPINLOCK(lock);

static noinline void lose(void)
{
	void *lost = kmalloc(1000, GFP_KERNEL);

	if (lost)
		memset(lost, 1, 1000);
	OPTIMIZER_HIDE_VAR(lost);
}

static void touch_freed(void)
{
	char *freed = kmalloc(64, GFP_KERNEL);

	OPTIMIZER_HIDE_VAR(freed);
	kfree(freed);
	WRITE_ONCE(freed[8], 1);
}

static void invert_locks(void)
{
	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);
	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
}

static void sleep_locked(void)
{
	spin_lock(&lock);
	might_sleep();
	spin_unlock(&lock);
}

static int __init faulty_init(void)
{
	WARN(!strcmp(fault, "warn"), "as asked\n");
	if (!strcmp(fault, "refuse"))
		return -EIO;
	if (!strcmp(fault, "oops"))
		WRITE_ONCE(*(int *)8, 1);
	if (!strcmp(fault, "pin"))
		__module_get(THIS_MODULE);
	if (!strcmp(fault, "freed"))
		touch_freed();
	if (!strcmp(fault, "inversion"))
		invert_locks();
	if (!strcmp(fault, "sleep"))
		sleep_locked();
	return 0;
}

static void __exit faulty_exit(void)
{
	if (!strcmp(fault, "leak"))
		lose();
}

module_init(faulty_init);
module_exit(faulty_exit);
MODULE_DESCRIPTION("Faults for tools/vm/check");
MODULE_LICENSE("GPL");
