/** Caches: what they select, what they keep of it, and by what it is found. */

import assert from 'node:assert/strict';
import type { ApiObject, Client, ClusterConfig } from '@hangar/client';
import { connect } from '@hangar/client';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { ClusterCache, newCluster, withoutManagedFields } from '@hangar/runtime';
import type { Case } from '../testing/case.ts';
import { untilHolds } from '../testing/until.ts';

interface Cached extends AsyncDisposable {
  readonly client: Client;
  readonly cache: ClusterCache;
}

function cached(config: ClusterConfig): Cached {
  const client = connect(config);
  const cache = new ClusterCache({ client });
  const stop = new AbortController();
  const running = cache.start(stop.signal);
  return {
    client,
    cache,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      await client.close();
    },
  };
}

const namesOf = (objects: Iterable<ApiObject>): string[] =>
  Array.from(objects, ({ metadata }) => metadata.name!).toSorted();

async function fill(admin: Client, namespace: string): Promise<void> {
  for (let n = 0; n < 6; n++) {
    const labels = { colour: n % 2 === 0 ? 'red' : 'blue' };
    await admin.create(ConfigMap, { metadata: { namespace, name: `m${n}`, labels }, data: { owner: `o${n % 3}` } });
  }
}

export const reading: readonly Case[] = [
  {
    name: 'an informer has what its label selector, field selector or namespaces select, also as that changes',
    async run(ground) {
      const { admin, config } = ground;
      const [namespace, other, unseen] = [await ground.namespace(), await ground.namespace(), await ground.namespace()];
      for (const one of [namespace, other, unseen]) await fill(admin, one);
      await using the = cached(config);
      const red = the.cache.informer(ConfigMap, { namespace, labelSelector: 'colour in (red)' });
      const one = the.cache.informer(ConfigMap, { namespace, fieldSelector: 'metadata.name=m1' });
      const both = the.cache.informer(ConfigMap, { namespaces: [namespace, other], labelSelector: 'colour' });
      await the.cache.synced(AbortSignal.timeout(60_000));
      assert.deepEqual(namesOf(red.all()), ['m0', 'm2', 'm4']);
      assert.deepEqual(namesOf(one.all()), ['m1']);
      assert.equal([...both.all()].length, 12);
      const colour = (to: string | null) =>
        ({ type: 'merge', body: { metadata: { labels: { colour: to } } } }) as const;
      await admin.patch(ConfigMap, { namespace, name: 'm0' }, colour('blue'));
      await admin.patch(ConfigMap, { namespace, name: 'm1' }, colour('red'));
      await admin.patch(ConfigMap, { namespace: other, name: 'm1' }, colour(null));
      await untilHolds('the selections follow', () => {
        assert.deepEqual(namesOf(red.all()), ['m1', 'm2', 'm4']);
        assert.equal([...both.all()].length, 11);
      });
    },
  },
  {
    name: 'metadata alone is kept without data, and a transform keeps what it says',
    async run(ground) {
      const { admin, config } = ground;
      const namespace = await ground.namespace();
      await fill(admin, namespace);
      await using the = cached(config);
      const metadata = the.cache.informer(ConfigMap, { namespace, metadataOnly: true });
      const bare = the.cache.informer(ConfigMap, { namespace, transform: withoutManagedFields });
      await the.cache.synced(AbortSignal.timeout(60_000));
      const key = { namespace, name: 'm0' };
      assert.deepEqual(
        [metadata.get(key)?.data, metadata.get(key)?.metadata.labels, metadata.get(key)?.kind],
        [undefined, { colour: 'red' }, 'ConfigMap'],
      );
      assert.deepEqual([bare.get(key)?.data, bare.get(key)?.metadata.managedFields], [{ owner: 'o0' }, undefined]);
      await admin.patch(ConfigMap, key, { type: 'merge', body: { data: { owner: 'o9' } } });
      await untilHolds('changes come in the same form', () => {
        assert.equal(bare.get(key)?.data?.['owner'], 'o9');
        assert.equal(metadata.get(key)?.metadata.resourceVersion, bare.get(key)?.metadata.resourceVersion);
        assert.equal(metadata.get(key)?.data, undefined);
      });
    },
  },
  {
    name: 'an index finds what it is told to, and the client of a cluster reads by it without asking the server',
    async run(ground) {
      const { admin, config } = ground;
      const namespace = await ground.namespace();
      await fill(admin, namespace);
      await using the = cached(config);
      the.cache.addIndex(ConfigMap, 'data.owner', ({ data }) => (data?.['owner'] ? [data['owner']] : []));
      const { client } = newCluster({ name: '', client: the.client, cache: the.cache });
      const owned = async (owner: string): Promise<string[]> => {
        const { items } = await client.list(ConfigMap, { namespace, fieldSelector: { 'data.owner': owner } });
        return namesOf(items);
      };
      assert.deepEqual(await owned('o1'), ['m1', 'm4']);
      await admin.patch(ConfigMap, { namespace, name: 'm1' }, { type: 'merge', body: { data: { owner: 'o2' } } });
      await admin.delete(ConfigMap, { namespace, name: 'm2' });
      await untilHolds('the index follows', async () => {
        assert.deepEqual(await owned('o1'), ['m4']);
        assert.deepEqual(await owned('o2'), ['m1', 'm5']);
      });
    },
  },
];
