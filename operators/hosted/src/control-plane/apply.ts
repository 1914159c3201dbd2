/**
 * Applies rendered objects by server-side apply, and only if something differs: an annotation has the digest of the rendered object, and
 * every rendered field must have its value. So a stable control plane causes no writes, and changes of others are reverted.
 */

import { find, keyOf } from '@hangar/client';
import type { ApiObject, ApplyConfiguration, Kind, ObjectKey } from '@hangar/client';
import { canonicalQuantity } from '@hangar/api/values';
import { isControlledBy } from '@hangar/runtime';
import { annotations } from '../api/index.ts';
import type { Fault } from '../fault.ts';
import { digestOf } from '../pki/secrets.ts';
import type { Rendered } from '../render/index.ts';
import type { Pass } from './pass.ts';

export const fieldManager = 'hangar-hosted';

/** Reads from the cache, then from the server: new objects and objects without the label are not in the cache. */
export async function findObject<T extends ApiObject>(
  { client, apiReader, signal }: Pick<Pass, 'client' | 'apiReader' | 'signal'>,
  kind: Kind<T>,
  key: ObjectKey,
): Promise<T | undefined> {
  return (await find(client, kind, key, { signal })) ?? (await find(apiReader, kind, key, { signal }));
}

/** The object of another owner, which is not changed. */
export const conflictFault = ({ kind, metadata }: ApiObject): Fault => ({
  reason: 'ObjectConflict',
  message: `${kind} ${JSON.stringify(`${metadata.namespace}/${metadata.name}`)} exists and belongs to another owner: delete or rename it`,
});

/** Returns the current object, or the fault that another owner has it. */
export async function applyObject<T extends ApiObject>(pass: Pass, { kind, object }: Rendered): Promise<T | Fault> {
  const before = (await findObject(pass, kind, keyOf(object))) as T | undefined;
  if (before && !isControlledBy(before, pass.hostedControlPlane)) return conflictFault(before);
  const digest = digestOf(object);
  if (before?.metadata.annotations?.[annotations.rendered] === digest && isApplied(object, before)) return before;
  const wanted = withAnnotation(object, digest) as ApplyConfiguration<ApiObject>;
  const name = `${object.kind.toLowerCase()}-${suffixOf(pass, object)}`;
  const options = { fieldManager, force: true, signal: pass.signal };
  return (await pass.world.writes.make(name, () => pass.client.apply(kind, wanted, options))) as T;
}

/** Applies all of them. Returns the first fault. */
export async function applyAll(pass: Pass, all: readonly Rendered[]): Promise<Fault | undefined> {
  for (const one of all) {
    const result = await applyObject(pass, one);
    if ('reason' in result) return result as Fault;
  }
  return undefined;
}

const withAnnotation = (object: ApiObject, digest: string): ApiObject => ({
  ...object,
  metadata: {
    ...object.metadata,
    annotations: { ...object.metadata.annotations, [annotations.rendered]: digest },
  },
});

/** The name without that of the control plane, for names of failpoints. */
const suffixOf = ({ plane }: Pass, { metadata }: ApiObject): string =>
  metadata.name!.replace(plane.name, '').replaceAll(/^-|-$/g, '') || 'self';

/**
 * Reports whether every field of `wanted` has its value in `actual`. Other fields, such as defaults, do not matter. Lists of named items
 * may have more items, which others added.
 */
export function isApplied(wanted: unknown, actual: unknown): boolean {
  if (wanted === undefined) return true;
  if (Array.isArray(wanted)) return Array.isArray(actual) && isListApplied(wanted, actual);
  if (typeof wanted === 'object' && wanted !== null) {
    if (typeof actual !== 'object' || actual === null) return Object.keys(wanted).length === 0;
    const fields = actual as Readonly<Record<string, unknown>>;
    return Object.entries(wanted).every(([name, value]) => isApplied(value, fields[name]));
  }
  return wanted === actual || isSameQuantity(wanted, actual);
}

function isListApplied(wanted: readonly unknown[], actual: readonly unknown[]): boolean {
  const named = wanted.every((item) => nameOf(item) !== undefined);
  if (named) {
    const byName = new Map(actual.map((item) => [nameOf(item), item]));
    return wanted.every((item) => byName.has(nameOf(item)) && isApplied(item, byName.get(nameOf(item))));
  }
  return wanted.length === actual.length && wanted.every((item, at) => isApplied(item, actual[at]));
}

const nameOf = (item: unknown): unknown =>
  typeof item === 'object' && item !== null ? (item as { name?: unknown }).name : undefined;

/** `1` and `1000m` are the same amount: servers store a canonical form. */
function isSameQuantity(wanted: unknown, actual: unknown): boolean {
  if (typeof actual !== 'string' || !['string', 'number'].includes(typeof wanted)) return false;
  try {
    return canonicalQuantity(String(wanted)) === canonicalQuantity(actual);
  } catch {
    return false;
  }
}
