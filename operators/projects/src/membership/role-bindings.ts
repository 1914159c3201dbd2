/**
 * Computes the ClusterRoleBindings of a project from the members of its organization: one binding for each role, with all its users and
 * groups. Pure.
 */

import { createHash } from 'node:crypto';
import type { ClusterRoleBinding, Subject } from '@hangar/client/kinds/rbac-v1';
import { group } from '../api/index.ts';
import type { Organization, OrganizationMembership } from '../api/index.ts';
import { isEffective } from './validity.ts';

const rbacGroup = 'rbac.authorization.k8s.io';

/** Names of all bindings start with it. Bindings with other names belong to the users of the project. */
export const bindingPrefix = `${group}:`;

const builtinRoles: ReadonlyMap<string, string> = new Map([
  ['viewer', 'view'],
  ['editor', 'edit'],
  ['admin', 'cluster-admin'],
]);

export interface RoleBinding {
  /** Name of the ClusterRoleBinding. */
  readonly name: string;
  readonly clusterRole: string;
  /** In order, without duplicates. */
  readonly subjects: readonly Subject[];
}

/** Returns the bindings in the order of their names. The order of the memberships has no effect. */
export function roleBindingsOf(
  organization: Organization | undefined,
  memberships: Iterable<OrganizationMembership>,
): RoleBinding[] {
  const subjectsByRole = new Map<string, Map<string, Subject>>();
  for (const membership of memberships) {
    if (!isEffective(membership, organization)) continue;
    const { userRef, groupRef, roles = [] } = membership.spec;
    const kind = userRef ? 'User' : 'Group';
    const subject: Subject = { kind, apiGroup: rbacGroup, name: (userRef ?? groupRef)!.name };
    for (const { name } of roles) {
      const subjects = subjectsByRole.get(name) ?? new Map<string, Subject>();
      subjectsByRole.set(name, subjects.set(`${kind} ${subject.name}`, subject));
    }
  }
  return inOrder(subjectsByRole).map(([role, subjects]) => ({
    name: bindingPrefix + role,
    clusterRole: builtinRoles.get(role) ?? role,
    subjects: inOrder(subjects).map(([, subject]) => subject),
  }));
}

const inOrder = <T>(entries: ReadonlyMap<string, T>): [string, T][] =>
  [...entries].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));

/** Identifies the bindings in one control plane. */
export const digestOf = (controlPlaneUid: string, bindings: readonly RoleBinding[]): string =>
  createHash('sha256')
    .update(JSON.stringify([controlPlaneUid, bindings]))
    .digest('hex')
    .slice(0, 32);

export const bindingObject = ({ name, clusterRole, subjects }: RoleBinding): ClusterRoleBinding => ({
  apiVersion: `${rbacGroup}/v1`,
  kind: 'ClusterRoleBinding',
  metadata: { name },
  roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: clusterRole },
  subjects: [...subjects],
});
