import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseYaml } from '@hangar/api/yaml';
import { Logger, systemClock } from '@hangar/core';
import { startTestFleet } from '@hangar/testkit';
import type { TestFleet } from '@hangar/testkit';
import { newController } from '../../controller/new-controller.ts';
import type { Reconciler } from '../../controller/reconcile.ts';
import { kubeconfigSecretLabel, kubeconfigSecrets } from '../providers/kubeconfig-secrets.ts';
import { configMapKind, secretKind } from '../providers/testing/management.ts';
import { ClusterEngine } from './engine.ts';

/** Two tenants of a fleet over real connections, known by their kubeconfigs. */
async function world(reconcile: Reconciler, concurrency: number) {
  const fleet = await startTestFleet({ clusters: ['a', 'b'], listen: true });
  const put = async (name: string, kubeconfig: string): Promise<void> => {
    const metadata = { namespace: 'default', name, labels: { [kubeconfigSecretLabel]: 'true' } };
    const data = { kubeconfig: Buffer.from(kubeconfig).toString('base64') };
    await fleet.client.apply(secretKind, { metadata, data }, { fieldManager: 'test', force: true });
  };
  for (const name of ['a', 'b']) await put(name, fleet.kubeconfigOf(name));
  const controller = newController({
    name: 'test',
    for: { kind: configMapKind, where: { create: ({ metadata }) => metadata.labels?.['mine'] === 'yes' } },
    reconcile,
    concurrency,
    log: new Logger({ level: 'silent', format: 'text', clock: systemClock }),
  });
  const provider = kubeconfigSecrets({ management: fleet.client, namespace: 'default' });
  const engine = new ClusterEngine({ provider, debounceMs: 20 });
  engine.addAware(controller);
  const end = new AbortController();
  const running = Promise.all([engine.run(end.signal), controller.start(end.signal)]);
  return {
    fleet,
    engine,
    put,
    async [Symbol.asyncDispose]() {
      end.abort();
      await running;
      await fleet[Symbol.asyncDispose]();
    },
  };
}

const make = async (fleet: TestFleet, cluster: string, name: string): Promise<void> => {
  const metadata = { namespace: 'default', name, labels: { mine: 'yes' } };
  await fleet.clientOf(cluster).create(configMapKind, { metadata });
};

async function until(what: string, isSo: () => boolean): Promise<void> {
  const endMs = performance.now() + 20_000;
  while (!isSo()) {
    assert.ok(performance.now() < endMs, what);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe('controllers and the engine', { timeout: 60_000 }, () => {
  test('a reconciler gets the requests of every cluster, with its client', async () => {
    const seen = new Set<string>();
    await using at = await world(async ({ cluster, namespace, name }, { client }) => {
      await client.patch(configMapKind, { namespace, name }, { type: 'merge', body: { data: { by: cluster } } });
      seen.add(`${cluster}/${name}`);
    }, 4);
    for (const cluster of ['a', 'b']) await make(at.fleet, cluster, 'x');
    await until('both', () => seen.has('a/x') && seen.has('b/x'));
    for (const cluster of ['a', 'b']) {
      const { data } = await at.fleet.clientOf(cluster).get(configMapKind, { namespace: 'default', name: 'x' });
      assert.deepEqual(data, { by: cluster });
    }
  });

  test('another config loses no queued request, and no key is reconciled twice at a time', async () => {
    const [underway, done] = [new Set<string>(), new Map<string, number>()];
    const gate = Promise.withResolvers<void>();
    let twice = 0;
    await using at = await world(async ({ cluster, namespace, name }, { client }) => {
      const key = `${cluster}/${name}`;
      if (underway.has(key)) twice++;
      underway.add(key);
      try {
        await gate.promise;
        await client.get(configMapKind, { namespace, name });
        done.set(key, (done.get(key) ?? 0) + 1);
      } finally {
        underway.delete(key);
      }
    }, 1);
    using ending = new DisposableStack();
    ending.defer(() => gate.resolve());
    for (let number = 0; number < 30; number++) await make(at.fleet, 'a', `x${number}`);
    await until('one is under way, the others wait', () => underway.size === 1);
    const before = at.engine.get('a').cache;
    await at.put('a', withNamespace(at.fleet.kubeconfigOf('a')));
    await until('the new one is there', () => at.engine.get('a').cache !== before);
    gate.resolve();
    const all = Array.from({ length: 30 }, (_, number) => `a/x${number}`);
    await until('all of them', () => all.every((key) => done.has(key)));
    assert.equal(twice, 0);
    assert.equal(at.engine.status().find(({ name }) => name === 'a')!.state, 'engaged');
  });

  test('a cluster that is lost is over for its reconcilers, and others go on', async () => {
    const signals = new Map<string, AbortSignal>();
    const hold = Promise.withResolvers<void>();
    let refusal: unknown;
    await using at = await world(async ({ cluster, namespace, name }, { client, signal }) => {
      signals.set(`${cluster}/${name}`, signal);
      if (cluster !== 'a') return;
      await hold.promise;
      await client.delete(configMapKind, { namespace, name }).catch((error: unknown) => (refusal = error));
    }, 2);
    using ending = new DisposableStack();
    ending.defer(() => hold.resolve());
    await make(at.fleet, 'a', 'x');
    await until('under way', () => signals.has('a/x'));
    const { client } = at.engine.get('a');
    await at.fleet.client.delete(secretKind, { namespace: 'default', name: 'a' });
    await until('told', () => signals.get('a/x')!.aborted);
    assert.throws(() => at.engine.get('a'), { code: 'ClusterNotFound' });
    hold.resolve();
    await until('forgotten', () => at.engine.status().every(({ name }) => name !== 'a'));
    // Running work could finish; no other work starts after it.
    assert.equal(refusal, undefined);
    await assert.rejects(client.delete(configMapKind, { namespace: 'default', name: 'x' }), { code: 'Fenced' });
    await make(at.fleet, 'b', 'y');
    await until('the other one', () => signals.has('b/y'));
  });
});

/** Returns a config for the same cluster and user with a different content. */
function withNamespace(kubeconfig: string): string {
  const config = parseYaml(kubeconfig).value as { contexts: { context: { namespace?: string } }[] };
  for (const { context } of config.contexts) context.namespace = 'elsewhere';
  return JSON.stringify(config);
}
