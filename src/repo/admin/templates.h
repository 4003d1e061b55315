/* SPDX-License-Identifier: Apache-2.0 */
/* templates.h - the files that a new repository is born with, outside of db/. */
#ifndef VARVE_REPO_ADMIN_TEMPLATES_H
#define VARVE_REPO_ADMIN_TEMPLATES_H

struct template_file {
    const char *path; /* in the repository's folder */
    unsigned mode;    /* before the umask */
    const char *text;
};
extern const struct template_file repo_templates[]; /* ended by a NULL path */

#endif
