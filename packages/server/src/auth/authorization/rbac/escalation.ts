/**
 * Nobody grants what they do not have: who writes a role must have all of its rules, or the verb `escalate` on it; who writes
 * a binding must have all rules of its role, or the verb `bind` on that. Asked after everything that changes objects.
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

/** To collect the rules of others, which may be any, is to have all. */
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
    // From now on it is followed, so that roles which collect others see the change.
    if (!plane.policy.isReady) void plane.policy.ready().catch(() => undefined);
    if (!object || (operation !== 'CREATE' && operation !== 'UPDATE') || user.groups.includes(mastersGroup)) return;
    const isBinding = request.resource.kind.endsWith('Binding');
    return isBinding ? checkBinding(request, object, old) : checkRole(request, object, old);
  },
};

async function checkRole(request: AdmissionRequest, role: KubeObject, old: KubeObject | undefined): Promise<void> {
  const { namespace, resource, operation, name } = request;
  // What is created has no name in its path: who may escalate certain roles may not create them.
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
  // A reference to anything else is for validation to refuse.
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
  // kube-apiserver names whatever it does not find after the resource of the request.
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
  // What was taken from the user a moment ago must not be granted once more.
  await plane.policy.fresh();
  // A role counts once, however many bindings lead to it.
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

/** What garbage collection does to objects grants nothing. */
function changesOwnersOnly(object: KubeObject, old: KubeObject): boolean {
  const { ownerReferences: _, finalizers: __, managedFields: ___, selfLink: ____, ...metadata } = old.metadata;
  const { ownerReferences: _a, finalizers: _b, managedFields: _c, selfLink: _d, ...changed } = object.metadata;
  return isDeepStrictEqual({ ...object, metadata: changed }, { ...old, metadata });
}

const refused = ({ resource, name }: AdmissionRequest, object: KubeObject | undefined, message: string) =>
  forbiddenRequest({ group, resource: resource.name }, object?.metadata.name ?? name, message);
