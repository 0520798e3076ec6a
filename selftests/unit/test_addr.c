// SPDX-License-Identifier: GPL-2.0
/*
 * Addresses from and to text: what each function makes, takes back and refuses.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <speed.h>

#include "tap.h"

#define BARE	offsetof(struct speed_sockaddr, sp_name)
#define MOST	SPEED_NAME_MAX

#define fails_with(err, call)	(errno = 0, (call) == -1 && errno == (err))

static struct speed_sockaddr sa;
static socklen_t len;

/* Whatever was there before is gone. */
static void dirty(void)
{
	memset(&sa, 0xa5, sizeof(sa));
	len = 77;
}

static int parse(const char *text)
{
	dirty();
	return speed_addr_parse(&sa, text, &len);
}

/* Nothing but a number, or a name: all other bytes are zero. */
static int is(uint32_t number, const void *name, size_t bytes)
{
	struct speed_sockaddr want = { .sp_family = speed_family(), .sp_number = number };

	memcpy(want.sp_name, name, bytes);
	return len == BARE + bytes && !memcmp(&sa, &want, sizeof(sa));
}

/* The text of the address that is there now. */
static int text_is(const char *want)
{
	char buf[SPEED_ADDR_TEXT];

	memset(buf, 'x', sizeof(buf));
	return speed_addr_format(&sa, len, buf, sizeof(buf)) == (int)strlen(want) &&
	       !strcmp(buf, want);
}

static int goes_round(const char *text)
{
	return !parse(text) && text_is(text);
}

static void test_numbers(void)
{
	dirty();
	len = speed_addr_number(&sa, 42);
	need(is(42, "", 0) && text_is("42"));
	dirty();
	len = speed_addr_number(&sa, 0);
	need(is(0, "", 0) && text_is("*"));
	dirty();
	len = speed_addr_number(&sa, 4294967295u);
	need(is(4294967295u, "", 0) && text_is("4294967295"));
	need(!parse("42") && is(42, "", 0));
	need(!parse("1") && is(1, "", 0));
	need(!parse("4294967295") && is(4294967295u, "", 0));
	need(!parse("000000000000000000000042") && is(42, "", 0) && text_is("42"));
	need(!parse("*") && is(0, "", 0));
	need(goes_round("1") && goes_round("10") && goes_round("1000000000"));
	ok("numbers, and the one that asks for a free one");
	need(fails_with(EINVAL, parse("0")) && fails_with(EINVAL, parse("0000")));
	need(fails_with(ERANGE, parse("4294967296")));
	need(fails_with(ERANGE, parse("18446744073709551617")));
	need(fails_with(ERANGE, parse("99999999999999999999999999999999999999")));
	ok("a number is neither 0 nor too large");
}

static void test_names(void)
{
	char most[MOST + 2];

	dirty();
	need(!speed_addr_name(&sa, "42", &len) && is(0, "42", 2) && text_is("@42"));
	dirty();
	need(!speed_addr_name(&sa, "a\\x41 b", &len) && is(0, "a\\x41 b", 7));
	need(text_is("a\\x5cx41\\x20b"));
	need(!parse("hello") && is(0, "hello", 5) && text_is("hello"));
	need(!parse("@42") && is(0, "42", 2) && text_is("@42"));
	need(!parse("@*") && is(0, "*", 1) && text_is("@*"));
	need(!parse("@@") && is(0, "@", 1) && text_is("@@"));
	need(!parse("@hello") && is(0, "hello", 5) && text_is("hello"));
	need(!parse("42a") && is(0, "42a", 3) && text_is("42a"));
	need(!parse("-1") && is(0, "-1", 2) && text_is("-1"));
	need(!parse("**") && is(0, "**", 2) && text_is("**"));
	need(!parse("4@2") && is(0, "4@2", 3) && text_is("4@2"));
	ok("names, and those that are like something else");

	memset(most, 'n', sizeof(most));
	most[MOST] = '\0';
	need(goes_round(most) && is(0, most, MOST));
	dirty();
	need(!speed_addr_name(&sa, most, &len) && is(0, most, MOST));
	most[MOST] = 'n';
	most[MOST + 1] = '\0';
	need(fails_with(ENAMETOOLONG, speed_addr_name(&sa, most, &len)));
	need(fails_with(ENAMETOOLONG, parse(most)));
	most[0] = '@';
	need(!parse(most) && is(0, most + 1, MOST));
	need(fails_with(EINVAL, speed_addr_name(&sa, "", &len)));
	need(fails_with(EINVAL, parse("")) && fails_with(EINVAL, parse("@")));
	ok("a name is neither empty nor too long");
}

static void test_bytes(void)
{
	char escaped[4 * MOST + 5] = "", bytes[MOST];
	int i, n;

	need(!parse("\\x41\\x5C\\x5c\\xfF") && is(0, "A\\\\\xff", 4));
	need(text_is("A\\x5c\\x5c\\xff"));
	need(!parse("@\\x34\\x32") && is(0, "42", 2) && text_is("@42"));
	need(!parse("\\x34\\x32") && is(0, "42", 2) && text_is("@42"));
	need(!parse("\\x2a") && is(0, "*", 1) && text_is("@*"));
	need(!parse("\\x40") && is(0, "@", 1) && text_is("@@"));
	need(!parse(" \t\x7f\x80") && is(0, " \t\x7f\x80", 4) && text_is("\\x20\\x09\\x7f\\x80"));
	ok("a byte by its number");
	for (n = 1; n < 256; n += MOST) {
		for (i = 0; i < MOST && n + i < 256; i++) {
			bytes[i] = n + i;
			sprintf(escaped + 4 * i, "\\x%02x", n + i);
		}
		need(!parse(escaped) && is(0, bytes, i));
		need(speed_addr_format(&sa, len, escaped, sizeof(escaped)) > 0);
		need(!parse(escaped) && is(0, bytes, i));
	}
	ok("every byte, and back");
	memset(bytes, 0xff, MOST);
	for (i = 0; i < MOST; i++)
		strcpy(escaped + 4 * i, "\\xff");
	need(goes_round(escaped) && is(0, bytes, MOST));
	strcat(escaped, "\\xff");
	need(fails_with(ENAMETOOLONG, parse(escaped)));
	ok("the longest text");
	need(fails_with(EINVAL, parse("\\")) && fails_with(EINVAL, parse("a\\")));
	need(fails_with(EINVAL, parse("\\x")) && fails_with(EINVAL, parse("\\x4")));
	need(fails_with(EINVAL, parse("\\xg1")) && fails_with(EINVAL, parse("\\x1g")));
	need(fails_with(EINVAL, parse("\\X41")) && fails_with(EINVAL, parse("\\n")));
	need(fails_with(EINVAL, parse("a\\x00b")) && fails_with(EINVAL, parse("\\x 1")));
	ok("what no byte is");
}

/* As a kernel filled it in: short, or with more behind the name than its end. */
static void test_format(void)
{
	char buf[SPEED_ADDR_TEXT];
	socklen_t i;

	len = speed_addr_number(&sa, 1234);
	need(fails_with(ENOSPC, speed_addr_format(&sa, len, buf, 4)));
	need(fails_with(ENOSPC, speed_addr_format(&sa, len, buf, 0)));
	memset(buf, 'x', sizeof(buf));
	need(speed_addr_format(&sa, len, buf, 5) == 4 && !strcmp(buf, "1234") && buf[5] == 'x');
	need(!parse("\\xff") && fails_with(ENOSPC, speed_addr_format(&sa, len, buf, 4)));
	need(!parse("*") && fails_with(ENOSPC, speed_addr_format(&sa, len, buf, 1)));
	need(speed_addr_format(&sa, len, buf, 2) == 1 && !strcmp(buf, "*"));
	ok("a text that does not fit is refused");

	dirty();
	sa.sp_family = speed_family();
	len = sizeof(sa.sp_family);
	need(text_is("*"));
	for (i = 0; i < BARE; i++)
		need(i == len || fails_with(EINVAL, speed_addr_format(&sa, i, buf, sizeof(buf))));
	need(fails_with(EINVAL, speed_addr_format(&sa, sizeof(sa) + 1, buf, sizeof(buf))));
	need(!parse("42") && text_is("42"));
	sa.sp_family++;
	need(fails_with(EINVAL, speed_addr_format(&sa, len, buf, sizeof(buf))));
	ok("what is no address of the family is refused");

	need(!parse("hello"));
	len = sizeof(sa);
	need(text_is("hello"));
	memcpy(sa.sp_name + 6, "more", 4);
	need(text_is("hello"));
	len = BARE + 3;
	need(text_is("hel"));
	len = BARE;
	need(text_is("*"));
	ok("a name ends with the address or with a NUL");
}

int main(void)
{
	int saved = errno = 1234;

	need(speed_family() > 0 && speed_family() == speed_family() && errno == saved);
	ok("the family has a number, and errno is kept");
	test_numbers();
	test_names();
	test_bytes();
	test_format();
	return tap_done();
}
