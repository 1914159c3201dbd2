/** User extras of requests to the control plane of a project. */

import { withoutParent, withParent } from '../../auth/parent-extras.ts';
import type { User } from '../../auth/user.ts';
import type { ProjectDirectory } from './project-directory.ts';
import { projectGroup } from './stored-objects.ts';

/**
 * Returns the user with the extras of the project whose control plane has this path, on all routes to it. In other control planes the user
 * has no such extra.
 */
export function scopedToProject(directory: Pick<ProjectDirectory, 'organizationOf'>, path: string, user: User): User {
  if (directory.organizationOf(path) === undefined) return withoutParent(user);
  return withParent(user, { apiGroup: projectGroup, type: 'Project', name: path });
}
