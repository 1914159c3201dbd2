/**
 * `POST …/tenants/demo/materialise`: copies the shared base objects that the tenant shows into its own range, where a real kube-apiserver
 * finds them. The tenant keeps serving.
 *
 *     1  Each base object that the tenant neither changed nor deleted becomes an entry in the range, in small batches. Each write is
 *        conditional on this state, so a concurrent change or deletion wins. Afterwards an entry or a tombstone covers each base object,
 *        regardless of later changes by the tenant.
 *     2  One transaction marks the identity and the Tenant object. The new identity fences off all open views. The object
 *        notifies every replica, which reopens the tenant without a base.
 *
 * A crash in between only leaves extra entries in the range; the operation can be repeated. Tombstones stay although they have no effect
 * afterwards: a replica that still has the old view open must not show deleted objects.
 */

import { badRequest, conflict, staleObject } from '@hangar/api';
import { absent, everything, hiddenName } from '@hangar/store';
import type { Base, Entry, RestoredRevisions, Revision, Store, Write } from '@hangar/store';
import type { Answer } from '../http/message.ts';
import { entryAnswer, wantedBy } from '../objects/answers.ts';
import { unconditionalAttemptsMax } from '../limits.ts';
import { writeOptions } from '../request/options.ts';
import { groupResource } from '../verbs/call.ts';
import type { Call } from '../verbs/call.ts';
import { restoring } from './backup/replacement.ts';
import { baseOfTenant } from './base/of-tenant.ts';
import { baseRevisionOf, decodeIdentity, encodeIdentity, withoutHistory } from './identity.ts';
import { tenantKeys } from './keys/keys.ts';
import { insistOnLocal } from './hold/refusals.ts';
import { askedTenant } from './kind/asked-tenant.ts';
import type { AskedTenant } from './kind/asked-tenant.ts';
import type { TenantWorld } from './open-tenant.ts';

/** Each entry has two conditions, and the identity adds one more. */
const transactionEntriesMax = 60;
const transactionBytesMax = 1024 * 1024;
const bodyBytesMax = 64 * 1024;

export const materialiseOperation =
  (world: TenantWorld) =>
  async (call: Call): Promise<Answer> => {
    const want = wantedBy(call);
    await call.request.body(bodyBytesMax);
    const { isDryRun } = writeOptions(call.query, 'CreateOptions');
    if (isDryRun) throw badRequest('the base of a tenant is not materialised for a try');
    for (let attempt = 0; attempt < unconditionalAttemptsMax; attempt++) {
      const asked = await askedTenant(world, call);
      const identity = decodeIdentity(asked.identity.value);
      if (identity.next) throw restoring(asked.path);
      insistOnLocal(asked.path, identity);
      if (identity.isMaterialised) return entryAnswer(call, want, await markMaterialised(call, asked.entry));
      // The tenant was destroyed or materialised by another request: read it again.
      if (!(await writeBase(world, asked))) continue;
      const { key, modRevision } = asked.identity;
      const value = encodeIdentity({ ...withoutHistory(identity), isMaterialised: true });
      const entry = await commitMarked(call, asked.entry, [{ type: 'put', key, value, expected: modRevision }]);
      // Undefined: the Tenant was changed or destroyed meanwhile.
      if (entry) return entryAnswer(call, want, entry);
    }
    throw conflict(groupResource(call), call.info.name, staleObject);
  };

/** Marks the Tenant object as materialised if it does not match its identity yet. */
export async function markMaterialised(call: Call, entry: Entry): Promise<Entry> {
  const { status } = call.resource.stored.object(entry) as { status?: { isMaterialised?: boolean } };
  return status?.isMaterialised ? entry : ((await commitMarked(call, entry, [])) ?? entry);
}

/** Returns undefined if one of the conditions did not hold. */
async function commitMarked({ plane, resource }: Call, entry: Entry, writes: Write[]): Promise<Entry | undefined> {
  const object = resource.stored.object(entry);
  object['status'] = { ...(object['status'] as object), isMaterialised: true };
  const value = resource.stored.encode(object);
  const result = await plane.store.commit([
    { type: 'put', key: entry.key, value, expected: entry.modRevision },
    ...writes,
  ]);
  if (!result.committed) return undefined;
  await resource.settled?.(plane, result.revision);
  return { ...entry, value, modRevision: result.revision, version: entry.version + 1 };
}

/**
 * Copies the base objects of a tenant into its range with their own revisions: the tenant shows the same as before, and clients notice
 * nothing. Returns false if the tenant was replaced, held or destroyed meanwhile. Rejects with `Unsupported` if the store cannot restore
 * revisions.
 */
export const copyBase = (world: TenantWorld, asked: AskedTenant): Promise<boolean> =>
  writeBase(world, asked, baseRevisionOf(asked.identity));

/** `revision`: of the entries; absent: that of their transaction. Returns false if the tenant was replaced or destroyed meanwhile. */
async function writeBase(world: TenantWorld, asked: AskedTenant, revision?: Revision): Promise<boolean> {
  const { path, prefix, identity } = asked;
  const { value, modRevision, key } = identity;
  const { store, clock, random } = world;
  const keys = await tenantKeys({ store, prefix, path, identityRevision: modRevision, clock, random });
  const base = await baseOfTenant(world, { path, identity: decodeIdentity(value), keys });
  const restored = revision === undefined ? {} : { restored: restoredAt(revision) };
  const range = { store, prefix, fence: { key, revision: modRevision }, ...restored };
  for (const batch of batches(base)) if (!(await writeMissing(range, batch))) return false;
  return true;
}

interface TenantRange {
  readonly store: Store;
  readonly prefix: string;
  readonly fence: { readonly key: string; readonly revision: Revision };
  /** Revisions of the entries; absent: those of their transaction. */
  readonly restored?: RestoredRevisions;
}

const restoredAt = (revision: Revision): RestoredRevisions => ({
  createRevision: revision,
  modRevision: revision,
  version: 1,
});

/** Yields relative keys and values in batches that fit into one transaction. */
function* batches(base: Base): Generator<Map<string, Uint8Array>> {
  let batch = new Map<string, Uint8Array>();
  let bytes = 0;
  for (const key of base.keysIn(everything)) {
    const value = base.value(key)!;
    if (batch.size === transactionEntriesMax || (batch.size > 0 && bytes + value.length > transactionBytesMax)) {
      yield batch;
      [batch, bytes] = [new Map<string, Uint8Array>(), 0];
    }
    batch.set(key, value);
    bytes += value.length;
  }
  if (batch.size > 0) yield batch;
}

/** Terminates: each failed attempt removes at least one entry from the batch. */
async function writeMissing(range: TenantRange, batch: Map<string, Uint8Array>): Promise<boolean> {
  const { store, prefix, fence, restored } = range;
  while (batch.size > 0) {
    const writes = Array.from(batch, ([key, value]): Write[] => [
      { type: 'put', key: `${prefix}${key}`, value, expected: absent, ...(restored && { restored }) },
      { type: 'check', key: `${prefix}${hiddenName}${key}`, expected: absent },
    ]);
    const result = await store.commit([...writes.flat(), { type: 'check', key: fence.key, expected: fence.revision }]);
    if (result.committed) return true;
    for (const { key } of result.conflicts) {
      if (key === fence.key) return false;
      const relative = key.slice(prefix.length);
      batch.delete(relative.startsWith(hiddenName) ? relative.slice(hiddenName.length) : relative);
    }
  }
  return true;
}
