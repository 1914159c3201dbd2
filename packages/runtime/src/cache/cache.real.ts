/** Runs the cache against the real kube-apiserver, with and without its watch cache, and against Hangar, over TLS. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRealServer } from '@hangar/api/testing';
import { defineKind, httpTransport, RestClient } from '@hangar/client';
import type { ApiObject, Client, ClusterConfig } from '@hangar/client';
import { chance, hasCode, pick, seededRandom } from '@hangar/core';
import { faultyTransport, isWatch, startTestCluster } from '@hangar/testkit';
import type { FaultyTransport } from '@hangar/testkit';
import { ClusterCache } from './cluster-cache.ts';
import type { Informer } from './contract.ts';
import { Recorder } from './testing/recorder.ts';
import { ConfigMap } from './testing/world.ts';
import type { ConfigMapObject } from './testing/world.ts';

interface Server extends AsyncDisposable {
  readonly config: ClusterConfig;
  /** Compacts the history up to now, if the server supports it. */
  readonly compact?: () => Promise<void>;
}

const token = 'of-the-test';

async function startReal(...extraArguments: string[]): Promise<Server> {
  const real = await startRealServer(extraArguments, [{ token, user: 'test', groups: ['system:masters'] }]);
  const etcd = async (path: string, body: object): Promise<{ header: { revision: string } }> => {
    const answer = await fetch(`${real.etcdUrl}/v3/kv/${path}`, { method: 'POST', body: JSON.stringify(body) });
    assert.equal(answer.status, 200, await answer.clone().text());
    return (await answer.json()) as { header: { revision: string } };
  };
  return {
    config: {
      server: real.url,
      isInsecure: true,
      credentials: { headers: () => ({ authorization: `Bearer ${token}` }) },
    },
    async compact() {
      const { header } = await etcd('range', { key: Buffer.from('x').toString('base64') });
      await etcd('compaction', { revision: header.revision, physical: true });
    },
    [Symbol.asyncDispose]: () => real[Symbol.asyncDispose](),
  };
}

const startHangar = (): Promise<Server> => startTestCluster({ listen: true });

const servers: Record<string, () => Promise<Server>> = {
  'the real server': () => startReal(),
  'the real server without its watch cache': () => startReal('--watch-cache=false'),
  Hangar: startHangar,
};

const until = async (what: string, isSo: () => boolean | Promise<boolean>): Promise<void> => {
  for (const endMs = performance.now() + 60_000; !(await isSo()); await sleep(20)) {
    assert.ok(performance.now() < endMs, `not so in a minute: ${what}`);
  }
};

const namespace = 'default';
const Definition = defineKind({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  isNamespaced: false,
});
const Widget = defineKind({
  apiVersion: 'cache.example.com/v1',
  kind: 'Widget',
  plural: 'widgets',
  isNamespaced: true,
});
const widgets = {
  metadata: { name: 'widgets.cache.example.com' },
  spec: {
    group: 'cache.example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

interface Followed extends AsyncDisposable {
  readonly admin: Client;
  readonly faults: FaultyTransport;
  readonly cache: ClusterCache;
}

function follow({ config }: Server): Followed {
  const [transport, direct] = [httpTransport(config), httpTransport(config)];
  const faults = faultyTransport(transport);
  const cache = new ClusterCache({ client: new RestClient(faults, { retry: false }) });
  const controller = new AbortController();
  const running = cache.start(controller.signal);
  return {
    admin: new RestClient(direct),
    faults,
    cache,
    async [Symbol.asyncDispose]() {
      controller.abort();
      await running;
      assert.equal(faults.openWatches, 0);
      await Promise.all([transport.close(), direct.close()]);
    },
  };
}

const byName = (objects: Iterable<ApiObject>): Record<string, ApiObject> =>
  Object.fromEntries(Array.from(objects, (object) => [object.metadata.name, object]));

async function insistOnEqual({ admin }: Followed, informer: Informer<ConfigMapObject>): Promise<void> {
  const { items } = await admin.list(ConfigMap, { namespace });
  await until('the cache has as many', () => [...informer.all(namespace)].length === items.length);
  await until('the cache has what the server has', () => {
    try {
      assert.deepEqual(byName(informer.all(namespace)), byName(items));
      return true;
    } catch {
      return false;
    }
  });
}

for (const [name, start] of Object.entries(servers)) {
  test(name, async (context) => {
    await using server = await start();

    await context.test('is followed through pages, cuts, ends and writes, and is what it lists', async () => {
      await using the = follow(server);
      for (let n = 0; n < 1_100; n += 100) {
        const made = Array.from({ length: 100 }, (_, m) => ({ namespace, name: `m${n + m}` }));
        await Promise.all(made.map((metadata) => the.admin.create(ConfigMap, { metadata })));
      }
      const informer = the.cache.informer(ConfigMap);
      const seen = new Recorder<ConfigMapObject>();
      informer.addHandler(seen);
      await informer.synced(AbortSignal.timeout(60_000));
      await insistOnEqual(the, informer);
      const random = seededRandom(7);
      for (let step = 0; step < 400; step++) {
        const key = { namespace, name: `m${random.below(20)}` };
        const body = { data: { step: `${step}` } };
        const write = pick<() => Promise<unknown>>(random, [
          () => the.admin.create(ConfigMap, { metadata: key }),
          () => the.admin.patch(ConfigMap, key, { type: 'merge', body }),
          () => the.admin.delete(ConfigMap, key),
        ]);
        await write().catch((error: unknown) => {
          if (!hasCode(error, 'AlreadyExists') && !hasCode(error, 'NotFound')) throw error;
        });
        if (chance(random, 0.03)) the.faults[chance(random, 0.5) ? 'cutWatches' : 'endWatches']();
        if (chance(random, 0.01)) the.faults.expireWatches(1, 'event');
      }
      the.faults.heal();
      await insistOnEqual(the, informer);
      assert.deepEqual(Object.fromEntries(seen.known), byName(informer.all(namespace)));
      await the.admin.deleteCollection(ConfigMap, { namespace });
      await until('all are gone', () =>
        [...informer.all(namespace)].every(({ metadata }) => !metadata.name!.startsWith('m')),
      );
    });

    await context.test('keeps metadata alone, of what is selected', async () => {
      await using the = follow(server);
      const labels = { kept: 'yes' };
      await the.admin.create(ConfigMap, { metadata: { namespace, name: 'partial', labels }, data: { a: 'b' } });
      const informer = the.cache.informer(ConfigMap, { metadataOnly: true, labelSelector: 'kept=yes', namespace });
      await informer.synced(AbortSignal.timeout(60_000));
      const [object] = [...informer.all()];
      assert.deepEqual([object?.kind, object?.metadata.labels, object?.data], ['ConfigMap', labels, undefined]);
      const unlabel = { type: 'merge', body: { metadata: { labels: null } } } as const;
      await the.admin.patch(ConfigMap, { namespace, name: 'partial' }, unlabel);
      await until('it is no longer selected', () => [...informer.all()].length === 0);
    });

    await context.test('has a kind that is defined only later, and is asked for it all the time', async () => {
      await using the = follow(server);
      const informer = the.cache.informer(Widget);
      await until('it is missed', () => informer.health.state === 'failing');
      assert.equal((informer.health.lastError as { code?: string }).code, 'NotFound');
      await the.admin.create(Definition, widgets);
      await until('it is there', () => informer.hasSynced);
      await until('one can be made', () =>
        the.admin.create(Widget, { metadata: { namespace, name: 'one' } }).then(
          () => true,
          () => false,
        ),
      );
      await until('it is seen', () => informer.get({ namespace, name: 'one' }) !== undefined);
      await the.admin.delete(Definition, { name: widgets.metadata.name });
    });

    if (!server.compact) return;
    await context.test('is listed again when it has forgotten what happened since', async () => {
      await using the = follow(server);
      const informer = the.cache.informer(ConfigMap);
      const seen = new Recorder<ConfigMapObject>();
      informer.addHandler(seen);
      const names = ['changed', 'gone', 'other'];
      for (const one of names) await the.admin.create(ConfigMap, { metadata: { namespace, name: one } });
      await until('they are seen', () => names.every((one) => seen.known.has(one)));
      seen.take();
      const hold = the.faults.hang(isWatch);
      the.faults.cutWatches();
      await until('the watch waits', () => hold.waiting > 0);
      await the.admin.patch(ConfigMap, { namespace, name: 'changed' }, { type: 'merge', body: { data: { a: 'b' } } });
      for (const one of ['gone', 'other']) await the.admin.delete(ConfigMap, { namespace, name: one });
      await the.admin.create(ConfigMap, { metadata: { namespace, name: 'other' } });
      await server.compact!();
      the.faults.forget();
      hold.release();
      await insistOnEqual(the, informer);
      assert.deepEqual(seen.take().toSorted(), ['+other', '-gone', '-other', '~changed']);
      const hasListed = the.faults.requests.some((one) => !isWatch(one) || one.target.includes('sendInitialEvents'));
      console.log(`${name}: ${hasListed ? 'listed again' : 'went on from its watch cache'}`);
      if (name.includes('without')) assert.ok(hasListed, 'its version was compacted away');
    });
  });
}
