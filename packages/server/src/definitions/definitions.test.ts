import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { definition, definitions, TestServer, version, virtualClock, widget, widgets } from '../testing/test-server.ts';
import type { Data } from '../testing/test-server.ts';

const own = `${definitions}/widgets.example.com`;
const condition = (object: Data, type: string): Data => object.status.conditions.find((one: Data) => one.type === type);
const isGone = (server: TestServer, target: string) => async (): Promise<boolean> =>
  (await server.request('GET', target)).status === 404;

describe('a definition', () => {
  test('is served as soon as it is acknowledged', async () => {
    await using server = await TestServer.start();
    const created = await server.create(definitions, definition());
    assert.equal(condition(created, 'Established').status, 'True');
    assert.equal(condition(created, 'NamesAccepted').status, 'True');
    assert.deepEqual(created.status.acceptedNames.plural, 'widgets');
    await server.create(widgets, widget('a', { size: 1 }));
    assert.deepEqual((await server.get(`${widgets}/a`)).spec, { size: 1 });
    assert.equal((await server.get(widgets)).kind, 'WidgetList');
  });

  test('that is refused changes nothing', async () => {
    await using server = await TestServer.start();
    const before = await server.store.revision();
    const bad = definition();
    bad.metadata.name = 'gadgets.example.com';
    await server.expect(422, 'POST', definitions, { body: bad });
    const unstructured = definition({ versions: [{ name: 'v1', served: true, storage: true }] });
    await server.expect(422, 'POST', definitions, { body: unstructured });
    assert.equal(await server.store.revision(), before);
    await server.expect(404, 'GET', widgets);
  });

  test('shows a change of its schema at once: what is refused, what is dropped, what is filled in', async () => {
    await using server = await TestServer.start();
    await server.create(definitions, definition());
    await server.create(widgets, widget('old', { size: 1 }));
    await server.expect(422, 'POST', widgets, { body: widget('bad', { size: 'large' }) });
    const current = await server.get(own);
    current.spec.versions = [version('v1', { size: { type: 'string' }, colour: { type: 'string', default: 'red' } })];
    await server.update(own, current);
    await server.create(widgets, widget('new', { size: 'large' }));
    assert.deepEqual((await server.get(`${widgets}/new`)).spec, { size: 'large', colour: 'red' });
    assert.equal((await server.get(`${widgets}/old`)).spec.colour, 'red', 'old objects get new defaults');
    const watch = await server.watch(`${widgets}?watch=1`);
    const [first, second] = await watch.events(2);
    assert.deepEqual([first!.object.spec.colour, second!.object.spec.colour], ['red', 'red']);
    watch.close();
  });

  test('drops what its schema no longer knows from what is read', async () => {
    await using server = await TestServer.start();
    await server.create(definitions, definition({ spec: { size: { type: 'integer' }, colour: { type: 'string' } } }));
    await server.create(widgets, widget('a', { size: 1, colour: 'red' }));
    const current = await server.get(own);
    current.spec.versions = [version('v1', { size: { type: 'integer' } })];
    await server.update(own, current);
    assert.deepEqual((await server.get(`${widgets}/a`)).spec, { size: 1 });
  });

  test('may serve several versions, of which each shows every object as its own', async () => {
    await using server = await TestServer.start();
    const size = { size: { type: 'integer' } };
    const created = definition({
      versions: [
        version('v1', { ...size, colour: { type: 'string', default: 'red' } }, { storage: false }),
        version('v1beta1', size),
        version('v1alpha1', size, { storage: false, served: false }),
      ],
    });
    await server.create(definitions, created);
    const beta = widgets.replace('/v1/', '/v1beta1/');
    await server.create(beta, { ...widget('a', { size: 1 }), apiVersion: 'example.com/v1beta1' });
    assert.deepEqual((await server.get(`${widgets}/a`)).spec, { size: 1, colour: 'red' });
    assert.equal((await server.get(`${widgets}/a`)).apiVersion, 'example.com/v1');
    assert.equal((await server.get(`${beta}/a`)).apiVersion, 'example.com/v1beta1');
    assert.deepEqual((await server.get(`${beta}/a`)).spec, { size: 1 });
    assert.ok((await server.get(widgets)).items.every((one: Data) => one.apiVersion === 'example.com/v1'));
    await server.expect(404, 'GET', widgets.replace('/v1/', '/v1alpha1/'));
    await server.expect(400, 'POST', widgets, { body: { ...widget('b'), apiVersion: 'example.com/v1beta1' } });
    const { versions } = await server.get('/apis/example.com');
    assert.deepEqual(
      versions.map((one: Data) => one.version),
      ['v1', 'v1beta1'],
    );
  });

  test('that is not served any more has its objects still when it is served again', async () => {
    await using server = await TestServer.start();
    const both = (served: boolean): object[] => [version('v1', {}, { served }), version('v2', {}, { storage: false })];
    await server.create(definitions, definition({ versions: both(true) }));
    await server.create(widgets, widget('a'));
    const set = async (served: boolean): Promise<void> => {
      const current = await server.get(own);
      await server.update(own, { ...current, spec: { ...current.spec, versions: both(served) } });
    };
    await set(false);
    await server.expect(404, 'GET', widgets);
    await set(true);
    await server.get(`${widgets}/a`);
  });
});

describe('names', () => {
  test('that another definition has are not accepted, until that one is gone', async () => {
    await using server = await TestServer.start();
    await server.create(definitions, definition({ names: { shortNames: ['w'] } }));
    const second = await server.create(definitions, definition({ plural: 'gadgets', kind: 'Widget' }));
    assert.equal(condition(second, 'NamesAccepted').status, 'False');
    assert.match(condition(second, 'NamesAccepted').message, /"WidgetList" is already in use/);
    assert.notEqual(condition(second, 'Established')?.status, 'True');
    await server.expect(404, 'GET', '/apis/example.com/v1/gadgets');
    // Names in another group do not conflict.
    const elsewhere = await server.create(definitions, definition({ group: 'example.org' }));
    assert.equal(condition(elsewhere, 'Established').status, 'True');

    await server.remove(own);
    await server.until('the first is gone', isGone(server, own));
    await server.until(
      'the second takes over',
      async () => (await server.request('GET', '/apis/example.com/v1/gadgets')).status === 200,
    );
    const taken = await server.get(`${definitions}/gadgets.example.com`);
    assert.equal(condition(taken, 'NamesAccepted').status, 'True');
  });
});

describe('the deletion of a definition', () => {
  test('ends its objects first, and nothing of them is left for the next one', async () => {
    await using server = await TestServer.start();
    await server.create(definitions, definition());
    for (let at = 0; at < 130; at++) await server.create(widgets, widget(`w${at}`));
    await server.remove(own);
    await server.until('it is gone', isGone(server, own));
    await server.expect(404, 'GET', widgets);
    await server.create(definitions, definition());
    assert.deepEqual((await server.get(widgets)).items, []);
  });

  test('waits for objects with finalizers, and creates nothing meanwhile', async () => {
    const clock = virtualClock();
    await using server = await TestServer.start({ clock });
    await server.create(definitions, definition());
    await server.create(widgets, widget('held', {}, { finalizers: ['example.com/x'] }));
    await server.create(widgets, widget('free'));
    await server.remove(own);
    await server.until('the free one is gone', isGone(server, `${widgets}/free`));
    await server.until(
      'the held one is marked',
      async () => (await server.get(`${widgets}/held`)).metadata.deletionTimestamp,
    );
    const refused = await server.expect(405, 'POST', widgets, { body: widget('new') });
    assert.match(refused.message, /create not allowed while custom resource definition is terminating/);
    const waiting = await server.get(own);
    assert.equal(condition(waiting, 'Terminating').status, 'True');
    await clock.advance(60_000);
    await server.get(own);
    await server.merge(`${widgets}/held`, { metadata: { finalizers: null } });
    await server.until('it is gone', isGone(server, own));
    await server.expect(404, 'GET', `${widgets}/held`);
  });

  test('ends many large objects with finalizers, which together are more than a transaction', async () => {
    const clock = virtualClock();
    await using server = await TestServer.start({ clock });
    await server.create(definitions, definition({ spec: { text: { type: 'string' } } }));
    for (let at = 0; at < 10; at++) {
      await server.create(widgets, widget(`w${at}`, { text: 'x'.repeat(200_000) }, { finalizers: ['example.com/x'] }));
    }
    await server.remove(own);
    await server.until('all are marked', async () => {
      const { items } = await server.get(widgets);
      return items.every((one: Data) => one.metadata.deletionTimestamp !== undefined);
    });
    for (let at = 0; at < 10; at++) await server.merge(`${widgets}/w${at}`, { metadata: { finalizers: null } });
    await server.until('it is gone', isGone(server, own));
  });

  test('goes on after a restart', async () => {
    await using server = await TestServer.start();
    await server.create(definitions, definition());
    await server.create(widgets, widget('held', {}, { finalizers: ['example.com/x'] }));
    await server.remove(own);
    await server.until('it is marked', async () => (await server.get(`${widgets}/held`)).metadata.deletionTimestamp);
    // Another server on the same store that received no events yet.
    const { openControlPlane } = await import('../open-control-plane.ts');
    const { clock, random } = server.plane;
    const other = await openControlPlane({ name: 'root', prefix: '/registry', store: server.store, clock, random });
    try {
      const found = other.plane.catalogue.find({ group: 'example.com', version: 'v1', resource: 'widgets' });
      assert.ok(found?.isTerminating);
      await server.merge(`${widgets}/held`, { metadata: { finalizers: null } });
      await server.until('it is gone', isGone(server, own));
      const isForgotten = (): boolean =>
        !other.plane.catalogue.find({ group: 'example.com', version: 'v1', resource: 'widgets' });
      await server.until('the other one knows', () => Promise.resolve(isForgotten()));
    } finally {
      other.close();
    }
  });
});

test('two servers on one store serve the same definitions', async () => {
  await using server = await TestServer.start();
  const { openControlPlane } = await import('../open-control-plane.ts');
  const { clock, random } = server.plane;
  const other = await openControlPlane({ name: 'root', prefix: '/registry', store: server.store, clock, random });
  try {
    await server.create(definitions, definition());
    const find = () => other.plane.catalogue.find({ group: 'example.com', version: 'v1', resource: 'widgets' });
    await server.until('the other one serves it', () => Promise.resolve(find() !== undefined));
  } finally {
    other.close();
  }
});

test('a store that forgets its history does not stop the following of definitions', async () => {
  await using server = await TestServer.start();
  for (let round = 0; round < 3; round++) {
    await server.create(definitions, definition({ plural: `things${round}`, kind: `Thing${round}` }));
    await server.store.compact(await server.store.revision());
    await server.get(`/apis/example.com/v1/things${round}`);
  }
});

test('closing in the middle of a deletion leaves nothing unhandled', async () => {
  for (let round = 0; round < 3; round++) {
    const server = await TestServer.start();
    await server.create(definitions, definition());
    await server.create(definitions, definition({ plural: 'gadgets', kind: 'Widget' }));
    void server.request('DELETE', own).catch(() => undefined);
    for (let turn = 0; turn < round * 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    await server[Symbol.asyncDispose]();
  }
});
