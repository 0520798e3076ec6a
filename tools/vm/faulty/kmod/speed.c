// SPDX-License-Identifier: GPL-2.0
/*
 * A module with the faults that tools/vm/run must notice, one at a time:
 * insmod speed.ko fault=NAME. See tools/vm/check.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timer.h>
#include <linux/timex.h>

static char *fault = "none";
module_param(fault, charp, 0444);

static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);
static DEFINE_SPINLOCK(lock);
static struct task_struct *hung;

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

static void shift_far(void)
{
	int places = 40;
	int shifted;

	OPTIMIZER_HIDE_VAR(places);
	shifted = 1 << places;
	OPTIMIZER_HIDE_VAR(shifted);
}

static void expire(struct timer_list *timer)
{
}

/* DEBUG_OBJECTS_FREE stops the timer before the memory is gone. */
static void free_timer(void)
{
	struct timer_list *timer = kmalloc(sizeof(*timer), GFP_KERNEL);

	if (!timer)
		return;
	timer_setup(timer, expire, 0);
	mod_timer(timer, jiffies + 1000 * HZ);
	kfree(timer);
}

static int hang(void *unused)
{
	set_current_state(TASK_UNINTERRUPTIBLE);
	while (!kthread_should_stop()) {
		schedule();
		set_current_state(TASK_UNINTERRUPTIBLE);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

/* No fault: two instructions a turn, and nothing between them. */
static void count_instructions(void)
{
	unsigned long turns = 1000000;
	unsigned long flags;
	cycles_t begin, end;

	local_irq_save(flags);
	begin = get_cycles();
	asm volatile("1: dec %0; jnz 1b" : "+r" (turns));
	end = get_cycles();
	local_irq_restore(flags);
	pr_info("counted %llu\n", (unsigned long long)(end - begin));
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
	if (!strcmp(fault, "bug"))
		BUG();
	if (!strcmp(fault, "shift"))
		shift_far();
	if (!strcmp(fault, "timer"))
		free_timer();
	if (!strcmp(fault, "count"))
		count_instructions();
	if (!strcmp(fault, "hung"))
		hung = kthread_run(hang, NULL, "speed-hung");
	return PTR_ERR_OR_ZERO(hung);
}

static void __exit faulty_exit(void)
{
	if (hung)
		kthread_stop(hung);
	if (!strcmp(fault, "leak"))
		lose();
}

module_init(faulty_init);
module_exit(faulty_exit);
MODULE_DESCRIPTION("Faults for tools/vm/check");
MODULE_LICENSE("GPL");
