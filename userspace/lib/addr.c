// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The family's number, and addresses from and to text.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include "handle.h"
#include "sys.h"

#define ADDR_BARE	((socklen_t)offsetof(struct speed_sockaddr, sp_name))

static int addr_fail(int err)
{
	errno = err;
	return -1;
}

/* Decimal digits, and perhaps a newline. Return: the number, or -1. */
static long addr_digits(const char *text, size_t len)
{
	long number = 0;

	if (len && text[len - 1] == '\n')
		len--;
	if (!len || len > 5)
		return -1;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -1;
		number = 10 * number + (text[i] - '0');
	}
	return number;
}

static int addr_read_family(void)
{
	int fd = (int)spd_syscall(SYS_openat, AT_FDCWD, "/proc/sys/net/speed/family",
			      O_RDONLY | O_CLOEXEC);
	char text[16];
	long got;

	if (fd < 0)
		return -1;
	got = spd_syscall(SYS_read, fd, text, sizeof(text));
	spd_sys_close(fd);
	return got > 0 ? (int)addr_digits(text, (size_t)got) : -1;
}

SPD_PUBLIC int speed_family(void)
{
	static int known;
	int family = __atomic_load_n(&known, __ATOMIC_RELAXED);
	int saved = errno;

	if (family)
		return family;
	family = addr_read_family();
	errno = saved;
	if (family <= 0)
		return SPEED_FAMILY_DEFAULT;	/* and look again next time */
	__atomic_store_n(&known, family, __ATOMIC_RELAXED);
	return family;
}

SPD_PUBLIC int speed_socket(int type)
{
	socklen_t len = sizeof(__u32);
	__u32 magic = 0;
	int fd = (int)spd_syscall(SYS_socket, speed_family(), type, 0);

	if (fd < 0)
		return -1;
	if (!spd_sys_getsockopt(fd, SOL_SPEED, SPEED_MAGIC, &magic, &len) &&
	    magic == SPEED_MAGIC_VALUE)
		return fd;
	spd_sys_close(fd);
	return addr_fail(EAFNOSUPPORT);
}

SPD_PUBLIC socklen_t speed_addr_number(struct speed_sockaddr *sa, uint32_t number)
{
	memset(sa, 0, sizeof(*sa));
	sa->sp_family = (__u16)speed_family();
	sa->sp_number = number;
	return ADDR_BARE;
}

/* A name of @n bytes. */
static int addr_set_name(struct speed_sockaddr *sa, const char *name, size_t n, socklen_t *len)
{
	if (!n)
		return addr_fail(EINVAL);
	if (n > SPEED_NAME_MAX)
		return addr_fail(ENAMETOOLONG);
	speed_addr_number(sa, 0);
	memcpy(sa->sp_name, name, n);
	*len = ADDR_BARE + (socklen_t)n;
	return 0;
}

SPD_PUBLIC int speed_addr_name(struct speed_sockaddr *sa, const char *name, socklen_t *len)
{
	return addr_set_name(sa, name, strlen(name), len);
}

static int addr_hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* The byte that \xNN stands for, or -1. */
static int addr_escape(const char *text)
{
	int high, low;

	if (text[1] != 'x')
		return -1;
	high = addr_hex(text[2]);
	if (high < 0)
		return -1;
	low = addr_hex(text[3]);
	return low < 0 ? -1 : 16 * high + low;
}

static int addr_parse_name(struct speed_sockaddr *sa, const char *text, socklen_t *len)
{
	char name[SPEED_NAME_MAX + 1];
	size_t n = 0;

	for (; *text && n < sizeof(name); n++) {
		int byte = (unsigned char)*text;
		size_t step = 1;

		if (byte == '\\') {
			byte = addr_escape(text);
			step = 4;
		}
		if (byte <= 0)
			return addr_fail(EINVAL);
		name[n] = (char)byte;
		text += step;
	}
	return addr_set_name(sa, name, n, len);
}

SPD_PUBLIC int speed_addr_parse(struct speed_sockaddr *sa, const char *text, socklen_t *len)
{
	size_t digits = strspn(text, "0123456789");
	uint64_t number = 0;

	if (!strcmp(text, "*")) {
		*len = speed_addr_number(sa, 0);
		return 0;
	}
	if (*text == '@')
		return addr_parse_name(sa, text + 1, len);
	if (!digits || text[digits])
		return addr_parse_name(sa, text, len);
	for (; *text; text++) {
		number = 10 * number + (uint64_t)(*text - '0');
		if (number > UINT32_MAX)
			return addr_fail(ERANGE);
	}
	if (!number)
		return addr_fail(EINVAL);
	*len = speed_addr_number(sa, (uint32_t)number);
	return 0;
}

/* Digits of a number, most significant first. Return: how many. */
static size_t addr_put_number(char *out, uint32_t number)
{
	size_t n = 0;

	for (uint64_t unit = 1000000000; unit; unit /= 10)
		if (n || number >= unit)
			out[n++] = (char)('0' + number / unit % 10);
	return n;
}

/* Neither number nor name. */
static size_t addr_put_any(char *out)
{
	out[0] = '*';
	return 1;
}

/* A name; "@" goes before one that would be read as something else. */
static size_t addr_put_name(char *out, const char *name, size_t len)
{
	static const char hex[] = "0123456789abcdef";
	bool digits = true;
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		digits = digits && name[i] >= '0' && name[i] <= '9';
	if (digits || name[0] == '@' || (len == 1 && name[0] == '*'))
		out[n++] = '@';
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)name[i];

		if (c > ' ' && c < 0x7f && c != '\\') {
			out[n++] = (char)c;
			continue;
		}
		out[n++] = '\\';
		out[n++] = 'x';
		out[n++] = hex[c >> 4];
		out[n++] = hex[c & 15];
	}
	return n;
}

SPD_PUBLIC int speed_addr_format(const struct speed_sockaddr *sa, socklen_t len,
				 char *buf, size_t size)
{
	char text[SPEED_ADDR_TEXT];
	size_t n, name = 0;

	if (len < sizeof(sa->sp_family) || len > sizeof(*sa) || sa->sp_family != speed_family() ||
	    (len > sizeof(sa->sp_family) && len < ADDR_BARE))
		return addr_fail(EINVAL);
	if (len > ADDR_BARE)
		name = strnlen(sa->sp_name, len - ADDR_BARE);
	if (name)
		n = addr_put_name(text, sa->sp_name, name);
	else if (len >= ADDR_BARE && sa->sp_number)
		n = addr_put_number(text, sa->sp_number);
	else
		n = addr_put_any(text);
	if (n >= size)
		return addr_fail(ENOSPC);
	memcpy(buf, text, n);
	buf[n] = '\0';
	return (int)n;
}
