/**
 * Writes that are committed with a `Tenant` object in the same transaction: its identity and keys on creation, a mark when its data is
 * retained, the removal of the mark when a tenant takes over the data, and the deletion of the whole range on destruction. Also its host
 * name claims and its port for nodes: both are free as soon as no object has them, whether the data is kept or not.
 */

import { invalid, invalidObject } from '@hangar/api';
import { uuid } from '@hangar/core';
import type { KubeObject } from '@hangar/api';
import { absent, prefixRange } from '@hangar/store';
import type { Store, Write } from '@hangar/store';
import type { Allocation, AllocationContext } from '../../allocation/allocation.ts';
import { timestamp } from '../../verbs/metadata.ts';
import { decodeIdentity, encodeIdentity } from '../identity.ts';
import { withoutImport } from '../backup/import.ts';
import { restoring, withoutReplacement } from '../backup/replacement.ts';
import { insistOnNoHold } from '../hold/refusals.ts';
import { encodedNewKeys } from '../keys/keys.ts';
import { decodeKeys } from '../keys/encoding.ts';
import { identityKey, importKey, isTenantPath, keysKey, retainedKey, tenantPrefix } from '../layout.ts';
import { encodeRetained } from '../retained/mark.ts';
import { PortAllocator } from '../ports/port-allocator.ts';
import type { PortAllocatorOptions } from '../ports/port-allocator.ts';
import { tenantGroup } from '../tenant.ts';
import type { TenantSpec } from '../tenant.ts';
import { HostClaims } from './host-claims.ts';

export type BirthOptions = PortAllocatorOptions;

export function birth(options: BirthOptions): Allocation {
  const { store, storePrefix, isPooled = false } = options;
  const hosts = new HostClaims({ store, storePrefix });
  const ports = new PortAllocator(options);
  const prefixOf = ({ metadata }: KubeObject): string => tenantPrefix(storePrefix, metadata.name!);
  return {
    async create({ plane: { clock, random }, isDryRun }: AllocationContext, object): Promise<readonly Write[]> {
      const path = object.metadata.name ?? '';
      // Validation refuses an invalid name later.
      if (!isTenantPath(path)) return [];
      const claims = await hosts.change({ path, hosts: hostsOf(object) });
      if (isDryRun) return [];
      const prefix = prefixOf(object);
      const key = identityKey(prefix);
      const { entry } = await store.get(key);
      if (entry) {
        insistOnAdoption(object);
        const takeOver: Write = { type: 'delete', key: retainedKey(prefix) };
        const port = await ports.change({ object });
        return [{ type: 'check', key, expected: entry.modRevision }, takeOver, ...claims, ...port];
      }
      // The remains of an interrupted restore are garbage.
      const { entry: mark } = await store.get(importKey(prefix));
      const value = encodeIdentity({ seed: uuid(random), createdAt: timestamp(clock) });
      const identity: Write = { type: 'put', key, value, expected: absent };
      if (mark) return [identity, ...withoutImport(prefix, mark), ...claims];
      // Keys are created now: usually the kubeconfig is requested next, and a second commit takes longer than creating keys.
      const keys = await encodedNewKeys(path, { clock, random, isPooled });
      const port = await ports.change({ object, authority: () => decodeKeys(keys).authority.certificate });
      return [identity, { type: 'put', key: keysKey(prefix), value: keys, expected: absent }, ...claims, ...port];
    },
    async update({ isDryRun }, object, old): Promise<readonly Write[]> {
      const claims = await hosts.change({ path: old.metadata.name!, hosts: hostsOf(object), before: hostsOf(old) });
      return isDryRun ? claims : [...claims, ...(await ports.change({ object, old }))];
    },
    async remove({ plane: { clock } }, object): Promise<readonly Write[]> {
      const path = object.metadata.name!;
      const unheld = await notHeld(store, prefixOf(object), path);
      const hostReleases = await hosts.change({ path, hosts: [], before: hostsOf(object) });
      const releases = [
        ...hostReleases,
        ...(await ports.release(object)),
        ...(await withoutReplacement({ store, storePrefix }, path)),
      ];
      const { deletionPolicy } = object['spec'] as TenantSpec;
      if (deletionPolicy !== 'Destroy') {
        const value = encodeRetained({ since: timestamp(clock) });
        const complete = await insistOnComplete(store, prefixOf(object), path);
        return [{ type: 'put', key: retainedKey(prefixOf(object)), value }, ...complete, ...releases];
      }
      return [{ type: 'deleteRange', range: prefixRange(prefixOf(object)) }, ...unheld, ...releases];
    },
  };
}

/** Throws 422 if the new tenant must not get the retained data of another one. */
function insistOnAdoption(object: KubeObject): void {
  const { retainedData } = object['spec'] as TenantSpec;
  if (retainedData !== 'Refuse') return;
  const { name = '' } = object.metadata;
  const why = `data of a deleted tenant is retained under the name "${name}": choose another name, or destroy the data with "hangar purge ${name}"`;
  throw invalidObject({ group: tenantGroup, kind: 'Tenant' }, name, [invalid('spec.retainedData', retainedData, why)]);
}

/** Throws 409 while a migration holds the tenant; else returns the condition. */
async function notHeld(store: Store, prefix: string, path: string): Promise<Write[]> {
  const { entry } = await store.get(identityKey(prefix));
  if (!entry) return [];
  insistOnNoHold(path, decodeIdentity(entry.value));
  return [{ type: 'check', key: entry.key, expected: entry.modRevision }];
}

/** Data that is replaced only in part must not be retained. Throws 503 while a restore replaces it; else returns the condition. */
async function insistOnComplete(store: Store, prefix: string, path: string): Promise<Write[]> {
  const { entry } = await store.get(identityKey(prefix));
  if (!entry) return [];
  if (decodeIdentity(entry.value).next) throw restoring(path);
  return [{ type: 'check', key: entry.key, expected: entry.modRevision }];
}

/** As sent: the names are validated later. */
export const hostsOf = (object: KubeObject): unknown => (object['spec'] as TenantSpec | null | undefined)?.hosts;
