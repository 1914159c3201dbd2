import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { openMemoryStore } from '@hangar/store';
import type { Store } from '@hangar/store';
import { firstStart } from './first-start.ts';

const prefix = '/registry';
async function opened(context: TestContext): Promise<Store> {
  const store = await openMemoryStore();
  context.after(() => store.close());
  return store;
}

const write = (store: Store, key: string) => store.commit([{ type: 'put', key, value: Buffer.from('{}') }]);

test('an empty store is at its first start until that is done, however often it is cut short', async (context) => {
  const store = await opened(context);
  assert.equal((await firstStart(store, prefix, true)).isPending, true);
  await write(store, '/registry/clusters/root/namespaces/default');
  const again = await firstStart(store, prefix, true);
  assert.equal(again.isPending, true);
  await again.done();
  assert.equal(again.isPending, false, 'who begins anew in the same process makes no second one');
  assert.equal((await firstStart(store, prefix, true)).isPending, false);
});

test('a store that others have filled is at no first start', async (context) => {
  const store = await opened(context);
  await write(store, '/registry/clusters/root/namespaces/default');
  const first = await firstStart(store, prefix, true);
  assert.equal(first.isPending, false);
  await first.done();
});

test('who does not want it once is not given it later, and finds nothing written', async (context) => {
  const store = await opened(context);
  assert.equal((await firstStart(store, prefix, false)).isPending, false);
  assert.equal((await store.get('/registry/hangar/first-start')).entry, undefined);
  assert.equal((await firstStart(store, prefix, true)).isPending, true);
  await write(store, '/registry/clusters/root/namespaces/default');
  assert.equal((await firstStart(store, prefix, false)).isPending, false);
  assert.equal((await firstStart(store, prefix, true)).isPending, false);
});
