/**
 * Rights of members in the management plane: they see their organizations, the memberships and the projects of those, and with the role
 * `admin` or `editor` they create and delete projects. Requests that other authorizers allow are not limited.
 */

import type { KubeObject } from '@hangar/api';
import { noRules } from '../../auth/authorize.ts';
import type { Authorizer, Verdict } from '../../auth/authorize.ts';
import type { User } from '../../auth/user.ts';
import type { Visibility } from '../../auth/visibility.ts';
import type { RequestInfo, ResourceRequest } from '../../request/info.ts';
import { subjectsOf } from './project-directory.ts';
import type { ProjectDirectory } from './project-directory.ts';
import { organizationNamespace, organizationOfNamespace, ownerOf, projectGroup } from './stored-objects.ts';
import type { ProjectResource } from './stored-objects.ts';

const resources: ReadonlySet<string> = new Set<ProjectResource>([
  'organizations',
  'organizationmemberships',
  'projects',
]);
const reads: ReadonlySet<string> = new Set(['get', 'list', 'watch']);
const writerRoles = ['admin', 'editor'];

/** Reports whether the user may create and delete projects of the organization. */
export function mayWriteProjects(directory: ProjectDirectory, organization: string, user: User): boolean {
  const roles = directory.rolesIn(organization, user);
  return roles !== undefined && writerRoles.some((role) => roles.has(role));
}

/** `directory`: read with every request. */
export const memberAuthorizer = (directory: () => ProjectDirectory): Authorizer => ({
  authorize: (user, info) => (isServed(info) ? verdictOf(directory(), user, info) : 'no opinion'),
  // The rules of RBAC cannot express the limit.
  rulesFor: () => noRules,
});

const isServed = (info: RequestInfo): info is ResourceRequest =>
  info.isResource && info.group === projectGroup && resources.has(info.resource) && info.subresource === '';

function verdictOf(directory: ProjectDirectory, user: User, info: ResourceRequest): Verdict {
  const organizations = directory.organizationsOf(user);
  if (organizations.size === 0 || !isAllowed(directory, user, info, organizations)) return 'no opinion';
  const resource = info.resource as ProjectResource;
  return {
    decision: 'allow',
    reason: 'member of an organization',
    visibility: visibilityOf(directory, user, resource),
  };
}

function isAllowed(
  directory: ProjectDirectory,
  user: User,
  { verb, resource, name }: ResourceRequest,
  organizations: ReadonlySet<string>,
): boolean {
  if (reads.has(verb)) return true;
  if (resource !== 'projects') return false;
  const mayWriteIn = (organization: string): boolean => mayWriteProjects(directory, organization, user);
  // Admission compares the organization of the object.
  if (verb === 'create') return Array.from(organizations).some(mayWriteIn);
  if (verb !== 'delete') return false;
  const owner = directory.organizationOf(name);
  // The project of another organization gets the answer of a project that does not exist.
  return owner === undefined || !organizations.has(owner) || mayWriteIn(owner);
}

function visibilityOf(directory: ProjectDirectory, user: User, resource: ProjectResource): Visibility {
  const { changes } = directory;
  const organizations = (): ReadonlySet<string> => directory.organizationsOf(user);
  const isMember = (organization: string | undefined): boolean =>
    organization !== undefined && directory.rolesIn(organization, user) !== undefined;
  const common = {
    reached: (revision: Parameters<Visibility['reached']>[0]) => directory.reached(revision),
    changedSince: (revision: Parameters<Visibility['changedSince']>[0]) => changes.since(subjectsOf(user), revision),
    onChange: (listener: () => void) => changes.follow(subjectsOf(user), listener),
  };
  switch (resource) {
    case 'projects':
      return {
        ...common,
        keys: () =>
          Array.from(organizations(), (one) => [...directory.projectsOf(one)])
            .flat()
            .toSorted(),
        has: (_namespace, name) => isMember(directory.organizationOf(name)),
        isVisible: (project) => isMember(ownerOf(project)),
      };
    case 'organizations':
      return {
        ...common,
        keys: () => Array.from(organizations()).toSorted(),
        has: (_namespace, name) => isMember(name),
        isVisible: ({ metadata }) => isMember(metadata.name),
      };
    case 'organizationmemberships':
      return {
        ...common,
        keys: (namespace) =>
          Array.from(organizations(), (one) => membershipKeys(directory, one, namespace))
            .flat()
            .toSorted(),
        has: (namespace) => isMember(organizationOfNamespace(namespace)),
        isVisible: (membership: KubeObject) => isMember(organizationOfNamespace(membership.metadata.namespace ?? '')),
      };
  }
}

function membershipKeys(directory: ProjectDirectory, organization: string, wanted: string): string[] {
  const namespace = organizationNamespace(organization);
  if (wanted !== '' && wanted !== namespace) return [];
  return Array.from(directory.membershipsOf(organization), (name) => `${namespace}/${name}`);
}
