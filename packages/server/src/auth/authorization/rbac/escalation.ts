/**
 * Prevents privilege escalation: writing a role requires all of its rules, or the verb `escalate` on it; writing a binding requires all
 * rules of its role, or the verb `bind` on the role. Runs after all mutating plugins.
 */

import { isDeepStrictEqual } from 'node:util';
import { badRequest, forbiddenRequest, notFound, quote } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import { inSlices, Slicer } from '@hangar/core';
import type { AdmissionPlugin, AdmissionRequest } from '../../../admission/admission.ts';
import type { Verb } from '../../../request/info.ts';
import { mastersGroup } from '../../user.ts';
import type { RoleRef } from './bindings.ts';
import { describePieces, TooManyPieces, uncovered } from './covers.ts';
import type { Piece } from './covers.ts';
import { problemsText } from './policy.ts';
import { rulesOf } from './rules.ts';
import type { PolicyRule } from './rules.ts';

const group = 'rbac.authorization.k8s.io';

/** Aggregation can collect any rules, so it requires full authority. */
const fullAuthority: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

export const escalationCheck: AdmissionPlugin = {
  name: 'PrivilegeEscalation',
  resources: new Set(
    ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'].map((name) => `${group}/${name}`),
  ),
  mutate(request) {
    const { operation, object, old, user, plane } = request;
    // Starts the watch, so that aggregated roles see the change.
    if (!plane.policy.isReady) void plane.policy.ready().catch(() => undefined);
    if (!object || (operation !== 'CREATE' && operation !== 'UPDATE') || user.groups.includes(mastersGroup)) return;
    const isBinding = request.resource.kind.endsWith('Binding');
    return isBinding ? checkBinding(request, object, old) : checkRole(request, object, old);
  },
};

async function checkRole(request: AdmissionRequest, role: KubeObject, old: KubeObject | undefined): Promise<void> {
  const { namespace, resource, operation, name } = request;
  // A creation has no name in its path: the right to escalate named roles does not include creating them.
  const existing = operation === 'CREATE' ? '' : name;
  if (await mayBesides(request, 'escalate', { resource: resource.name, namespace, name: existing })) return;
  if (old && changesOwnersOnly(role, old)) return;
  await insistOnRules(request, role, rulesOf(role));
  if (!collects(role) && !(old && collects(old))) return;
  if ((await missingRules(request, fullAuthority)).length > 0) {
    throw refused(request, role, 'must have cluster-admin privileges to use the aggregationRule');
  }
}

async function checkBinding(
  request: AdmissionRequest,
  binding: KubeObject,
  old: KubeObject | undefined,
): Promise<void> {
  if (old && changesOwnersOnly(binding, old)) return;
  const { plane, namespace } = request;
  const roleRef = binding['roleRef'] as RoleRef;
  const resource = roleRef.kind === 'ClusterRole' ? 'clusterroles' : roleRef.kind === 'Role' ? 'roles' : undefined;
  // Validation rejects references to anything else.
  if (resource === undefined) return;
  const role = { group: roleRef.apiGroup, resource, namespace, name: roleRef.name };
  if (await mayBesides(request, 'bind', role)) return;
  await plane.policy.fresh();
  const rules = plane.policy.rulesOfRole(roleRef, namespace);
  if (!rules && resource === 'roles' && namespace === '') throw badRequest('Namespace parameter required.');
  if (!rules) throw notFound({ group, resource: request.resource.name }, roleRef.name);
  await insistOnRules(request, binding, rules);
}

interface Named {
  readonly group?: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

async function mayBesides({ guard, user }: AdmissionRequest, verb: string, named: Named): Promise<boolean> {
  const decision = await guard.decide(user, {
    isResource: true,
    verb: verb as Verb,
    group,
    version: '*',
    subresource: '',
    rest: '',
    ...named,
  });
  return decision === 'allow';
}

async function insistOnRules(
  request: AdmissionRequest,
  object: KubeObject,
  rules: readonly PolicyRule[],
): Promise<void> {
  const { user, namespace, plane } = request;
  const missing = await missingRules(request, rules, object);
  if (missing.length === 0) return;
  const groups = `[${user.groups.map(quote).join(' ')}]`;
  // kube-apiserver reports every missing role under the resource of the request.
  const problems = problemsText(plane.policy.allGrants(user, namespace), () => request.resource.name);
  const unresolved = problems === '' ? '' : `; resolution errors: [${problems}]`;
  throw refused(
    request,
    object,
    `user ${quote(user.name)} (groups=${groups}) is attempting to grant RBAC permissions not currently held:\n${describePieces(missing)}${unresolved}`,
  );
}

async function missingRules(
  request: AdmissionRequest,
  rules: readonly PolicyRule[],
  object?: KubeObject,
): Promise<Piece[]> {
  const { plane, user, namespace } = request;
  // Permissions revoked a moment ago must not count.
  await plane.policy.fresh();
  // A role counts once, even if several bindings refer to it.
  const owned = new Set(plane.policy.allGrants(user, namespace).map((grant) => grant.rules));
  try {
    return await inSlices(new Slicer(plane.clock), uncovered(rulesIn(owned), rules));
  } catch (error) {
    if (!(error instanceof TooManyPieces)) throw error;
    throw refused(request, object, `${error.message} to compare them with the permissions of user ${quote(user.name)}`);
  }
}

function* rulesIn(lists: Iterable<readonly PolicyRule[]>): Generator<PolicyRule> {
  for (const list of lists) yield* list;
}

function collects(role: KubeObject): boolean {
  const rule = role['aggregationRule'] as { clusterRoleSelectors?: readonly unknown[] } | undefined;
  return (rule?.clusterRoleSelectors?.length ?? 0) > 0;
}

/** Changes by garbage collection grant nothing. */
function changesOwnersOnly(object: KubeObject, old: KubeObject): boolean {
  const { ownerReferences: _, finalizers: __, managedFields: ___, selfLink: ____, ...metadata } = old.metadata;
  const { ownerReferences: _a, finalizers: _b, managedFields: _c, selfLink: _d, ...changed } = object.metadata;
  return isDeepStrictEqual({ ...object, metadata: changed }, { ...old, metadata });
}

const refused = ({ resource, name }: AdmissionRequest, object: KubeObject | undefined, message: string) =>
  forbiddenRequest({ group, resource: resource.name }, object?.metadata.name ?? name, message);
