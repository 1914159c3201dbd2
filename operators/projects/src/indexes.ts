/** Indexes that find the projects and the members of an organization. */

import type { Cache } from '@hangar/runtime';
import { OrganizationMembership, Project } from './api/index.ts';

const projectsByOrganization = 'projects-of-organization';
const membersByOrganization = 'members-of-organization';

type Objects = Pick<Cache, 'informer'>;

/** Called before the controllers are added. */
export function addIndexes(cache: Pick<Cache, 'addIndex'>): void {
  cache.addIndex(Project, projectsByOrganization, ({ spec }) => [spec.ownerRef.name]);
  cache.addIndex(OrganizationMembership, membersByOrganization, ({ spec }) => [spec.organizationRef.name]);
}

export const projectsOf = (cache: Objects, organization: string): Iterable<Project> =>
  cache.informer(Project).byIndex(projectsByOrganization, organization);

/** Includes memberships that are not valid. */
export const membersOf = (cache: Objects, organization: string): Iterable<OrganizationMembership> =>
  cache.informer(OrganizationMembership).byIndex(membersByOrganization, organization);
