// SPDX-License-Identifier: GPL-2.0
/*
 * The one shrinker of the module. Shrinkers are allocated since 6.7.
 */
#include "compat.h"

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)

static struct shrinker the_shrinker = { .seeks = DEFAULT_SEEKS };

int speed_compat_shrinker_register(unsigned long (*count)(struct shrinker *,
							  struct shrink_control *),
				   unsigned long (*scan)(struct shrinker *,
							 struct shrink_control *))
{
	the_shrinker.count_objects = count;
	the_shrinker.scan_objects = scan;
	return register_shrinker(&the_shrinker, "speed-pool");
}

void speed_compat_shrinker_unregister(void)
{
	unregister_shrinker(&the_shrinker);
}

#else

static struct shrinker *the_shrinker;

int speed_compat_shrinker_register(unsigned long (*count)(struct shrinker *,
							  struct shrink_control *),
				   unsigned long (*scan)(struct shrinker *,
							 struct shrink_control *))
{
	the_shrinker = shrinker_alloc(0, "speed-pool");
	if (!the_shrinker)
		return -ENOMEM;
	the_shrinker->count_objects = count;
	the_shrinker->scan_objects = scan;
	shrinker_register(the_shrinker);
	return 0;
}

void speed_compat_shrinker_unregister(void)
{
	shrinker_free(the_shrinker);
}

#endif
