/** Re-encryption before an encryption key is removed: operators request the keys of every tenant. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openMemoryStore } from '@hangar/store';
import type { Store } from '@hangar/store';
import { sealedStore } from '../../testing/sealed-store.ts';
import { tenants, TenancyServer } from '../../testing/tenancy-server.ts';
import { keysKey, tenantPrefix } from '../layout.ts';

const sealing = (store: Store, ...names: readonly string[]): Store => sealedStore(store, names);

test('asking for its keys seals them with the new key: of a tenant that nobody opens, is suspended, or was retained', async () => {
  const store = await openMemoryStore();
  const names = ['idle', 'offline', 'retained'];
  const keysOf = async (server: TenancyServer, name: string): Promise<object> =>
    (await server.expect(201, 'POST', `${tenants}/${name}/keys`)).status;
  const sealedWith = async (name: string): Promise<string> => {
    const { entry } = await store.get(keysKey(tenantPrefix('/registry', name)));
    return Buffer.from(entry!.value).toString('latin1').split(':')[4]!;
  };
  const before = new Map<string, object>();
  {
    await using server = await TenancyServer.open({ store: sealing(store, 'one') });
    for (const name of names) {
      await server.make(name, name === 'offline' ? { suspension: 'Offline' } : {});
      before.set(name, await keysOf(server, name));
    }
    await server.expect(200, 'DELETE', `${tenants}/retained`);
  }
  {
    await using server = await TenancyServer.open({ store: sealing(store, 'two', 'one') });
    await server.make('retained');
    for (const name of names) {
      assert.equal(await sealedWith(name), 'one');
      await keysOf(server, name);
      assert.equal(await sealedWith(name), 'two');
    }
  }
  await using server = await TenancyServer.open({ store: sealing(store, 'two') });
  for (const name of names) assert.deepEqual(await keysOf(server, name), before.get(name));
  assert.deepEqual(server.problems, []);
  await store.close();
});
