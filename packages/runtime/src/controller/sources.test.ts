import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineKind } from '@hangar/client';
import type { ApiObject, Client } from '@hangar/client';
import { CustomResourceDefinition } from '@hangar/client/kinds/apiextensions-v1';
import { ConfigMap, Secret } from '@hangar/client/kinds/core-v1';
import { newController } from './new-controller.ts';
import { and, inNamespace, named, not } from './predicate.ts';
import type { Request } from './reconcile.ts';
import { servedWorld } from './testing/served.ts';

interface WidgetObject extends ApiObject {
  spec?: { size?: number };
}

const Widget = defineKind<WidgetObject>({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  plural: 'widgets',
  isNamespaced: true,
});

const defineWidgets = (client: Client): Promise<unknown> =>
  client.create(CustomResourceDefinition, {
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      names: { kind: 'Widget', plural: 'widgets', singular: 'widget', listKind: 'WidgetList' },
      scope: 'Namespaced',
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
            },
          },
        },
      ],
    },
  });

const namespace = 'default';
const mine = inNamespace(namespace);
const configMap = (client: Client, name: string, data: Record<string, string> = {}): Promise<ApiObject> =>
  client.create(ConfigMap, { metadata: { namespace, name }, data });

/** Records the reconciled requests since the last `take`. */
class Seen {
  readonly #names: string[] = [];
  readonly reconcile = ({ cluster, name }: Request): void =>
    void this.#names.push(cluster === '' ? name : `${cluster}/${name}`);

  take(): string[] {
    return this.#names.splice(0);
  }
}

describe('for', () => {
  test('an object that is there, made, changed or deleted is a request', async () => {
    await using world = servedWorld();
    const { client, cluster } = await world.serve('');
    const seen = new Seen();
    const stop = new AbortController();
    await configMap(client, 'there');
    const controller = newController({
      ...world,
      name: 'test',
      for: { kind: ConfigMap, where: mine },
      reconcile: seen.reconcile,
    });
    const running = controller.start(stop.signal);
    controller.engage('', cluster, stop.signal);
    await world.clock.advance(100);
    assert.deepEqual(seen.take(), ['there']);
    await configMap(client, 'made');
    await world.clock.advance(100);
    await client.patch(ConfigMap, { namespace, name: 'there' }, { type: 'merge', body: { data: { a: '1' } } });
    await world.clock.advance(100);
    await client.delete(ConfigMap, { namespace, name: 'there' });
    await world.clock.advance(100);
    assert.deepEqual(seen.take(), ['made', 'there', 'there']);
    stop.abort();
    await world.clock.run(running);
    await configMap(client, 'late');
    await world.clock.advance(100);
    assert.deepEqual(seen.take(), []);
  });

  test('news go before what was there', async () => {
    await using world = servedWorld();
    const { client, cluster } = await world.serve('');
    const seen = new Seen();
    const stop = new AbortController();
    for (let i = 0; i < 20; i++) await configMap(client, `old-${i}`);
    const controller = newController({
      ...world,
      name: 'test',
      for: { kind: ConfigMap, where: mine },
      reconcile: seen.reconcile,
    });
    controller.engage('', cluster, stop.signal);
    await world.clock.advance(100);
    await configMap(client, 'news');
    await client.patch(ConfigMap, { namespace, name: 'old-19' }, { type: 'merge', body: { data: { a: '1' } } });
    await world.clock.advance(100);
    assert.equal(world.metric('workqueue_depth{name="test",controller="test",priority="-100"}'), 19);
    assert.equal(world.metric('workqueue_depth{name="test",controller="test",priority="0"}'), 2);
    const running = controller.start(stop.signal);
    await world.clock.advance(100);
    assert.deepEqual(seen.take().slice(0, 3), ['news', 'old-19', 'old-0']);
    stop.abort();
    await world.clock.run(running);
  });
});

describe('owns', () => {
  test('an event of an object is a request for its controller, also for the one that lost it', async () => {
    await using world = servedWorld();
    const { client, cluster } = await world.serve('');
    const seen = new Seen();
    const stop = new AbortController();
    const owners = await Promise.all(['one', 'two', 'three'].map((name) => configMap(client, name)));
    const [one, two, three] = owners.map(({ metadata }) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: metadata.name!,
      uid: metadata.uid!,
    }));
    const controller = newController({
      ...world,
      name: 'test',
      for: { kind: ConfigMap, where: not(mine) },
      owns: [Secret],
      reconcile: seen.reconcile,
    });
    controller.engage('', cluster, stop.signal);
    const running = controller.start(stop.signal);
    await world.clock.advance(1_000);
    seen.take();
    const ownerReferences = [{ ...one!, controller: true }, three!, { ...two!, kind: 'Service', controller: false }];
    const secret = await client.create(Secret, { metadata: { namespace, name: 's', ownerReferences } });
    await world.clock.advance(100);
    assert.deepEqual(seen.take(), ['one']);
    secret.metadata.ownerReferences = [{ ...two!, controller: true }];
    await client.update(Secret, secret);
    await world.clock.advance(100);
    assert.deepEqual(seen.take(), ['one', 'two']);
    await client.delete(Secret, { namespace, name: 's' });
    await world.clock.advance(100);
    assert.deepEqual(seen.take(), ['two']);
    stop.abort();
    await world.clock.run(running);
  });
});

describe('watches', () => {
  test('map as they say; a mapping or predicate that throws does not end them', async () => {
    await using world = servedWorld();
    const { client, cluster } = await world.serve('');
    const seen = new Seen();
    const stop = new AbortController();
    const controller = newController({
      ...world,
      name: 'test',
      watches: [
        {
          kind: ConfigMap,
          where: {
            create: ({ metadata }) => {
              if (metadata.name === 'bad-predicate') throw new Error('bad predicate');
              return metadata.namespace === namespace;
            },
          },
          *map({ metadata, data }, { name }) {
            assert.equal(name, '');
            if (data?.['bad']) throw new Error('bad mapping');
            yield { namespace, name: `of-${metadata.name}` };
          },
        },
      ],
      reconcile: seen.reconcile,
    });
    controller.engage('', cluster, stop.signal);
    const running = controller.start(stop.signal);
    await configMap(client, 'a');
    await configMap(client, 'b', { bad: 'yes' });
    await configMap(client, 'bad-predicate');
    await world.clock.advance(1_000);
    assert.deepEqual(seen.take(), ['of-a', 'of-bad-predicate']);
    assert.equal(world.lines.filter((line) => line.includes('map function failed')).length, 1);
    assert.equal(world.lines.filter((line) => line.includes('predicate failed')).length, 1);
    stop.abort();
    await world.clock.run(running);
  });

  test('of the local cluster reach every engaged one, also one that is engaged later', async () => {
    await using world = servedWorld();
    const local = await world.serve('');
    const [east, west] = [await world.serve('east'), await world.serve('west')];
    const seen = new Seen();
    const stop = new AbortController();
    const controller = newController({
      ...world,
      name: 'test',
      for: { kind: Secret, where: mine },
      watches: [
        {
          kind: ConfigMap,
          where: mine,
          cluster: 'local',
          map: ({ metadata: { name } }) => ['east', 'west'].map((cluster) => ({ cluster, namespace, name: name! })),
        },
      ],
      reconcile: seen.reconcile,
    });
    const running = controller.start(stop.signal);
    controller.engageLocal(local.cluster, stop.signal, { hasProvider: true });
    controller.engage('east', east.cluster, stop.signal);
    await configMap(local.client, 'policy');
    await local.client.create(Secret, { metadata: { namespace, name: 'not-for-us' } });
    await world.clock.advance(1_000);
    assert.deepEqual(seen.take(), ['east/policy']);
    controller.engage('west', west.cluster, stop.signal);
    await world.clock.advance(1_000);
    assert.deepEqual(seen.take(), ['west/policy']);
    await local.client.delete(ConfigMap, { namespace, name: 'policy' });
    await world.clock.advance(1_000);
    assert.deepEqual(seen.take(), ['east/policy', 'west/policy']);
    assert.deepEqual([...controller.engagedClusters()], ['east', 'west']);
    stop.abort();
    await world.clock.run(running);
  });

  test('that mean all bring every object of the controller’s kind, where it is wanted, once for each event', async () => {
    await using world = servedWorld();
    const local = await world.serve('');
    const [east, west] = [await world.serve('east'), await world.serve('west')];
    const seen = new Seen();
    const stop = new AbortController();
    for (const { client } of [east, west, local]) {
      for (const name of ['a', 'b', 'other']) await client.create(Secret, { metadata: { namespace, name } });
    }
    const controller = newController({
      ...world,
      name: 'test',
      for: { kind: Secret, where: and(mine, named('a', 'b')) },
      watches: [
        { kind: ConfigMap, where: and(mine, named('policy')), cluster: 'local', map: 'all' },
        { kind: ConfigMap, where: and(mine, named('setting')), map: 'all' },
      ],
      reconcile: seen.reconcile,
    });
    const running = controller.start(stop.signal);
    await configMap(local.client, 'policy');
    controller.engageLocal(local.cluster, stop.signal, { hasProvider: true });
    controller.engage('east', east.cluster, stop.signal);
    controller.engage('west', west.cluster, stop.signal);
    await world.clock.advance(1_000);
    const everything = ['east/a', 'east/b', 'west/a', 'west/b'];
    // Twice at the start, if they were reconciled before the policy existed.
    assert.deepEqual([...new Set(seen.take())].sort(), everything);
    await local.client.patch(ConfigMap, { namespace, name: 'policy' }, { type: 'merge', body: { data: { a: '1' } } });
    await world.clock.advance(1_000);
    assert.deepEqual(seen.take().sort(), everything);
    await configMap(west.client, 'setting');
    await world.clock.advance(1_000);
    assert.deepEqual(seen.take().sort(), ['west/a', 'west/b']);
    await configMap(local.client, 'setting');
    await configMap(east.client, 'policy');
    await local.client.delete(ConfigMap, { namespace, name: 'policy' });
    await world.clock.advance(1_000);
    assert.deepEqual(seen.take().sort(), everything);
    stop.abort();
    await world.clock.run(running);
  });
});

describe('a source of one’s own', () => {
  test('runs for each cluster until its signal, and again after a failure', async () => {
    await using world = servedWorld();
    const { cluster } = await world.serve('a');
    const seen = new Seen();
    const stop = new AbortController();
    let runs = 0;
    const controller = newController({
      ...world,
      name: 'test',
      sources: [
        async ({ enqueue }, signal) => {
          if (++runs === 1) throw new Error('no connection');
          enqueue({ name: 'x' });
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
          enqueue({ name: 'too-late' });
        },
      ],
      reconcile: seen.reconcile,
    });
    const running = controller.start(stop.signal);
    controller.engage('a', cluster, stop.signal);
    await world.clock.advance(10_000);
    assert.deepEqual([runs, seen.take()], [2, ['a/x']]);
    stop.abort();
    await world.clock.run(running);
    assert.deepEqual(seen.take(), []);
  });
});

describe('a kind that a cluster does not have', () => {
  test('does not keep the others waiting, is reported once, and works as soon as it is there', async () => {
    await using world = servedWorld();
    const { client, cluster } = await world.serve('');
    const seen = new Seen();
    const stop = new AbortController();
    const controller = newController({
      ...world,
      name: 'test',
      for: { kind: ConfigMap, where: and(mine, named('a')) },
      watches: [
        { kind: Widget, map: ({ metadata: { name }, spec }) => [{ namespace, name: `${name}-${spec?.size}` }] },
      ],
      reconcile: seen.reconcile,
    });
    const running = controller.start(stop.signal);
    controller.engage('', cluster, stop.signal);
    await configMap(client, 'a');
    await world.clock.advance(2_000);
    assert.deepEqual(seen.take(), ['a']);
    await world.clock.advance(60_000);
    assert.equal(world.metric('hangar_runtime_source_failures_total{controller="test"}'), 1);
    assert.equal(world.lines.filter((line) => line.includes('failed to watch a source')).length, 1);
    await defineWidgets(client);
    await world.clock.advance(120_000);
    await client.create(Widget, { metadata: { namespace, name: 'w' }, spec: { size: 3 } });
    await world.clock.advance(1_000);
    assert.deepEqual(seen.take(), ['w-3']);
    assert.equal(world.lines.filter((line) => line.includes('source recovered')).length, 1);
    stop.abort();
    await world.clock.run(running);
  });
});

test('what can never work is refused at once', () => {
  const reconcile = (): void => {};
  const invalid = { code: 'InvalidOptions' };
  assert.throws(() => newController({ name: 'x', owns: [Secret], reconcile }), invalid);
  assert.throws(() => newController({ name: '', for: Secret, reconcile }), invalid);
  assert.throws(() => newController({ name: 'x', watches: [{ kind: Secret, map: 'all' }], reconcile }), invalid);
  assert.throws(() => newController({ name: 'x', concurrency: 0, reconcile }), invalid);
  assert.throws(() => newController({ name: 'x', concurrency: 1.5, reconcile }), invalid);
  assert.throws(() => newController({ name: 'x', maxPerCluster: 0, reconcile }), invalid);
  assert.throws(() => newController({ name: 'x', reconcileTimeoutMs: 0, reconcile }), invalid);
  assert.throws(() => newController({ name: 'x', rateLimit: { baseMs: 0 }, reconcile }), invalid);
  assert.throws(
    () => newController({ name: 'x', rateLimit: { perCluster: { perSecond: 0, burst: 1 } }, reconcile }),
    invalid,
  );
});
