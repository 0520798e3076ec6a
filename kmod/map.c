// SPDX-License-Identifier: GPL-2.0
/*
 * Mappings. mmap() of a socket makes a mapping of the endpoint's mapping file
 * instead, an inode of its own with an address_space of its own. Three
 * things follow: close() of the socket is not held up by what is mapped; one
 * unmap_mapping_range() finds every mapping of a role; and invalidate_lock
 * orders faults against revocation, as it orders them against truncation.
 *
 * A fault finds out under the lock, shared, whether its address space holds the
 * lease, and inserts the ring's page or, if not, the scratch page (for what may
 * be written) or the zero page (for what may not: an epoch read there is zero,
 * which is never one in force). Granting and revoking hold the lock
 * exclusively, change the holder, and take out what was inserted before.
 *
 * The handlers here run under mmap_lock, which is taken under a role's lock
 * when bytes are copied: so they take no role's lock. What a leased role's
 * pages are cannot change while it is leased.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/pagemap.h>

#include "compat/compat.h"
#include "family.h"
#include "map.h"
#include "pages.h"
#include "wait.h"

#define MAP_VMAS_MAX		16	/* of a role, for one holder */
#define MAP_BASE		BIT_ULL(40)
#define MAP_REGION_SHIFT	32
#define MAP_REGION_BITS		2
#define MAP_ROLE_BYTES		BIT_ULL(MAP_REGION_SHIFT + MAP_REGION_BITS)

static struct page *zero_page;

/**
 * speed_map_offset() - where in the mapping file a region lies
 * @role: SPEED_ROLE_*
 * @region: which region
 *
 * Return: the offset in bytes, the same for all endpoints.
 */
u64 speed_map_offset(int role, enum speed_region region)
{
	return MAP_BASE + role * MAP_ROLE_BYTES + ((u64)region << MAP_REGION_SHIFT);
}

/* What an offset names: role, region, and the page within it. */
struct place {
	int role;
	int region;
	u64 page;
};

static bool place_of(u64 offset, struct place *place)
{
	u64 in = offset - MAP_BASE;

	if (offset < MAP_BASE || in >= SPEED_ROLES * MAP_ROLE_BYTES)
		return false;
	place->role = in / MAP_ROLE_BYTES;
	place->region = (in % MAP_ROLE_BYTES) >> MAP_REGION_SHIFT;
	place->page = (in & ((1ULL << MAP_REGION_SHIFT) - 1)) >> PAGE_SHIFT;
	return true;
}

static u64 region_pages(struct speed_map *map, int role, int region)
{
	const struct speed_ring *ring = speed_pair_ring(map->pair, map->end, role);

	switch (region) {
	case SPEED_REGION_OWN:
		return 1;
	case SPEED_REGION_PEER:
		return 2;
	case SPEED_REGION_DATA:
		return 2 * (speed_ring_size(ring) >> PAGE_SHIFT);
	}
	return 0;
}

static bool region_writable(int role, int region)
{
	return region == SPEED_REGION_OWN ||
	       (region == SPEED_REGION_DATA && role == SPEED_ROLE_TX);
}

static struct page *live_page(struct speed_map *map, const struct place *place)
{
	struct speed_ring *ring = speed_pair_ring(map->pair, map->end, place->role);
	struct speed_ctl *ctl = rcu_dereference_protected(ring->ctl, true);

	switch (place->region) {
	case SPEED_REGION_OWN:
		return virt_to_page(ctl->index[place->role]);
	case SPEED_REGION_PEER:
		return place->page ? virt_to_page(ctl->index[!place->role])
				   : virt_to_page(ctl->kern);
	default:
		return ring->buf->pages[place->page & ((speed_ring_size(ring) >> PAGE_SHIFT) - 1)];
	}
}

/*
 * Such as userfaultfd's of a page that is protected before it has come: no page goes over
 * it, and the access would come again for ever, also in the kernel, where no signal ends it.
 */
static bool has_marker(const struct vm_fault *vmf)
{
	return (vmf->flags & FAULT_FLAG_ORIG_PTE_VALID) && !pte_none(vmf->orig_pte);
}

static vm_fault_t map_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct speed_holder *holder = vma->vm_private_data;
	struct speed_map *map = holder->map;
	struct address_space *mapping = map->file->f_mapping;
	struct place place;
	struct page *page;
	vm_fault_t ret;

	if (!place_of((u64)vmf->pgoff << PAGE_SHIFT, &place) ||
	    place.page >= region_pages(map, place.role, place.region) || has_marker(vmf))
		return VM_FAULT_SIGBUS;
	filemap_invalidate_lock_shared(mapping);
	if (map->term[place.role].holder == holder)
		page = live_page(map, &place);
	else if (region_writable(place.role, place.region))
		page = map->scratch;
	else
		page = zero_page;
	ret = vmf_insert_pfn(vma, vmf->address, page_to_pfn(page));
	filemap_invalidate_unlock_shared(mapping);
	return ret;
}

static int vma_role(const struct vm_area_struct *vma)
{
	struct place place = {};

	place_of((u64)vma->vm_pgoff << PAGE_SHIFT, &place);
	return place.role;
}

static void map_vma_open(struct vm_area_struct *vma)
{
	struct speed_holder *holder = vma->vm_private_data;

	spin_lock(&holder->map->lock);
	holder->refs++;
	spin_unlock(&holder->map->lock);
	atomic_inc(&holder->vmas[vma_role(vma)]);
}

/*
 * The holder is gone, or has had enough: whoever comes next ends the lease.
 * What it published last may have woken nobody, so wake all.
 */
static void map_vma_close(struct vm_area_struct *vma)
{
	struct speed_holder *holder = vma->vm_private_data;

	if (atomic_dec_and_test(&holder->vmas[vma_role(vma)]))
		speed_wake_all(holder->map->pair);
	speed_holder_put(holder);
}

/* Whoever ends a lease pays for each region that there is: no more than were told. */
static int map_may_split(struct vm_area_struct *vma, unsigned long addr)
{
	return -EINVAL;
}

static const struct vm_operations_struct map_vm_ops = {
	.may_split = map_may_split,
	.open	= map_vma_open,
	.close	= map_vma_close,
	.fault	= map_fault,
};

/* The lock is held, and given back. */
static void map_hand_over(struct speed_map *map, int role, struct speed_holder *holder)
{
	struct address_space *mapping = map->file->f_mapping;

	WRITE_ONCE(map->term[role].holder, holder);
	unmap_mapping_range(mapping, speed_map_offset(role, 0), MAP_ROLE_BYTES, 1);
	smp_mb();					/* H, with the shootdown */
	filemap_invalidate_unlock(mapping);
}

/**
 * speed_map_grant() - let an address space's faults find a role's pages
 * @holder: the address space; its reference is the grant's until it is revoked
 * @role: SPEED_ROLE_*; its lock is held and its pages exist
 *
 * Context: may sleep; takes invalidate_lock.
 */
void speed_map_grant(struct speed_holder *holder, int role)
{
	speed_map_lock(holder->map);
	map_hand_over(holder->map, role, holder);
}

/**
 * speed_map_revoke() - end a grant
 * @holder: the address space
 * @role: SPEED_ROLE_*; its lock is held, and speed_map_lock() taken, which is given back
 *
 * When it returns no store of the holder can reach the role's pages, and all
 * that did are visible (H).
 *
 * Context: may sleep.
 */
void speed_map_revoke(struct speed_holder *holder, int role)
{
	map_hand_over(holder->map, role, NULL);
}

static int map_check(struct speed_holder *holder, struct vm_area_struct *vma,
		     const struct place *place)
{
	bool writable = region_writable(place->role, place->region);

	if (place->page || !(vma->vm_flags & VM_SHARED) ||
	    vma_pages(vma) != region_pages(holder->map, place->role, place->region))
		return -EINVAL;
	if ((vma->vm_flags & VM_EXEC) || ((vma->vm_flags & VM_WRITE) && !writable))
		return -EPERM;
	return atomic_read(&holder->vmas[place->role]) < MAP_VMAS_MAX ? 0 : -ENOMEM;
}

static void map_vma(struct vm_area_struct *vma, struct speed_holder *holder,
		    const struct place *place)
{
	bool writable = region_writable(place->role, place->region);

	vma_set_file(vma, holder->map->file);
	speed_compat_vm_flags(vma, VM_PFNMAP | VM_IO | VM_DONTCOPY | VM_DONTEXPAND |
			      VM_DONTDUMP, VM_MAYEXEC | (writable ? 0 : VM_MAYWRITE));
	vma->vm_private_data = holder;
	vma->vm_ops = &map_vm_ops;
	map_vma_open(vma);
}

/**
 * speed_map_ours() - is it our regions that an mmap() asks for?
 * @vma: what is asked for
 */
bool speed_map_ours(const struct vm_area_struct *vma)
{
	return (u64)vma->vm_pgoff << PAGE_SHIFT >= MAP_BASE;
}

/**
 * speed_map_mmap() - mmap() of an endpoint
 * @pair: its pair, or NULL
 * @end: which it is
 * @vma: what is asked for
 *
 * Context: mmap_lock is held for writing; takes no role's lock.
 * Return: 0; -EINVAL for a wrong offset, length or sharing; -EPERM for a wrong
 * protection, or where the caller does not hold the role's lease; -ENOMEM where it
 * has mapped it often enough.
 */
int speed_map_mmap(struct speed_pair *pair, int end, struct vm_area_struct *vma)
{
	struct speed_holder *holder;
	struct speed_map *map;
	struct place place;
	int err;

	if (!pair || !place_of((u64)vma->vm_pgoff << PAGE_SHIFT, &place))
		return -EINVAL;
	map = speed_pair_map(pair, end);
	holder = map ? speed_holder_of(map, &map->term[place.role].holder) : NULL;
	if (!holder)
		return -EPERM;
	err = map_check(holder, vma, &place);
	if (!err)
		map_vma(vma, holder, &place);
	speed_holder_put(holder);
	return err;
}

int speed_map_init(void)
{
	zero_page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	return zero_page ? 0 : -ENOMEM;
}

void speed_map_exit(void)
{
	__free_page(zero_page);
}
