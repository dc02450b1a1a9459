/* SPDX-License-Identifier: BSD-3-Clause */
#include "user.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- who ---- */

static bool
user_number(const char *text, unsigned int *number)
{
	unsigned long value;
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	value = strtoul(text, &end, 10);
	*number = (unsigned int)value;
	/* The last one means "as it is" to the kernel. */
	return *end == '\0' && errno == 0 && value < UINT_MAX;
}

static int
user_find_group(const char *text, struct lull_user *user, struct lull_error *error)
{
	const struct group *group = getgrnam(text);
	unsigned int number;

	if (group != NULL)
		user->gid = group->gr_gid;
	else if (user_number(text, &number))
		user->gid = number;
	else
		return lull_error_set(error, -EINVAL, "user: there is no group '%.*s'",
				      LULL_ERROR_SHOWN, text);
	return 0;
}

/* All groups of that user; gid is among them. */
static int
user_find_groups(const struct passwd *passwd, struct lull_user *user, struct lull_error *error)
{
	user->gid = passwd->pw_gid;
	user->group_count = LULL_USER_GROUPS_MAX;
	if (getgrouplist(passwd->pw_name, passwd->pw_gid, user->groups, &user->group_count) < 0)
		return lull_error_set(error, -EINVAL,
				      "user: '%s' is in more than %d groups; name one: %s:GROUP",
				      user->name, LULL_USER_GROUPS_MAX, user->name);
	return 0;
}

int
lull_user_find(const char *text, struct lull_user *user, struct lull_error *error)
{
	const char *colon = strchr(text, ':');
	const struct passwd *passwd;
	unsigned int number = 0;

	*user = (struct lull_user){ .wanted = text[0] != '\0' };
	if (!user->wanted)
		return 0;
	snprintf(user->name, sizeof(user->name), "%.*s",
		 colon != NULL ? (int)(colon - text) : (int)sizeof(user->name), text);
	passwd = getpwnam(user->name);
	if (passwd == NULL && user_number(user->name, &number))
		passwd = getpwuid(number);
	else if (passwd == NULL)
		return lull_error_set(error, -EINVAL, "user: there is no user '%s'", user->name);
	user->uid = passwd != NULL ? passwd->pw_uid : number;
	if (user->uid == 0)
		return lull_error_set(error, -EINVAL,
				      "user: '%s' is root; without --user the program stays root",
				      user->name);
	if (colon != NULL)
		return user_find_group(colon + 1, user, error);
	if (passwd == NULL)
		return lull_error_set(
			error, -EINVAL,
			"user: there is no user %s; a number without a name needs its "
			"group: %s:GROUP",
			user->name, user->name);
	return user_find_groups(passwd, user, error);
}

/* ---- the process that stays root ---- */

static void
keeper_remove(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	if (dir == NULL)
		return;
	while ((entry = readdir(dir)) != NULL)
		unlinkat(dirfd(dir), entry->d_name, 0); /* refuses "." and ".." */
	closedir(dir);
	rmdir(path);
}

/* One path, then the end of the other side. What comes behind the path is not looked at. */
static void
keeper_run(int fd)
{
	char path[PATH_MAX], byte;
	ssize_t len;

	do {
		len = read(fd, path, sizeof(path) - 1);
	} while (len < 0 && errno == EINTR);
	while (read(fd, &byte, 1) > 0)
		;
	if (len <= 0)
		return;
	path[len] = '\0';
	keeper_remove(path);
}

static int
keeper_start(struct lull_user *user, struct lull_error *error)
{
	sigset_t all, before;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) != 0)
		return lull_error_set(error, -errno, "user: pipe: %s", strerror(errno));
	/* A terminal's signals go to all of its processes, and this one has to stay. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	user->keeper = fork();
	if (user->keeper == 0) {
		int fd = fcntl(fds[0], F_DUPFD, STDERR_FILENO + 1);

		/* Who reads our output waits for all who have it. */
		for (int other = 0; other < (int)sysconf(_SC_OPEN_MAX) && other < 1024; other++) {
			if (other != fd)
				close(other);
		}
		prctl(PR_SET_NAME, "lull-keeper", 0, 0, 0);
		(void)!chdir("/");
		keeper_run(fd);
		_exit(0);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	close(fds[0]);
	if (user->keeper < 0) {
		close(fds[1]);
		return lull_error_set(error, -errno, "user: fork: %s", strerror(errno));
	}
	user->keeper_fd = fds[1];
	return 0;
}

/* ---- from root to that user ---- */

int
lull_user_begin(struct lull_user *user, struct lull_error *error)
{
	if (!user->wanted)
		return 0;
	if (geteuid() != 0)
		return lull_error_set(error, -EPERM, "user: only root can become %s", user->name);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return lull_error_set(error, -errno, "user: no_new_privs: %s", strerror(errno));
	return keeper_start(user, error);
}

int
lull_user_keep(struct lull_user *user, const char *folder, struct lull_error *error)
{
	if (!user->wanted || folder == NULL)
		return 0;
	if (write(user->keeper_fd, folder, strlen(folder)) < 0)
		return lull_error_set(error, -errno, "user: %s: %s", folder, strerror(errno));
	return 0;
}

/*
 * The kernel keeps these by thread; the C library's setgroups() would change all of them. With
 * another user for files go the capabilities that look past their rights.
 */
void
lull_user_files(const struct lull_user *user, bool as_user)
{
	static gid_t groups[NGROUPS_MAX];
	static int group_count;

	if (!user->wanted)
		return;
	if (as_user) {
		group_count = getgroups(NGROUPS_MAX, groups);
		syscall(SYS_setgroups, user->group_count, user->groups);
		setfsgid(user->gid);
		setfsuid(user->uid);
		return;
	}
	setfsuid(geteuid());
	setfsgid(getegid());
	syscall(SYS_setgroups, group_count, groups);
}

int
lull_user_become(struct lull_user *user, struct lull_error *error)
{
	const char *step = NULL;

	if (!user->wanted)
		return 0;
	if (setgroups((size_t)user->group_count, user->groups) != 0)
		step = "setgroups";
	else if (setresgid(user->gid, user->gid, user->gid) != 0)
		step = "setresgid";
	else if (setresuid(user->uid, user->uid, user->uid) != 0)
		step = "setresuid";
	if (step != NULL)
		return lull_error_set(error, -errno, "user: cannot become %s: %s: %s", user->name,
				      step, strerror(errno));
	/* Nothing was kept by mistake, such as by the settings of whoever started this. */
	if (setresuid(0, 0, 0) == 0)
		return lull_error_set(error, -EPERM, "user: %s could become root again",
				      user->name);
	return 0;
}

void
lull_user_end(struct lull_user *user)
{
	if (user->keeper <= 0)
		return;
	close(user->keeper_fd);
	while (waitpid(user->keeper, NULL, 0) < 0 && errno == EINTR)
		;
	user->keeper = 0;
}
