import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ConfigMap, Secret } from '@hangar/client/kinds/core-v1';
import { systemClock } from '@hangar/core';
import type { Scope } from './authorization/scope.ts';
import { Searcher } from './search.ts';
import { inside, masters, platform, startFleetSearch, userOf } from './testing/fleet-search.ts';
import type { FleetSearch } from './testing/fleet-search.ts';

const map = (name: string, data: Record<string, string> = {}, labels: Record<string, string> = {}) => ({
  metadata: { namespace: 'default', name, labels },
  data,
});

describe('a search of a fleet', () => {
  let search: FleetSearch;

  before(async () => {
    search = await startFleetSearch(['red', 'blue']);
    const { fleet } = search;
    await fleet.clientOf('red').create(ConfigMap, map('web-settings', { mode: 'fast lane' }, { app: 'web' }));
    await fleet.clientOf('blue').create(ConfigMap, map('web-other', { mode: 'slow lane' }, { app: 'web' }));
    await fleet.clientOf('blue').create(ConfigMap, map('database', { host: 'web.internal' }));
    await fleet.client.create(ConfigMap, map('web-root'));
    await fleet.clientOf('red').create(Secret, {
      metadata: {
        namespace: 'default',
        name: 'credentials',
        annotations: {
          'kubectl.kubernetes.io/last-applied-configuration': '{"stringData":{"password":"appliedvalue"}}',
          note: 'vault',
        },
      },
      stringData: { password: 'hiddenvalue' },
    });
    await search.index.current.synced;
    await search.until('vault', (found) => found.length === 1);
    await search.until('web kind:ConfigMap', (found) => found.length === 4);
  });
  after(() => search[Symbol.asyncDispose]());

  test('returns objects of all control planes, those with the word in the name first', async () => {
    const { results, incomplete } = await search.search('web kind:ConfigMap');
    assert.equal(incomplete, undefined);
    assert.equal(results.at(-1)!.name, 'database');
    assert.deepEqual(
      results.map(({ score }) => score),
      [1, 1, 1, 0.25],
    );
    const first = results.find(({ cluster }) => cluster === 'red');
    assert.deepEqual(
      { ...first, uid: '', resourceVersion: '' },
      {
        cluster: 'red',
        apiVersion: 'v1',
        kind: 'ConfigMap',
        namespace: 'default',
        name: 'web-settings',
        uid: '',
        resourceVersion: '',
        snippet: 'app=web',
        score: 1,
      },
    );
  });

  test('supports phrases, prefixes, excluded words and filters', async () => {
    const names = async (query: string): Promise<string[]> =>
      (await search.found(query)).map((one) => one.split('/')[2]!).toSorted();
    assert.deepEqual(await names('"fast lane"'), ['web-settings']);
    assert.deepEqual(await names('"lane fast"'), []);
    assert.deepEqual(await names('lane -slow'), ['web-settings']);
    assert.deepEqual(await names('data* kind:ConfigMap -web name:database'), []);
    assert.deepEqual(await names('datab* kind:configmaps'), ['database']);
    assert.deepEqual(await names('label:app=web cluster:blue'), ['web-other']);
    assert.deepEqual(await names('project:red label:app'), ['web-settings']);
    assert.deepEqual(await names('name:web-root'), ['web-root']);
    assert.deepEqual(await names('WEB-Setting*'), ['web-settings']);
    assert.deepEqual(await names('kind:Namespace name:default cluster:red'), ['default']);
  });

  test('never matches values of Secrets', async () => {
    assert.deepEqual(await search.found('vault'), ['red/default/credentials']);
    for (const query of ['hiddenvalue', 'appliedvalue', Buffer.from('hiddenvalue').toString('base64')]) {
      assert.deepEqual(await search.found(query), [], query);
    }
  });

  test('pages continue after the last result, for the same user and query only', async () => {
    const query = 'web kind:ConfigMap';
    const all = await search.found(query);
    assert.deepEqual(await search.found({ query, limit: 1 }), all);
    const { continue: next } = await search.search({ query, limit: 1 });
    assert.ok(next);
    const invalid = { code: 'BadRequest' };
    await assert.rejects(search.search({ query: 'lane', continue: next }), invalid);
    await assert.rejects(search.search({ query, continue: next }, userOf('other')), invalid);
    await assert.rejects(search.search({ query, continue: next }, masters, inside('red')), invalid);
    const at = next.length - 8;
    const changed = `${next.slice(0, at)}${next[at] === 'A' ? 'B' : 'A'}${next.slice(at + 1)}`;
    await assert.rejects(search.search({ query, continue: changed }), invalid);
    await assert.rejects(search.search({ query, continue: 'garbage' }), invalid);
    await assert.rejects(search.search({ query, continue: `99.${next.split('.')[1]}` }), { code: 'Expired' });
  });

  test('from inside a control plane has only its objects, whatever the query names', async () => {
    const red = inside('red');
    assert.deepEqual(await search.found('web kind:ConfigMap', masters, red), ['red/default/web-settings']);
    assert.deepEqual(await search.found('web cluster:blue', masters, red), []);
    assert.deepEqual(await search.found({ query: 'web', clusters: ['blue'] }, masters, red), []);
    assert.deepEqual(await search.found({ query: 'web', clusters: ['blue', 'red'] }, masters, red), [
      'red/default/web-settings',
    ]);
  });

  test('of a user without rights has no results, no cursor and no reason', async () => {
    for (const scope of [{ type: 'platform' } as const, inside('red')]) {
      const status = await search.search({ query: 'web kind:ConfigMap', limit: 1 }, userOf('stranger'), scope);
      assert.deepEqual(status, { results: [], generation: search.index.current.id });
    }
  });

  test('is rejected while its control plane or user has too many running ones, and others are not', async () => {
    const reviewed = Promise.withResolvers<boolean>();
    const searcher = new Searcher({ index: search.index, review: () => reviewed.promise, clock: systemClock });
    const start = (user: string, scope: Scope) => searcher.search({ query: 'web' }, { user: userOf(user), scope });
    const tooMany = { code: 'TooManyRequests' };
    const running = Array.from({ length: 8 }, (_, at) => [
      start(`kim-${at}`, inside('red')),
      start('kim', platform),
    ]).flat();
    await assert.rejects(start('lee', inside('red')), tooMany);
    await assert.rejects(start('kim', platform), tooMany);
    running.push(start('kim', inside('blue')), start('lee', platform));
    reviewed.resolve(true);
    for (const { results } of await Promise.all(running)) assert.ok(results.length > 0);
    assert.ok((await start('lee', inside('red'))).results.length > 0);
  });

  test('follows changes, deletions and deleted control planes', async () => {
    const green = await search.fleet.createCluster('green');
    await green.create(ConfigMap, map('fresh', { text: 'kiwi' }));
    await search.until('kiwi', (found) => found.length === 1);
    await green.patch(
      ConfigMap,
      { namespace: 'default', name: 'fresh' },
      { type: 'merge', body: { data: { text: 'lime' } } },
    );
    await search.until('lime', (found) => found.length === 1);
    assert.deepEqual(await search.found('kiwi'), []);
    await green.create(ConfigMap, map('second', { text: 'lime' }));
    await search.until('lime', (found) => found.length === 2);
    await green.delete(ConfigMap, { namespace: 'default', name: 'second' });
    await search.until('lime', (found) => found.length === 1);
    await search.fleet.deleteCluster('green');
    await search.until('cluster:green', (found) => found.length === 0);
  });
});
