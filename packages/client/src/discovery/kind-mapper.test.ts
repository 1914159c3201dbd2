import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { faultyTransport, installCrd, startTestCluster, virtualClock } from '@hangar/testkit';
import type { HttpAnswer, HttpRequest } from '../transport/contract.ts';
import { RestClient } from '../rest/rest-client.ts';
import { KindMapper } from './kind-mapper.ts';

type Asking = { raw(request: HttpRequest): Promise<HttpAnswer> };

const version = (name: string) => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: { openAPIV3Schema: { type: 'object' as const, 'x-kubernetes-preserve-unknown-fields': true } },
  subresources: { status: {} },
});

const widgets = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', shortNames: ['wd'], categories: ['all'] },
    versions: [version('v1beta1'), version('v1')],
  },
};

/** Acts as a server without aggregated discovery. */
const asLegacy = (client: Asking): Asking => ({
  raw: (request) => client.raw({ ...request, headers: { ...request.headers, accept: 'application/json' } }),
});

/** A server with the documents of a test. */
function saying(documents: Readonly<Record<string, unknown>>): Asking & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    raw({ target }) {
      asked.push(target);
      const document = documents[target];
      const bytes = Buffer.from(typeof document === 'string' ? document : JSON.stringify(document ?? {}));
      return Promise.resolve({
        status: document === undefined ? 404 : 200,
        header: () => undefined,
        body: () => Promise.resolve(bytes),
        async *stream() {
          yield bytes;
        },
      });
    },
  };
}

const group = (name: unknown, resources: readonly unknown[], freshness = 'Current') => ({
  metadata: { name },
  versions: [{ version: 'v1', resources, freshness }],
});
const list = (...items: readonly unknown[]) => ({ kind: 'APIGroupDiscoveryList', items });
const gadget = { resource: 'gadgets', responseKind: { kind: 'Gadget' }, scope: 'Namespaced', verbs: ['get'] };

describe('the kind mapper', () => {
  test('finds kinds by every name that they have, from new documents and from old ones alike', async () => {
    await using cluster = await startTestCluster();
    await installCrd(cluster.client, widgets);
    const both = [new KindMapper(cluster.client), new KindMapper(asLegacy(cluster.client))];
    for (const mapper of both) {
      const widget = await mapper.kind('example.com/v1beta1', 'Widget');
      assert.deepEqual(
        [widget.plural, widget.isNamespaced, widget.shortNames, widget.subresources],
        ['widgets', false, ['wd'], ['status']],
      );
      assert.equal((await mapper.preferred('Widget', 'example.com')).apiVersion, 'example.com/v1');
      assert.equal((await mapper.preferred('Deployment')).apiVersion, 'apps/v1');
      for (const name of [
        'widgets.example.com',
        'widgets',
        'widget',
        'wd',
        'wd.example.com',
        'widgets.v1.example.com',
      ]) {
        assert.equal((await mapper.resource(name)).apiVersion, 'example.com/v1', name);
      }
      assert.equal((await mapper.resource('widgets.v1beta1.example.com')).version, 'v1beta1');
      assert.equal((await mapper.resource('events')).apiVersion, 'v1', 'the core group comes first');
      assert.equal((await mapper.resource('events.events.k8s.io')).group, 'events.k8s.io');
      assert.equal((await mapper.resource('po')).kind, 'Pod');
      assert.equal((await cluster.client.list(widget)).items.length, 0, 'what was found can be asked for');
    }
    const [aggregated, legacy] = await Promise.all(both.map((mapper) => mapper.all()));
    const sorted = (all: typeof aggregated) =>
      all!
        .map((kind) => ({ ...kind, subresources: [...kind.subresources].sort() }))
        .sort((one, other) => (`${one.apiVersion}/${one.plural}` < `${other.apiVersion}/${other.plural}` ? -1 : 1));
    assert.deepEqual(sorted(aggregated), sorted(legacy));
  });

  test('knows kinds with a hyphen, as definitions may have them', async () => {
    await using cluster = await startTestCluster();
    const names = { plural: 'odd-ones', singular: 'odd-one', kind: 'Odd-one' };
    const spec = { ...widgets.spec, names, versions: [version('v1')] };
    await installCrd(cluster.client, { metadata: { name: 'odd-ones.example.com' }, spec });
    for (const mapper of [new KindMapper(cluster.client), new KindMapper(asLegacy(cluster.client))]) {
      assert.equal((await mapper.resource('odd-ones.example.com')).kind, 'Odd-one');
      assert.equal((await mapper.kind('example.com/v1', 'Odd-one')).plural, 'odd-ones');
    }
  });

  test('looks again for what it does not know, but only now and then', async () => {
    const clock = virtualClock();
    await using cluster = await startTestCluster({ clock });
    const faults = faultyTransport(cluster.transportOf(), { clock });
    const mapper = new KindMapper(new RestClient(faults, { clock }), { clock });
    for (let at = 0; at < 10; at++) {
      await assert.rejects(mapper.kind('example.com/v1', 'Widget'), { code: 'UnknownKind' });
    }
    assert.equal(faults.requests.length, 2, 'both roots, once');
    await clock.run(installCrd(cluster.client, widgets, { clock }));
    await clock.advance(3_000);
    faults.forget();
    const found = await Promise.all(Array.from({ length: 10 }, () => mapper.resource('widgets.example.com')));
    assert.equal(new Set(found).size, 1);
    assert.equal(faults.requests.length, 2, 'ten who ask at once make it look once');
    assert.ok(
      faults.requests.every(({ headers }) => headers?.['if-none-match']),
      'and what did not change is not sent again',
    );
  });

  test('cannot say that there is none when the server cannot be asked, and finds it later', async () => {
    await using cluster = await startTestCluster();
    const faults = faultyTransport(cluster.transportOf());
    const mapper = new KindMapper(new RestClient(faults, { retry: false }));
    faults.failNext(1);
    await assert.rejects(mapper.resource('pods'), { code: 'ConnectionFailed' });
    faults.refuseNext({ status: 403, reason: 'Forbidden' });
    await assert.rejects(mapper.resource('pods'), { code: 'Forbidden' });
    assert.equal((await mapper.resource('pods')).kind, 'Pod');
  });

  test('one that gives up does not take the answer from the others', async () => {
    await using cluster = await startTestCluster();
    const faults = faultyTransport(cluster.transportOf());
    const mapper = new KindMapper(new RestClient(faults));
    const hold = faults.hang();
    const stopping = new AbortController();
    const [given, kept] = [mapper.resource('pods', stopping), mapper.resource('pods')];
    stopping.abort();
    await assert.rejects(given, { code: 'Aborted' });
    hold.release();
    assert.equal((await kept).kind, 'Pod');
  });

  test('an aggregated API that is away hides nobody else, nor what it had before', async () => {
    const documents: Record<string, unknown> = {
      '/api': list(),
      '/apis': list(group('away.example.com', [], 'Stale'), group('here.example.com', [gadget])),
    };
    const mapper = new KindMapper(saying(documents), { refreshEveryMsMin: 0 });
    assert.equal((await mapper.resource('gadgets')).group, 'here.example.com');
    await assert.rejects(mapper.resource('lost'), {
      message: /currently unavailable group-versions: away\.example\.com\/v1/,
    });
    documents['/apis'] = list(group('away.example.com', [{ ...gadget, resource: 'lost' }]));
    assert.equal((await mapper.resource('lost')).group, 'away.example.com');
    documents['/apis'] = list(group('away.example.com', [], 'Stale'));
    await mapper.refresh();
    assert.equal((await mapper.resource('lost')).group, 'away.example.com');

    const legacy = saying({
      '/api': { kind: 'APIVersions', versions: ['v1'] },
      '/apis': { kind: 'APIGroupList', groups: [{ name: 'away.example.com', versions: [{ version: 'v1' }] }] },
      '/api/v1': { kind: 'APIResourceList', resources: [{ name: 'pods', kind: 'Pod', namespaced: true }] },
    });
    assert.equal((await new KindMapper(legacy).resource('pods')).isNamespaced, true);
  });

  test('takes nothing from a hostile server that could become another path', async () => {
    const hostile = [
      { ...gadget, resource: '../../api/v1/secrets' },
      { ...gadget, resource: 'a/b' },
      { ...gadget, resource: 'a..b' },
      { ...gadget, responseKind: { kind: 'X\r\nY' } },
      { ...gadget, resource: 'x'.repeat(10_000) },
      { ...gadget, resource: '__proto__' },
      { ...gadget, shortNames: [1, null, { a: 1 }], subresources: 'none', verbs: 7 },
      null,
      17,
    ];
    const server = saying({
      '/api': list(),
      '/apis': list(group('../x', [gadget]), null, group('ok.dev', hostile), 3),
    });
    const all = await new KindMapper(server).all();
    assert.deepEqual(
      all.map(({ group, plural, shortNames, subresources, verbs }) => [group, plural, shortNames, subresources, verbs]),
      [['ok.dev', 'gadgets', [], [], []]],
    );
    for (const document of ['[]', 'null', '{"kind":', 'x', '"a"']) {
      const mapper = new KindMapper(saying({ '/api': list(), '/apis': document }));
      await assert.rejects(mapper.all(), { code: 'MalformedAnswer' }, document);
    }
    await assert.rejects(new KindMapper(saying({ '/api': list(), '/apis': {} })).kind('constructor', 'toString'), {
      code: 'UnknownKind',
    });
  });
});
