import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, test } from 'node:test';
import { defineKind } from '@hangar/client';
import { isWatch } from '@hangar/testkit';
import { kindOptions } from './cache-options.ts';
import type { ConfigMapObject } from './testing/world.ts';
import { ConfigMap, Namespace, openWorld } from './testing/world.ts';
import { withoutManagedFields } from './transforms.ts';

const key = (name: string) => ({ namespace: 'default', name });
const namesOf = ({ items }: { items: readonly ConfigMapObject[] }): string[] =>
  items.map(({ metadata }) => metadata.name!).toSorted();

describe('reads', () => {
  test('before the start are refused, after the end still answered', async () => {
    await using the = await openWorld();
    await the.make('a');
    await assert.rejects(the.cache.get(ConfigMap, key('a')), { code: 'CacheNotStarted' });
    the.start();
    await the.cache.get(ConfigMap, key('a'));
    await the.stop();
    assert.equal((await the.cache.get(ConfigMap, key('a'))).metadata.name, 'a');
    await assert.rejects(the.cache.list(Namespace), { code: 'CacheNotSynced' });
    await assert.rejects(the.cache.start(the.controller.signal), { code: 'InvalidOptions' });
  });

  test('of an unknown kind wait for its list, and cause only one', async () => {
    await using the = await openWorld();
    await the.make('a');
    the.start();
    const { signal } = new AbortController();
    const [one, all] = await Promise.all([the.cache.get(ConfigMap, key('a'), { signal }), the.cache.list(ConfigMap)]);
    assert.equal(getEventListeners(signal, 'abort').length, 0);
    assert.equal(all.items.includes(one), true, 'what is read is shared');
    assert.equal(the.faults.requests.length, 1);
    assert.notEqual(all.resourceVersion, '');
  });

  test('wait no longer than they may', async () => {
    await using the = await openWorld({ options: { readTimeoutMs: 5_000 } });
    the.faults.hang();
    the.start();
    const controller = new AbortController();
    const reads = [the.cache.get(ConfigMap, key('a'), { signal: controller.signal }), the.cache.list(ConfigMap)];
    const outcomes = Promise.allSettled(reads);
    await the.clock.settle();
    controller.abort();
    await the.clock.advance(5_000);
    assert.deepEqual(
      (await outcomes).map((one) => one.status === 'rejected' && one.reason.code),
      ['Aborted', 'CacheNotSynced'],
    );
    assert.equal(getEventListeners(controller.signal, 'abort').length, 0);
    const late = assert.rejects(the.cache.synced(), { code: 'CacheNotSynced' });
    await the.stop();
    await late;
  });

  test('of a kind that the cluster does not have do not wait: who works on many clusters has no time for it', async () => {
    await using the = await openWorld();
    const Widget = defineKind({ apiVersion: 'x.io/v1', kind: 'Widget', plural: 'widgets', isNamespaced: true });
    the.start();
    const begunMs = the.clock.monotonicMs();
    for (let times = 0; times < 3; times++) {
      const refused = assert.rejects(the.cache.list(Widget), { code: 'CacheNotSynced', message: /not found/ });
      await the.clock.run(refused);
    }
    assert.ok(the.clock.monotonicMs() - begunMs < 500);
    const { signal } = new AbortController();
    await the.clock.run(assert.rejects(the.cache.get(Widget, key('a'), { signal }), { code: 'CacheNotSynced' }));
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });

  test('of what is not there are refused with the words of a server', async () => {
    await using the = await openWorld();
    the.start();
    const [ours, theirs] = await Promise.all(
      [the.cache, the.cluster.client].map((reader) =>
        reader.get(ConfigMap, key('nobody')).then(
          () => assert.fail(),
          (error: { code: string; message: string; status: object }) => error,
        ),
      ),
    );
    assert.deepEqual(ours!.status, theirs!.status);
    assert.equal(ours!.message, theirs!.message);
    assert.equal(ours!.code, 'NotFound');
  });

  test('select by namespace, labels and fields', async () => {
    await using the = await openWorld();
    const { client } = the.cluster;
    await client.create(Namespace, { metadata: { name: 'other' } });
    for (const [namespace, name, tier] of [
      ['default', 'a', 'gold'],
      ['default', 'b', 'silver'],
      ['other', 'a', 'gold'],
      ['other', 'c', 'bronze'],
    ] as const) {
      await client.create(ConfigMap, {
        metadata: { namespace, name, labels: { tier } },
        data: { of: `${name}-${tier}` },
      });
    }
    the.cache.addIndex(ConfigMap, 'data.of', ({ data }) => (data?.['of'] ? [data['of']] : []));
    the.start();
    const list = async (options: Parameters<typeof the.cache.list>[1]): Promise<string[]> =>
      namesOf(await the.cache.list(ConfigMap, options));
    assert.deepEqual(await list({ namespace: 'default' }), ['a', 'b']);
    assert.deepEqual(await list({ labelSelector: 'tier in (gold, silver)' }), ['a', 'a', 'b']);
    assert.deepEqual(await list({ labelSelector: { tier: 'gold' }, namespace: 'other' }), ['a']);
    assert.deepEqual(await list({ labelSelector: '!tier', namespace: 'other' }), []);
    assert.deepEqual(await list({ fieldSelector: 'data.of=a-gold' }), ['a', 'a']);
    assert.deepEqual(await list({ fieldSelector: { 'data.of': 'a-gold' }, namespace: 'other' }), ['a']);
    assert.deepEqual(await list({ index: { name: 'data.of', value: 'b-silver' } }), ['b']);
    assert.deepEqual(await list({ index: { name: 'data.of', value: 'b-silver' }, namespace: 'other' }), []);
    assert.deepEqual(await list({ fieldSelector: 'metadata.name=a' }), ['a', 'a']);
    assert.deepEqual(await list({ fieldSelector: 'metadata.name=a,metadata.namespace=other' }), ['a']);
    assert.deepEqual(await list({ fieldSelector: 'metadata.name=a,data.of=b-silver' }), []);
    assert.deepEqual(await list({ fieldSelector: 'metadata.namespace=other', namespace: 'default' }), []);
    assert.deepEqual(await list({ fieldSelector: '', labelSelector: '', namespace: 'other' }), ['a', 'c']);
    assert.deepEqual(
      await list({ namespace: '', labelSelector: 'tier' }),
      ['a', 'a', 'b', 'c'],
      'as a server reads it',
    );
    await assert.rejects(list({ fieldSelector: 'data.else=1' }), { code: 'UnknownIndex' });
    await assert.rejects(list({ fieldSelector: 'data.of!=1' }), { code: 'UnknownIndex' });
    await assert.rejects(list({ index: { name: 'nobody', value: '' } }), { code: 'UnknownIndex' });
    await assert.rejects(list({ labelSelector: 'a b c' }), { code: 'BadRequest' });
    await assert.rejects(list({ resourceVersion: '5' }), { code: 'NotInCache' });
    await assert.rejects(list({ continue: 'x' }), { code: 'NotInCache' });
    assert.equal((await list({ resourceVersion: '0', limit: 1, namespace: 'default' })).length, 2);
    // A cluster-scoped object is found with and without a namespace.
    assert.equal((await the.cache.get(Namespace, { name: 'other' })).metadata.name, 'other');
    assert.equal((await the.cache.get(Namespace, { namespace: 'x', name: 'other' })).metadata.name, 'other');
    assert.equal(
      (await the.cache.list(Namespace, { namespace: 'x', labelSelector: 'kubernetes.io/metadata.name=other' })).items
        .length,
      1,
    );
  });

  test('by an index that comes late, and that follows what happens', async () => {
    await using the = await openWorld();
    await the.make('a', { value: '1' });
    the.start();
    const byValue = async (value: string): Promise<string[]> =>
      namesOf(await the.cache.list(ConfigMap, { index: { name: 'value', value } }));
    await assert.rejects(byValue('1'), { code: 'UnknownIndex' });
    the.cache.addIndex(ConfigMap, 'value', ({ data }) => [data?.['value'] ?? '']);
    assert.deepEqual(await byValue('1'), ['a']);
    await the.change('a', '2');
    await the.make('b', { value: '2' });
    await the.clock.settle();
    assert.deepEqual([await byValue('1'), await byValue('2')], [[], ['a', 'b']]);
    await the.remove('a');
    await the.clock.settle();
    assert.deepEqual(await byValue('2'), ['b']);
  });
});

describe('what is kept', () => {
  test('is what the kind’s options say: selected, transformed, of some namespaces', async () => {
    const options = {
      byKind: [
        kindOptions(ConfigMap, {
          namespaces: ['default', 'other'],
          labelSelector: 'keep=yes',
          transform: (object) => (object.metadata.name === 'hidden' ? undefined : withoutManagedFields(object)),
        }),
      ],
    };
    await using the = await openWorld({ options });
    const { client } = the.cluster;
    for (const name of ['other', 'third']) await client.create(Namespace, { metadata: { name } });
    const make = (namespace: string, name: string, labels: Record<string, string>) =>
      client.create(ConfigMap, { metadata: { namespace, name, labels } }, { fieldManager: 'me' });
    await make('default', 'a', { keep: 'yes' });
    await make('default', 'b', {});
    await make('default', 'hidden', { keep: 'yes' });
    await make('other', 'c', { keep: 'yes' });
    await make('third', 'd', { keep: 'yes' });
    the.start();
    assert.deepEqual(namesOf(await the.cache.list(ConfigMap, { namespace: 'default' })), ['a']);
    assert.deepEqual(namesOf(await the.cache.list(ConfigMap, { namespace: 'other' })), ['c']);
    assert.deepEqual([...the.cache.informer(ConfigMap).all()].map(({ metadata }) => metadata.name).toSorted(), [
      'a',
      'c',
    ]);
    await assert.rejects(the.cache.list(ConfigMap, { namespace: 'third' }), { code: 'NotInCache' });
    await assert.rejects(the.cache.list(ConfigMap), { code: 'NotInCache' });
    await assert.rejects(the.cache.get(ConfigMap, { namespace: 'third', name: 'd' }), { code: 'NotInCache' });
    assert.equal((await the.cache.get(ConfigMap, key('a'))).metadata.managedFields, undefined);
    assert.equal(the.faults.requests.length, 2, 'one watch for each namespace');
    // An object that the selector no longer matches is deleted; one that matches again is added.
    const unlabel = { type: 'merge', body: { metadata: { labels: { keep: null } } } } as const;
    await client.patch(ConfigMap, key('a'), unlabel);
    await the.clock.settle();
    assert.deepEqual(namesOf(await the.cache.list(ConfigMap, { namespace: 'default' })), []);
    await client.patch(ConfigMap, key('a'), { type: 'merge', body: { metadata: { labels: { keep: 'yes' } } } });
    await the.clock.settle();
    assert.deepEqual(namesOf(await the.cache.list(ConfigMap, { namespace: 'default' })), ['a']);
    // A relist in one namespace does not affect the other.
    the.faults.expireWatches(1);
    the.faults.endWatches();
    await the.clock.advance(30_000);
    assert.deepEqual(namesOf(await the.cache.list(ConfigMap, { namespace: 'other' })), ['c']);
  });

  test('is the same for who asks for the same, and apart for who asks for something else', async () => {
    await using the = await openWorld();
    const plain = the.cache.informer(ConfigMap);
    assert.equal(the.cache.informer(ConfigMap), plain);
    assert.equal(the.cache.informer(ConfigMap, {}), plain);
    assert.equal(the.cache.informer({ ...ConfigMap }), plain, 'a kind is what it says, not who wrote it');
    const gold = the.cache.informer(ConfigMap, { labelSelector: 'tier=gold' });
    assert.notEqual(gold, plain);
    assert.equal(the.cache.informer(ConfigMap, { labelSelector: 'tier=gold' }), gold);
    const transform = (object: ConfigMapObject) => object;
    assert.equal(the.cache.informer(ConfigMap, { transform }), the.cache.informer(ConfigMap, { transform }));
    assert.notEqual(the.cache.informer(ConfigMap, { transform }), plain);
    const named = the.cache.informer(ConfigMap, { namespaces: ['a', 'b'] });
    assert.equal(the.cache.informer(ConfigMap, { namespaces: ['b', 'a', 'b'] }), named);
  });

  test('can be metadata alone: nothing else is asked for, and nothing else is answered', async () => {
    await using the = await openWorld({ options: { byKind: [kindOptions(ConfigMap, { metadataOnly: true })] } });
    await the.make('a', { big: 'x'.repeat(10_000) });
    the.start();
    const object = await the.cache.get(ConfigMap, key('a'), { metadataOnly: true });
    assert.equal(object.metadata.name, 'a');
    assert.equal(object.data, undefined);
    assert.equal(object.kind, 'ConfigMap');
    await assert.rejects(the.cache.get(ConfigMap, key('a')), { code: 'NotInCache' });
    await the.change('a', '1');
    await the.make('b');
    await the.clock.settle();
    assert.deepEqual(namesOf(await the.cache.list(ConfigMap, { metadataOnly: true, namespace: 'default' })), [
      'a',
      'b',
    ]);
    for (const { headers } of the.faults.requests) assert.match(headers!['accept']!, /PartialObjectMetadata/);
  });

  test('by a transform that throws, is the object as it came', async () => {
    const transform = (): never => {
      throw new Error('by the test');
    };
    await using the = await openWorld({ options: { defaults: { transform } } });
    await the.make('a', { x: '1' });
    the.start();
    assert.deepEqual((await the.cache.get(ConfigMap, key('a'))).data, { x: '1' });
    assert.ok(the.lines.some((line) => line.includes('by the test')));
  });
});

test('a hundred informers that begin and end leave nothing behind', async () => {
  await using the = await openWorld();
  the.start();
  const informers = Array.from({ length: 100 }, (_, n) => the.cache.informer(ConfigMap, { labelSelector: `n=${n}` }));
  await the.clock.run(the.cache.synced());
  assert.equal(the.faults.openWatches, 100);
  assert.equal(the.faults.requests.filter(isWatch).length, 100);
  await the.stop();
  assert.ok(informers.every(({ health }) => health.state === 'ended'));
});
