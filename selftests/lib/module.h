/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The module itself, loaded and unloaded. Its file: SPEED_MODULE, or where the
 * guests and modprobe have it.
 */
#ifndef SPEED_SELFTESTS_MODULE_H
#define SPEED_SELFTESTS_MODULE_H

#include <stdbool.h>

/* Ends the body where the module cannot be unloaded and loaded again. */
void module_need(void);
const char *module_file(void);
bool module_loaded(void);

/* 0, or -1 and errno. */
int module_load(const char *parameters);
int module_unload(void);
/* The last references go a moment after the last close. */
int module_unload_soon(void);

#endif
