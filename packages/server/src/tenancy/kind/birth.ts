/**
 * What is written with a `Tenant` object, in the same transaction: its identity when it is made, nothing when it takes over
 * what was retained under its path, and the end of its whole range when it is destroyed.
 */

import type { KubeObject } from '@hangar/api';
import { absent, prefixRange } from '@hangar/store';
import type { Store, Write } from '@hangar/store';
import type { Allocation, AllocationContext } from '../../allocation/allocation.ts';
import { newUid, timestamp } from '../../verbs/metadata.ts';
import { encodeIdentity } from '../identity.ts';
import { withoutImport } from '../backup/import.ts';
import { identityKey, importKey, isTenantPath, tenantPrefix } from '../layout.ts';
import type { TenantSpec } from '../tenant.ts';

export function birth(store: Store, storePrefix: string): Allocation {
  const prefixOf = ({ metadata }: KubeObject): string => tenantPrefix(storePrefix, metadata.name!);
  return {
    async create({ plane: { clock, random }, isDryRun }: AllocationContext, object): Promise<readonly Write[]> {
      // A name that is none is refused by what follows.
      if (isDryRun || !isTenantPath(object.metadata.name ?? '')) return [];
      const prefix = prefixOf(object);
      const key = identityKey(prefix);
      const { entry } = await store.get(key);
      if (entry) return [{ type: 'check', key, expected: entry.modRevision }];
      // What a restore left half-way is nobody's.
      const { entry: mark } = await store.get(importKey(prefix));
      const value = encodeIdentity({ seed: newUid(random), createdAt: timestamp(clock) });
      return [{ type: 'put', key, value, expected: absent }, ...withoutImport(prefix, mark)];
    },
    update: () => Promise.resolve([]),
    remove(_context, object): Promise<readonly Write[]> {
      const { deletionPolicy } = object['spec'] as TenantSpec;
      if (deletionPolicy !== 'Destroy') return Promise.resolve([]);
      return Promise.resolve([{ type: 'deleteRange', range: prefixRange(prefixOf(object)) }]);
    },
  };
}
