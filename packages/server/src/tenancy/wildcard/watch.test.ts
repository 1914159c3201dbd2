import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openMemoryStore } from '@hangar/store';
import { isStreaming } from '../../http/message.ts';
import { withoutType } from '../../verbs/list.ts';
import { planePath, tenants, TenancyServer } from '../../testing/tenancy-server.ts';
import { configMaps, TestSink } from '../../testing/test-server.ts';
import type { Data, TestWatch } from '../../testing/test-server.ts';
import { contentOf, moveAway, moveBack } from '../replica/testing.ts';
import { all, maps, told, listed, events, add, merge, revisionOf } from './testing.ts';

describe('a watch of all control planes', () => {
  test('goes on from a list, with every change after it', async () => {
    await using server = await TenancyServer.open();
    const [a, b] = [await server.make('a'), await server.make('b')];
    await add(server, a, 'one');
    const list = await server.expect(200, 'GET', maps);
    await add(server, b, 'two');
    const watch = await server.watch(`${maps}?watch=true&resourceVersion=${revisionOf(list)}`);
    await merge(server, `${a}${configMaps}/one`, { data: { x: 'y' } });
    await server.expect(200, 'DELETE', `${b}${configMaps}/two`);
    await add(server, '', 'top');
    const [added, modified, deleted, top] = await watch.events(4);
    assert.deepEqual(
      [added, modified, deleted, top].map((one) => `${one!.type} ${told(one!.object)}`),
      ['ADDED b/two', 'MODIFIED a/one', 'DELETED b/two', 'ADDED root/top'],
    );
    assert.equal(added!.object.kind, 'ConfigMap');
    assert.ok(revisionOf(deleted!.object) > revisionOf(modified!.object));
    watch.close();
  });

  test('and watches of the control planes themselves have frames of their own', async () => {
    await using server = await TenancyServer.open();
    const a = await server.make('a');
    const from = `watch=true&resourceVersion=${await server.store.revision()}`;
    const targets = [`${maps}?${from}`, `${a}${configMaps}?${from}`, `${configMaps}?${from}`];
    const watches: TestWatch[] = [];
    for (const target of [...targets, ...targets.toReversed()]) watches.push(await server.watch(target));
    await add(server, a, 'one');
    await add(server, '', 'top');
    const seen: unknown[] = [];
    for (const [at, watch] of watches.entries()) {
      const isOfAll = at === 0 || at === watches.length - 1;
      for (const { object } of await watch.events(isOfAll ? 2 : 1)) {
        seen.push([object.metadata.name, object.metadata.clusterName]);
      }
      watch.close();
    }
    const ofAll = [
      ['one', 'a'],
      ['top', 'root'],
    ];
    const own = [
      ['one', undefined],
      ['top', undefined],
    ];
    assert.deepEqual(seen, [...ofAll, ...own, ...own.toReversed(), ...ofAll]);
  });

  test('begins with what is there, and says where that ends', async () => {
    await using server = await TenancyServer.open();
    await add(server, await server.make('a'), 'one', { labels: { on: 'yes' } });
    await add(server, '', 'top');
    const query = 'watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan';
    const watch = await server.watch(`${maps}?${query}`);
    assert.deepEqual(await events(watch, 2), ['ADDED a/one', 'ADDED root/top']);
    const [end] = await watch.events(1);
    assert.equal(end!.type, 'BOOKMARK');
    assert.deepEqual(end!.object.metadata.annotations, { 'k8s.io/initial-events-end': 'true' });
    assert.equal(revisionOf(end!.object), await server.store.revision());
    const some = await server.watch(`${maps}?watch=true&labelSelector=on`);
    assert.deepEqual(await events(some, 1), ['ADDED a/one']);
    await merge(server, `${planePath('a')}${configMaps}/one`, { metadata: { labels: { on: null } } });
    assert.deepEqual(await events(some, 1), ['DELETED a/one']);
    for (const one of [watch, some]) one.close();
  });

  test('sees tenants come and go with all that they have', async () => {
    await using server = await TenancyServer.open();
    const target = `${all}/api/v1/namespaces`;
    const from = await server.store.revision();
    const watch = await server.watch(`${target}?watch=true&resourceVersion=${from}`);
    const four = (type: string, path: string): string[] =>
      ['default', 'kube-node-lease', 'kube-public', 'kube-system'].map((name) => `${type} ${path}/${name}`);
    const a = await server.make('a', { deletionPolicy: 'Destroy' });
    assert.deepEqual(await events(watch, 4), four('ADDED', 'a'));
    await merge(server, `${a}/api/v1/namespaces/default`, { metadata: { labels: { x: 'y' } } });
    await server.expect(201, 'POST', `${a}/api/v1/namespaces`, {
      body: { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'more' } },
    });
    assert.deepEqual(await events(watch, 2), ['MODIFIED a/default', 'ADDED a/more']);
    await server.expect(200, 'DELETE', `${tenants}/a`);
    const ended = await watch.events(5);
    assert.deepEqual(ended.map(({ object }) => told(object)).toSorted(), [
      'a/default',
      'a/kube-node-lease',
      'a/kube-public',
      'a/kube-system',
      'a/more',
    ]);
    assert.ok(
      ended.every(({ type, object }) => type === 'DELETED' && revisionOf(object) === revisionOf(ended[0]!.object)),
    );
    await server.make('a');
    assert.deepEqual(await events(watch, 4), four('ADDED', 'a'));
    watch.close();
  });

  test('what is deleted of the base is deleted, and made again it is added', async () => {
    await using server = await TenancyServer.open();
    const a = await server.make('a', { deletionPolicy: 'Destroy' });
    const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
    const role = await server.expect(200, 'GET', `${a}${roles}/system:node-proxier`);
    const watch = await server.watch(`${all}${roles}?watch=true&resourceVersion=${await server.store.revision()}`);
    await server.expect(200, 'DELETE', `${a}${roles}/system:node-proxier`);
    assert.ok(!(await listed(server, `${all}${roles}`)).includes('a/system:node-proxier'));
    const { uid: _, resourceVersion: __, creationTimestamp: ___, ...metadata } = role.metadata;
    await server.expect(201, 'POST', `${a}${roles}`, { body: { ...role, metadata } });
    await server.expect(200, 'DELETE', `${a}${roles}/system:node-proxier`);
    assert.deepEqual(await events(watch, 3), [
      'DELETED a/system:node-proxier',
      'ADDED a/system:node-proxier',
      'DELETED a/system:node-proxier',
    ]);
    await server.expect(200, 'DELETE', `${tenants}/a`);
    const { length } = (await server.expect(200, 'GET', roles)).items;
    const ended = await events(watch, length - 1);
    assert.ok(!ended.includes('DELETED a/system:node-proxier'), 'it was gone already');
    assert.equal(new Set(ended).size, length - 1);
    watch.close();
  });

  test('what is retained vanishes, and comes back as it was', async () => {
    await using server = await TenancyServer.open();
    const a = await server.make('a');
    const one = await add(server, a, 'one');
    await server.expect(200, 'DELETE', `${a}/api/v1/namespaces/default/configmaps/one`);
    const again = await add(server, a, 'one');
    const from = await server.store.revision();
    const watch = await server.watch(`${maps}?watch=true&allowWatchBookmarks=true&resourceVersion=${from}`);
    await server.expect(200, 'DELETE', `${tenants}/a`);
    assert.deepEqual(await listed(server), []);
    await server.make('a');
    const [deleted, added, mark] = await watch.events(3);
    assert.deepEqual([deleted!.type, added!.type, mark!.type], ['DELETED', 'ADDED', 'BOOKMARK']);
    assert.notEqual(one.metadata.uid, again.metadata.uid);
    const { clusterName, ...metadata } = added!.object.metadata;
    assert.equal(clusterName, 'a');
    assert.deepEqual(metadata, again.metadata);
    assert.ok(revisionOf(mark!.object) > revisionOf(added!.object), 'clients go on from here');
    watch.close();
  });

  test('a tenant that another API server serves is not visible, whatever is in its range, and comes back as a whole', async () => {
    await using server = await TenancyServer.open();
    await add(server, await server.make('a'), 'one');
    await add(server, await server.make('b'), 'two');
    const content = await contentOf(server, 'a');
    const from = await server.store.revision();
    const watch = await server.watch(`${maps}?watch=true&resourceVersion=${from}`);
    const marked = await server.watch(`${maps}?watch=true&allowWatchBookmarks=true&resourceVersion=${from}`);
    await moveAway(server, 'a');
    assert.deepEqual(await listed(server), ['b/two']);
    const [mark, left] = await marked.events(2);
    assert.deepEqual([mark!.type, left!.type], ['BOOKMARK', 'DELETED']);
    assert.deepEqual(mark!.object.metadata, {
      resourceVersion: String(revisionOf(left!.object) - 1),
      annotations: { 'tenancy.hangar.dev/moved-cluster': 'a' },
    });
    marked.close();
    await server.expect(201, 'POST', `${tenants}/a/replica?id=x&action=delete`);
    await moveBack(server, 'a', content);
    assert.deepEqual(await listed(server), ['a/one', 'b/two']);
    await add(server, planePath('a'), 'three');
    assert.deepEqual(await events(watch, 3), ['DELETED a/one', 'ADDED a/one', 'ADDED a/three']);
    watch.close();
  });

  test('a tenant that a migration holds stays visible', async () => {
    await using server = await TenancyServer.open();
    await add(server, await server.make('a'), 'one');
    const watch = await server.watch(`${maps}?watch=true&resourceVersion=${await server.store.revision()}`);
    await server.expect(201, 'POST', `${tenants}/a/hold?id=m`);
    assert.deepEqual(await listed(server), ['a/one']);
    await server.expect(201, 'POST', `${tenants}/a/release?id=m`);
    await add(server, planePath('a'), 'two');
    assert.deepEqual(await events(watch, 1), ['ADDED a/two']);
    watch.close();
  });

  test('suspended tenants are seen', async () => {
    await using server = await TenancyServer.open();
    await add(server, await server.make('a'), 'one');
    await merge(server, `${tenants}/a`, { spec: { suspension: 'Offline' } });
    assert.deepEqual(await listed(server), ['a/one']);
  });

  test('what is made of a tenant’s keys is there as soon as they are', async () => {
    await using server = await TenancyServer.open();
    const target = `${all}/api/v1/configmaps`;
    const watch = await server.watch(`${target}?watch=true&resourceVersion=${await server.store.revision()}`);
    const a = await server.make('a');
    const own = await server.expect(200, 'GET', `${a}/api/v1/configmaps`);
    const seen = (await server.expect(200, 'GET', target)).items.filter(
      (one: Data) => one.metadata.clusterName === 'a',
    );
    assert.ok(own.items.some((one: Data) => one.metadata.name === 'extension-apiserver-authentication'));
    const added = await watch.events(own.items.length);
    assert.ok(added.every(({ type }) => type === 'ADDED'));
    for (const { metadata } of [...seen, ...added.map(({ object }) => object)]) {
      assert.equal(metadata.clusterName, 'a');
      delete metadata.clusterName;
    }
    assert.deepEqual(seen, own.items);
    const byUid = (one: Data, other: Data): number => (one.metadata.uid < other.metadata.uid ? -1 : 1);
    const untyped = added.map(({ object }): Data => withoutType(object));
    assert.deepEqual(untyped.toSorted(byUid), own.items.toSorted(byUid));
    watch.close();
  });

  test('who begins before history begins is told so', async () => {
    await using server = await TenancyServer.open();
    const from = await server.store.revision();
    await add(server, '', 'one');
    await add(server, '', 'two');
    await server.store.compact(await server.store.revision());
    const watch = await server.watch(`${maps}?watch=true&resourceVersion=${from}`);
    const [error] = await watch.events(1);
    assert.deepEqual([error!.type, error!.object.code], ['ERROR', 410]);
    await watch.ended();
  });

  test('who does not keep up with more than history holds is told so', async () => {
    const store = await openMemoryStore({ watchQueueLengthMax: 4 });
    await using server = await TenancyServer.open({ store });
    const { status, body } = await server.answer('GET', `${maps}?watch=true&resourceVersion=${await store.revision()}`);
    assert.ok(status === 200 && isStreaming(body));
    const sink = new TestSink();
    sink.takesMore = false;
    body.start(sink);
    await add(server, '', 'one');
    await sink.changed();
    for (let at = 0; at < 50; at++) await merge(server, `${configMaps}/one`, { data: { at: String(at) } });
    await store.compact(await store.revision());
    while (!sink.isEnded) {
      const changed = sink.changed();
      sink.drain();
      await changed;
    }
    const last = JSON.parse(sink.chunks.at(-1)!.toString());
    assert.deepEqual([last.type, last.object.code], ['ERROR', 410]);
    await store.close();
  });
});
