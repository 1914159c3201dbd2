/** User extras of requests to the control plane of a project. */

import { withoutParent, withParent } from '../../auth/parent-extras.ts';
import type { User } from '../../auth/user.ts';
import type { OwnedTenant, ProjectDirectory } from './project-directory.ts';
import { projectGroup } from './stored-objects.ts';

/** Returns the user with the extras of the project that owns the tenant, on all routes to it. In other tenants the user has no such extra. */
export function scopedToProject(
  directory: Pick<ProjectDirectory, 'isProject'>,
  tenant: OwnedTenant | undefined,
  user: User,
): User {
  if (!tenant || !directory.isProject(tenant)) return withoutParent(user);
  return withParent(user, { apiGroup: projectGroup, type: 'Project', name: tenant.path });
}
