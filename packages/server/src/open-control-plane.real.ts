/** Tests that closing a control plane releases everything it holds. */

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemClock, systemRandom } from '@hangar/core';
import { BaseLayer, layeredStore, openMemoryStore, prefixRange } from '@hangar/store';
import type { BaseEntry, Store, Watch } from '@hangar/store';
import { Aggregator } from './aggregation/aggregator.ts';
import { StaticTokenAuthenticator } from './auth/authenticate.ts';
import { RbacAuthorizer } from './auth/authorization/rbac/rbac-authorizer.ts';
import { CacheBudget } from './objects/cache-budget.ts';
import { ForwardingStore } from './objects/forwarding-store.ts';
import { openControlPlane } from './open-control-plane.ts';
import { Outbound } from './outbound/index.ts';
import { ApiServer } from './server.ts';
import { openServer, serverRequest } from './testing/open-server.ts';
import { definition, definitions, TestServer } from './testing/test-server.ts';

/** Counts the open watches. */
class WatchedStore extends ForwardingStore {
  readonly open = new Set<Watch>();

  override watch(...parameters: Parameters<Store['watch']>): Watch {
    const watch = super.watch(...parameters);
    this.open.add(watch);
    return {
      next: () => watch.next(),
      requestProgress: () => watch.requestProgress(),
      close: () => {
        this.open.delete(watch);
        watch.close();
      },
      [Symbol.asyncIterator]: () => watch[Symbol.asyncIterator](),
    };
  }
}

const outbound = new Outbound({});
const tokens = new StaticTokenAuthenticator([{ token: 'jane', user: 'jane', uid: 'jane', groups: ['readers'] }]);
const rbac = 'rbac.authorization.k8s.io';

/** Enough fields that an additional copy shows in the heap. */
const manyFields = Object.fromEntries(
  Array.from({ length: 1_000 }, (_, at) => [`field${at}`, { type: 'string', description: `What field ${at} is for.` }]),
);

/** Initial objects of every control plane in this test: a definition, its objects, a policy, and a user with permissions. */
async function bornWith(): Promise<readonly BaseEntry[]> {
  await using server = await TestServer.start();
  await server.create(definitions, definition({ spec: manyFields }));
  await server.create(`/apis/${rbac}/v1/clusterroles`, {
    metadata: { name: 'readers' },
    rules: [
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
      { verbs: ['get'], nonResourceURLs: ['*'] },
    ],
  });
  await server.create(`/apis/${rbac}/v1/clusterrolebindings`, {
    metadata: { name: 'readers' },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'readers' },
    subjects: [{ apiGroup: rbac, kind: 'Group', name: 'readers' }],
  });
  const group = '/apis/admissionregistration.k8s.io/v1';
  await server.create(`${group}/validatingadmissionpolicies`, {
    metadata: { name: 'short-names' },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
      },
      validations: [{ expression: 'object.metadata.name.size() < 20' }],
    },
  });
  await server.create(`${group}/validatingadmissionpolicybindings`, {
    metadata: { name: 'short-names' },
    spec: { policyName: 'short-names', validationActions: ['Deny'] },
  });
  const { prefix } = server.plane;
  const { entries } = await server.store.range(prefixRange(prefix));
  // The complete default policy would only slow down the test.
  const isWanted = (key: string): boolean => !key.startsWith('clusterrole') || key.endsWith('/readers');
  return entries.flatMap(({ key, value }) => {
    const relative = key.slice(prefix.length);
    return isWanted(relative) ? [{ key: relative, value }] : [];
  });
}

async function send(server: ApiServer, method: string, target: string, body = ''): Promise<void> {
  const headers = new Map([
    ['accept', ['application/json']],
    ['authorization', ['Bearer jane']],
    ['content-type', ['application/json']],
  ]);
  const answer = await server.handle(serverRequest({ method, target, headers, body: Buffer.from(body) }));
  assert.ok(
    answer.status < 300,
    `${method} ${target}: ${answer.status} ${Buffer.from(answer.body as Buffer).toString()}`,
  );
}

interface UseOptions {
  readonly store: Store;
  readonly base: BaseLayer;
  readonly cacheBudget: CacheBudget;
  /** Uses all features, not only the common ones. */
  readonly isBusy: boolean;
}

/** Opens a control plane and performs operations that make it cache data. Returns a function that closes it. */
async function use(name: string, options: UseOptions): Promise<() => void> {
  const { base, cacheBudget } = options;
  const prefix = `/registry/clusters/${name}/`;
  const baseRevision = await options.store.revision();
  const store = layeredStore({ store: options.store, prefix, base, baseRevision });
  const { plane, close } = await openControlPlane({
    name,
    prefix: '/registry',
    store,
    clock: systemClock,
    random: systemRandom,
    outbound,
    cacheBudget,
    admission: { disabled: ['ServiceAccount'] },
  });
  const aggregator = new Aggregator({
    plane,
    clientCertificate: () => undefined,
    onError: (error) => assert.fail(error),
  });
  await aggregator.start();
  const server = new ApiServer({
    plane,
    authenticators: [tokens],
    authorizers: [new RbacAuthorizer(plane.policy)],
    aggregator,
    health: { livez: [], readyz: [] },
    address: () => '127.0.0.1:6443',
    onError: (error) => assert.fail(error),
  });
  await send(server, 'GET', '/api/v1/namespaces');
  if (options.isBusy) await beBusy(server);
  // The view stays open: its creator must stop everything that it would otherwise stop.
  return () => {
    aggregator.close();
    close();
  };
}

async function beBusy(server: ApiServer): Promise<void> {
  await send(server, 'GET', '/apis');
  await send(server, 'GET', '/openapi/v3');
  const configMap = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } });
  await send(server, 'POST', '/api/v1/namespaces/default/configmaps?dryRun=All', configMap);
  const widget = JSON.stringify({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: {} });
  await send(server, 'POST', '/apis/example.com/v1/namespaces/default/widgets?dryRun=All', widget);
  await send(server, 'GET', '/apis/example.com/v1/widgets');
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Heap size in bytes, after garbage collection. */
async function heapUsed(): Promise<number> {
  for (let turn = 0; turn < 4; turn++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    collectGarbage();
  }
  return process.memoryUsage().heapUsed;
}

describe('a control plane that is closed', () => {
  let base: BaseLayer;
  before(async () => {
    base = new BaseLayer(await bornWith());
  });

  test('leaves nothing behind: no watch, no bytes of the budget, no memory', async () => {
    const store = new WatchedStore(await openMemoryStore());
    const cacheBudget = new CacheBudget(64 * 1024 * 1024);
    const open = (at: number): Promise<() => void> =>
      use(`t${at}`, { store, base, cacheBudget, isBusy: at % 16 === 0 });
    try {
      for (let at = 0; at < 100; at++) (await open(at))();
      const [heapBefore, heldBefore] = [await heapUsed(), cacheBudget.bytes];
      for (let at = 100; at < 2_100; at++) {
        const close = await open(at);
        assert.ok(store.open.size > 0);
        close();
        assert.equal(store.open.size, 0);
      }
      const grownBytes = (await heapUsed()) - heapBefore;
      assert.equal(store.open.size, 0);
      assert.equal(cacheBudget.bytes, heldBefore, 'only what is shared stays in the budget');
      assert.ok(grownBytes < 2_000 * 1_024, `${grownBytes} bytes are left of 2,000 control planes`);
    } finally {
      await store.close();
    }
  });

  test('takes little while it is open, as most of it is shared', async () => {
    const store = await openMemoryStore();
    const cacheBudget = new CacheBudget(64 * 1024 * 1024);
    const closing: (() => void)[] = [];
    try {
      const options = { store, base, cacheBudget, isBusy: true };
      for (let at = 0; at < 20; at++) closing.push(await use(`t${at}`, options));
      const heapBefore = await heapUsed();
      for (let at = 20; at < 120; at++) closing.push(await use(`t${at}`, options));
      const each = ((await heapUsed()) - heapBefore) / 100;
      assert.ok(each < 150 * 1_024, `each takes ${Math.round(each)} bytes`);
    } finally {
      for (const close of closing) close();
      await store.close();
    }
  });
});

test('a control plane that is closed while it is asked something holds nothing afterwards', async () => {
  const store = new WatchedStore(await openMemoryStore());
  const { server, close } = await openServer(store);
  const headers = new Map([['authorization', ['Bearer admin']]]);
  const targets = ['/api/v1/namespaces', '/api/v1/configmaps', '/apis/apps/v1/deployments'];
  const asking = targets.map((target) =>
    server.handle(serverRequest({ method: 'GET', target, headers, body: Buffer.alloc(0) })),
  );
  close();
  for (const { status } of await Promise.all(asking)) assert.equal(status, 200);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(store.open.size, 0);
  await store.close();
});
