/**
 * Ensures the default policy at every start, as kube-apiserver does: missing parts are added, additions of users are kept, and objects
 * annotated with `autoupdate: "false"` are not changed. One transaction for roles, one for bindings, none if nothing changed.
 */

import { isDeepStrictEqual } from 'node:util';
import { updateManagedFields } from '@hangar/api';
import type { JsonObject, KubeObject } from '@hangar/api';
import { absent, prefixRange } from '@hangar/store';
import type { Entry, Write } from '@hangar/store';
import { ruleOfPiece, uncoveredAtOnce } from '../../auth/authorization/rbac/covers.ts';
import { rulesOf } from '../../auth/authorization/rbac/rules.ts';
import { collectionPrefix, objectKey } from '../../control-plane.ts';
import type { ControlPlane } from '../../control-plane.ts';
import type { Resource } from '../../resources/resource.ts';
import { timestamp } from '../../verbs/metadata.ts';
import { newborn } from './newborn.ts';
import { policyBindings, policyRoles } from './objects.ts';

/** Each failed attempt lost against another replica. */
const attemptsMax = 10;

export async function ensurePolicy(plane: ControlPlane): Promise<void> {
  await ensure(plane, policyRoles());
  await ensure(plane, policyBindings());
}

async function ensure(plane: ControlPlane, wanted: readonly KubeObject[]): Promise<void> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const existing = await existingEntries(plane, wanted);
    const writes = wanted.flatMap((one) => writeFor(plane, one, existing) ?? []);
    if (writes.length === 0 || (await plane.store.commit(writes)).committed) return;
  }
  throw new Error('failed to write the default RBAC policy');
}

/** Reads a few ranges instead of each object. */
async function existingEntries(plane: ControlPlane, wanted: readonly KubeObject[]): Promise<Map<string, Entry>> {
  const prefixes = new Set(
    wanted.map((one) => collectionPrefix(plane, resourceOf(plane, one), one.metadata.namespace ?? '')),
  );
  const ranges = await Promise.all([...prefixes].map((prefix) => plane.store.range(prefixRange(prefix))));
  return new Map(ranges.flatMap(({ entries }) => entries.map((entry) => [entry.key, entry] as const)));
}

function writeFor(plane: ControlPlane, wanted: KubeObject, existing: ReadonlyMap<string, Entry>): Write | undefined {
  const resource = resourceOf(plane, wanted);
  const { name = '', namespace = '' } = wanted.metadata;
  const key = objectKey(plane, resource, namespace, name);
  const entry = existing.get(key);
  const put = (object: KubeObject, expected: Entry | undefined): Write => ({
    type: 'put',
    key,
    value: resource.stored.encode(object),
    expected: expected?.modRevision ?? absent,
  });
  if (!entry) return put(newborn(plane, wanted), undefined);
  const live = resource.stored.object(entry);
  if (isAsWanted(live, wanted)) return undefined;
  if (live.metadata.annotations?.[autoUpdate] === 'false') return undefined;
  // roleRef is immutable, so the binding is replaced.
  if (isBinding(wanted) && !isDeepStrictEqual(live['roleRef'], wanted['roleRef'])) {
    return put(newborn(plane, wanted), entry);
  }
  const object = isBinding(wanted) ? reconciledBinding(live, wanted) : reconciledRole(live, wanted);
  if (isDeepStrictEqual(object, live)) return undefined;
  return put(owned(plane, resource, live, object), entry);
}

/** Fast path: almost always nothing changed. Compares texts, because objects of the same origin have the same field order. */
function isAsWanted(live: KubeObject, wanted: KubeObject): boolean {
  const { kind: _, apiVersion: __, metadata, ...content } = wanted;
  const { labels, annotations } = live.metadata;
  return (
    hasAll(labels, metadata.labels!) &&
    hasAll(annotations, metadata.annotations!) &&
    (live['aggregationRule'] !== undefined) === (content['aggregationRule'] !== undefined) &&
    Object.keys(content).every(
      (name) => isCollected(name, content) || JSON.stringify(live[name]) === JSON.stringify(content[name]),
    )
  );
}

/** The rules of an aggregated role are not part of the policy. */
const isCollected = (name: string, { aggregationRule }: JsonObject): boolean =>
  name === 'rules' && aggregationRule !== undefined;

const hasAll = (map: Readonly<Record<string, string>> = {}, wanted: Readonly<Record<string, string>>): boolean =>
  Object.keys(wanted).every((key) => Object.hasOwn(map, key));

const autoUpdate = 'rbac.authorization.kubernetes.io/autoupdate';
const isBinding = ({ kind }: KubeObject): boolean => kind.endsWith('Binding');

const resourceNames: Readonly<Record<string, string>> = {
  Role: 'roles',
  ClusterRole: 'clusterroles',
  RoleBinding: 'rolebindings',
  ClusterRoleBinding: 'clusterrolebindings',
};

const resourceOf = (plane: ControlPlane, { kind }: KubeObject): Resource =>
  plane.catalogue.find({ group: 'rbac.authorization.k8s.io', version: 'v1', resource: resourceNames[kind]! })!;

/** Labels and annotations of users take precedence over those of the policy. */
const withMetadata = (live: KubeObject, { metadata }: KubeObject): KubeObject => ({
  ...live,
  metadata: {
    ...live.metadata,
    labels: { ...metadata.labels, ...live.metadata.labels },
    annotations: { ...metadata.annotations, ...live.metadata.annotations },
  },
});

interface AggregationRule {
  readonly clusterRoleSelectors?: readonly object[];
}

function reconciledRole(live: KubeObject, wanted: KubeObject): KubeObject {
  const object = withMetadata(live, wanted);
  if (!isCollected('rules', wanted) && !isDeepStrictEqual(live['rules'], wanted['rules'])) {
    const missing = uncoveredAtOnce(rulesOf(live), rulesOf(wanted)).map(ruleOfPiece);
    if (missing.length > 0) object['rules'] = [...rulesOf(live), ...missing];
  }
  const wantedSelectors = (wanted['aggregationRule'] as AggregationRule | undefined)?.clusterRoleSelectors;
  if (!wantedSelectors) {
    delete object['aggregationRule'];
    return object;
  }
  const selectors = (live['aggregationRule'] as AggregationRule | undefined)?.clusterRoleSelectors ?? [];
  const missing = wantedSelectors.filter((one) => !selectors.some((known) => isDeepStrictEqual(known, one)));
  if (missing.length > 0) object['aggregationRule'] = { clusterRoleSelectors: [...selectors, ...missing] };
  return object;
}

function reconciledBinding(live: KubeObject, wanted: KubeObject): KubeObject {
  const object = withMetadata(live, wanted);
  const subjects = (live['subjects'] ?? []) as readonly object[];
  const missing = ((wanted['subjects'] ?? []) as readonly object[]).filter(
    (one) => !subjects.some((known) => isDeepStrictEqual(known, one)),
  );
  if (missing.length > 0) object['subjects'] = [...subjects, ...missing];
  return object;
}

/** Records the server as the manager of added fields, as for any other client. */
function owned(plane: ControlPlane, resource: Resource, live: KubeObject, object: KubeObject): KubeObject {
  updateManagedFields({
    type: resource.mergeType,
    live,
    object,
    manager: 'hangar',
    apiVersion: resource.apiVersion,
    subresource: '',
    now: timestamp(plane.clock),
    resetFields: resource.strategy.resetFields(''),
  });
  return object;
}
