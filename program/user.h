/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * User: a program started by root goes on as another user once it has opened what needs root.
 *
 * In this order: lull_user_find(), lull_user_begin() before there are threads, lull_user_files()
 * around the opening of files that will be opened anew later, lull_user_become() when all that
 * needs root is open, lull_user_end() last of all.
 * lull_user_keep() when there is the folder.
 *
 * Threads: main thread. Memory: the caller's struct.
 */
#ifndef LULL_CLI_USER_H
#define LULL_CLI_USER_H

#include <stdbool.h>
#include <sys/types.h>

#include "host/error.h"

#define LULL_USER_GROUPS_MAX 64

struct lull_user {
	bool wanted; /**< false: the program stays who it is, and nothing here does anything */
	uid_t uid;
	gid_t gid;
	gid_t groups[LULL_USER_GROUPS_MAX]; /**< besides gid */
	int group_count;
	char name[64]; /**< as typed, for sentences */
	pid_t keeper;  /**< the process that stays root and removes a folder; 0: none */
	int keeper_fd; /**< to it, when there is one */
};

/**
 * Look up "NAME", with all groups of that user, or "NAME:GROUP", with that group alone; either may
 * be a number. "": nobody is wanted.
 * @return 0, or -EINVAL and the sentence: there is no such user or group, or it is root
 */
int lull_user_find(const char *text, struct lull_user *user, struct lull_error *error);
/**
 * What has to be done before there are threads: no thread can win rights by exec() from here on,
 * and a process is made that stays root, reads nothing but one path, and removes that folder when
 * this process ends, however it does.
 * @return 0, or -errno and the sentence: -EPERM for who is not root
 */
int lull_user_begin(struct lull_user *user, struct lull_error *error);
/** Once: @p folder, which root alone can remove, goes when this process ends; NULL: none. */
int lull_user_keep(struct lull_user *user, const char *folder, struct lull_error *error);
/** This thread opens files with the rights of that user; false: with its own again. */
void lull_user_files(const struct lull_user *user, bool as_user);
/** Every thread becomes that user for good, without capabilities. 0, or -errno and the sentence. */
int lull_user_become(struct lull_user *user, struct lull_error *error);
/** Wait until that folder is gone. */
void lull_user_end(struct lull_user *user);

#endif
