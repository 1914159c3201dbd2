/** The default policy as objects: exactly the objects that kube-apiserver creates in every cluster. */

import type { KubeObject } from '@hangar/api';
import { readClusterRole, RoleAggregation } from '@hangar/api/rbac';
import type { PolicyRule } from '../../auth/authorization/rbac/rules.ts';
import { clusterSubjects, namespaceBindings } from './bindings.ts';
import type { SubjectText } from './bindings.ts';
import { componentRoles } from './component-roles.ts';
import { controllerRoles } from './controller-roles.ts';
import { namespaceRoles } from './namespace-roles.ts';
import { parseRule } from './notation.ts';
import type { RoleTable } from './notation.ts';
import { userRoles } from './user-roles.ts';

const group = 'rbac.authorization.k8s.io';
const bootstrapLabel = { 'kubernetes.io/bootstrapping': 'rbac-defaults' };

/** Returns roles before the bindings that refer to them. Aggregated roles already contain their rules. */
export function policyRoles(): KubeObject[] {
  const roles = declaredRoles();
  const clusterRoles = new Map(
    roles.filter(({ kind }) => kind === 'ClusterRole').map((one) => [one.metadata.name!, one]),
  );
  const aggregation = new RoleAggregation();
  const steps = aggregation.update(new Map(Array.from(clusterRoles, ([name, one]) => [name, readClusterRole(one)])));
  while (!steps.next().done);
  for (const name of ['view', 'edit', 'admin']) clusterRoles.get(name)!['rules'] = aggregation.collected(name);
  return roles;
}

export function declaredRoles(): KubeObject[] {
  return [
    ...clusterRoles(userRoles),
    ...['admin', 'edit', 'view'].map(aggregatedRole),
    ...clusterRoles(componentRoles),
    ...clusterRoles(controllerRoles, controllerName),
    ...Object.entries(namespaceRoles).flatMap(([namespace, roles]) =>
      Object.entries(roles).map(([name, rules]) =>
        object('Role', { namespace, name }, { rules: rules.map(parseRule) }),
      ),
    ),
  ];
}

export function policyBindings(): KubeObject[] {
  return [
    ...Object.entries(clusterSubjects).map(([role, subjects]) => clusterBinding(role, subjects)),
    ...Object.keys(controllerRoles).map((name) => clusterBinding(controllerName(name), [`account ${name}`])),
    ...namespaceBindings.map(({ namespace, name, role, subjects }) =>
      object('RoleBinding', { namespace, name }, bound('Role', role, subjects)),
    ),
  ];
}

/** Returns the rules of kubelets besides those that the node authorizer checks per object. */
export const nodeRules = (): PolicyRule[] => componentRoles['system:node']!.map(parseRule);

const controllerName = (account: string): string => `system:controller:${account}`;

const clusterRoles = (roles: RoleTable, nameOf = (name: string): string => name): KubeObject[] =>
  Object.entries(roles).map(([name, rules]) =>
    object('ClusterRole', { name: nameOf(name) }, { rules: rules.map(parseRule) }),
  );

/** Role that aggregates others by a label, so that users can add rules to it. */
const aggregatedRole = (name: string): KubeObject =>
  object(
    'ClusterRole',
    { name },
    { aggregationRule: { clusterRoleSelectors: [{ matchLabels: aggregateTo(name) }] }, rules: null },
  );

const aggregateTo = (name: string): Record<string, string> => ({ [`${group}/aggregate-to-${name}`]: 'true' });

/** `edit` is part of `admin`, and `view` is part of `edit`. */
const collectedBy: Readonly<Record<string, string>> = {
  'system:aggregate-to-admin': 'admin',
  'system:aggregate-to-edit': 'edit',
  'system:aggregate-to-view': 'view',
  edit: 'admin',
  view: 'edit',
};

function object(kind: string, metadata: { name: string; namespace?: string }, content: object): KubeObject {
  const collector = kind === 'ClusterRole' ? collectedBy[metadata.name] : undefined;
  return {
    kind,
    apiVersion: `${group}/v1`,
    metadata: {
      ...metadata,
      labels: { ...bootstrapLabel, ...(collector === undefined ? {} : aggregateTo(collector)) },
      annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
    },
    ...content,
  };
}

const clusterBinding = (role: string, subjects: readonly SubjectText[]): KubeObject =>
  object('ClusterRoleBinding', { name: role }, bound('ClusterRole', role, subjects));

const bound = (kind: string, role: string, subjects: readonly SubjectText[]): object => ({
  ...(subjects.length === 0 ? {} : { subjects: subjects.map(subject) }),
  roleRef: { apiGroup: group, kind, name: role },
});

function subject(text: SubjectText): object {
  const [kind = '', name = ''] = text.split(' ');
  if (kind === 'account') return { kind: 'ServiceAccount', name, namespace: 'kube-system' };
  return { kind: kind === 'user' ? 'User' : 'Group', apiGroup: group, name };
}
