// SPDX-License-Identifier: GPL-2.0
/*
 * The mapping file and who uses it: an inode of a file system of our own that nobody can
 * mount, never in a descriptor table, that only mappings refer to. It holds the pair and the
 * module; the endpoint holds it until it is released, its mappings until they
 * are gone.
 *
 * It is no socket's inode: security modules look for the socket behind one, in mprotect().
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/pseudo_fs.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "map.h"

#define HOLDERS_MAX	64	/* of an endpoint: whoever ends a lease pays for them */
#define MAP_FS_MAGIC	0x53504d46	/* "SPMF" */

static int map_fs_context(struct fs_context *fc)
{
	fc->s_iflags |= SB_I_NOEXEC | SB_I_NODEV;
	return init_pseudo(fc, MAP_FS_MAGIC) ? 0 : -ENOMEM;
}

/* Holds the module while it is there, which is while somebody has a file of it. */
static struct file_system_type map_fs = {
	.name			= "speed",
	.owner			= THIS_MODULE,
	.init_fs_context	= map_fs_context,
	.kill_sb		= kill_anon_super,
};

static struct vfsmount *map_mount;
static int map_mount_users;

/* Last reference: no mapping is left, and the endpoint is released. */
static int map_file_release(struct inode *inode, struct file *file)
{
	struct speed_map *map = file->private_data;

	if (map->pair->door->mapped)
		map->pair->door->mapped(map, false);
	__free_page(map->scratch);
	speed_pair_put(map->pair);
	kfree(map);
	simple_release_fs(&map_mount, &map_mount_users);
	return 0;
}

static const struct file_operations map_fops = {
	.owner		= THIS_MODULE,
	.release	= map_file_release,
};

static struct file *map_file_alloc(void)
{
	struct inode *inode = alloc_anon_inode(map_mount->mnt_sb);
	struct file *file;

	if (IS_ERR(inode))
		return ERR_CAST(inode);
	/* Nobody opens it by name: what may be mapped is a matter of leases alone. */
	inode->i_flags |= S_PRIVATE;
	file = alloc_file_pseudo(inode, map_mount, "[speed]", O_RDWR | O_CLOEXEC, &map_fops);
	if (IS_ERR(file))
		iput(inode);
	return file;
}

static struct file *map_file_open(struct speed_map *map)
{
	int err = simple_pin_fs(&map_fs, &map_mount, &map_mount_users);
	struct file *file;

	if (err)
		return ERR_PTR(err);
	file = map_file_alloc();
	if (IS_ERR(file)) {
		simple_release_fs(&map_mount, &map_mount_users);
		return file;
	}
	__module_get(THIS_MODULE);	/* put with the file's calls */
	file->private_data = map;
	return file;
}

/**
 * speed_map_new() - make an endpoint's mapping file
 * @pair: the pair
 * @end: the endpoint
 *
 * Context: may sleep.
 * Return: the mapping file, to be closed once, or NULL where memory is short.
 */
struct speed_map *speed_map_new(struct speed_pair *pair, int end)
{
	struct speed_map *map = kzalloc(sizeof(*map), GFP_KERNEL_ACCOUNT);

	if (!map)
		return NULL;
	map->pair = pair;
	map->end = end;
	spin_lock_init(&map->lock);
	INIT_LIST_HEAD(&map->holders);
	INIT_LIST_HEAD(&map->watch);
	map->scratch = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!map->scratch)
		goto free;
	map->file = map_file_open(map);
	if (IS_ERR(map->file))
		goto free_scratch;
	speed_pair_get(pair);
	return map;
free_scratch:
	__free_page(map->scratch);
free:
	kfree(map);
	return NULL;
}

/**
 * speed_map_close() - the endpoint lets go of its mapping file
 * @map: the mapping file, its grants revoked, or NULL
 *
 * Context: may sleep.
 */
void speed_map_close(struct speed_map *map)
{
	if (map)
		fput(map->file);
}

static struct speed_holder *holder_find(struct speed_map *map, u64 cookie)
{
	struct speed_holder *holder;

	lockdep_assert_held(&map->lock);
	list_for_each_entry(holder, &map->holders, node)
		if (holder->mm == current->mm && holder->cookie == cookie) {
			holder->refs++;
			return holder;
		}
	return NULL;
}

static struct speed_holder *holder_new(struct speed_map *map, u64 cookie)
{
	struct speed_holder *holder = kzalloc(sizeof(*holder), GFP_KERNEL_ACCOUNT);

	if (!holder)
		return NULL;
	holder->refs = 1;
	holder->map = map;
	holder->mm = current->mm;
	holder->cookie = cookie;
	mmgrab(holder->mm);
	return holder;
}

static void holder_free(struct speed_holder *holder)
{
	mmdrop(holder->mm);
	kfree(holder);
}

/**
 * speed_holder_find() - a user of a mapping file in the current address space
 * @map: the mapping file
 * @cookie: which one
 *
 * Return: the holder, to be put, or NULL.
 */
struct speed_holder *speed_holder_find(struct speed_map *map, u64 cookie)
{
	struct speed_holder *holder;

	spin_lock(&map->lock);
	holder = holder_find(map, cookie);
	spin_unlock(&map->lock);
	return holder;
}

/**
 * speed_holder_make() - find a user of a mapping file, or make it one
 * @map: the mapping file
 * @cookie: which one
 *
 * Context: process; may sleep.
 * Return: the holder, to be put, or NULL where memory is short or there are many.
 */
struct speed_holder *speed_holder_make(struct speed_map *map, u64 cookie)
{
	struct speed_holder *holder, *fresh = holder_new(map, cookie);

	if (!fresh)
		return NULL;
	spin_lock(&map->lock);
	holder = holder_find(map, cookie);
	if (!holder && map->users < HOLDERS_MAX) {
		map->users++;
		list_add(&fresh->node, &map->holders);
		swap(holder, fresh);
	}
	spin_unlock(&map->lock);
	if (fresh)
		holder_free(fresh);
	return holder;
}

/**
 * speed_holder_of() - who holds a role, if it is in the current address space
 * @map: the mapping file
 * @where: where the role keeps its holder
 *
 * A holder is let go only after it left @where, under the list's lock: so what
 * is found there under the lock is still a holder.
 *
 * Return: the holder, to be put, or NULL.
 */
struct speed_holder *speed_holder_of(struct speed_map *map, struct speed_holder **where)
{
	struct speed_holder *holder;

	spin_lock(&map->lock);
	holder = READ_ONCE(*where);
	if (holder && holder->mm == current->mm)
		holder->refs++;
	else
		holder = NULL;
	spin_unlock(&map->lock);
	return holder;
}

void speed_holder_put(struct speed_holder *holder)
{
	struct speed_map *map = holder->map;
	bool last;

	spin_lock(&map->lock);
	last = !--holder->refs;
	if (last) {
		map->users--;
		list_del(&holder->node);
	}
	spin_unlock(&map->lock);
	if (last)
		holder_free(holder);
}
