import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isStreaming } from '../../http/message.ts';
import { planePath, tenants, TenancyServer } from '../../testing/tenancy-server.ts';
import { configMap, configMaps, definition, definitions, TestSink, widget } from '../../testing/test-server.ts';
import type { Data } from '../../testing/test-server.ts';
import { all, maps, told, listed, events, add, merge, revisionOf } from './testing.ts';

describe('a list of all control planes', () => {
  test('has every object with the name of its control plane, as of one revision', async () => {
    await using server = await TenancyServer.open();
    const [a, b] = [await server.make('a'), await server.make('b')];
    await add(server, b, 'one');
    const own = await add(server, a, 'one', { clusterName: 'b', labels: { x: 'y' } });
    await add(server, '', 'top');
    assert.equal(own.metadata.clusterName, undefined);
    const list = await server.expect(200, 'GET', maps);
    assert.deepEqual([list.kind, list.apiVersion], ['ConfigMapList', 'v1']);
    assert.equal(revisionOf(list), await server.store.revision());
    assert.deepEqual(list.items.map(told), ['a/one', 'b/one', 'root/top']);
    const { clusterName, ...metadata } = list.items[0].metadata;
    assert.equal(clusterName, 'a');
    assert.deepEqual(metadata, own.metadata);
    assert.equal(list.metadata.remainingItemCount, undefined);
  });

  test('has what control planes are born with, with UIDs of their own', async () => {
    await using server = await TenancyServer.open();
    await server.make('a');
    await server.make('b');
    const target = '/api/v1/namespaces';
    const { items } = await server.expect(200, 'GET', `${all}${target}`);
    assert.equal(items.length, 12);
    for (const path of ['a', 'b', 'root']) {
      const own = await server.expect(200, 'GET', `${path === 'root' ? '' : planePath(path)}${target}`);
      const seen = items.filter((one: Data) => one.metadata.clusterName === path);
      for (const one of seen) delete one.metadata.clusterName;
      assert.deepEqual(seen, own.items);
    }
  });

  test('is cut into pages that stay on its revision', async () => {
    await using server = await TenancyServer.open();
    const paths = [await server.make('a'), await server.make('b-b'), await server.make('b'), ''];
    for (const path of paths) for (const name of ['x', 'y', 'z']) await add(server, path, name);
    const whole = await listed(server);
    assert.equal(whole.length, 12);
    for (const limit of [1, 2, 5, 11, 12, 13]) {
      const seen: string[] = [];
      let [target, revision] = [`${maps}?limit=${limit}`, ''];
      for (;;) {
        const { items, metadata } = await server.expect(200, 'GET', target);
        assert.equal((revision ||= metadata.resourceVersion), metadata.resourceVersion);
        seen.push(...items.map(told));
        if (!metadata.continue) break;
        assert.equal(items.length, limit);
        target = `${maps}?limit=${limit}&continue=${metadata.continue}`;
        await merge(server, `${paths[1]}${configMaps}/z`, { data: { limit: `${seen.length}` } });
      }
      assert.deepEqual(seen, whole, `in pages of ${limit}`);
    }
  });

  test('is selected by labels, fields and namespaces', async () => {
    await using server = await TenancyServer.open();
    const [a, b] = [await server.make('a'), await server.make('b')];
    await add(server, a, 'one', { labels: { on: 'yes' } });
    await add(server, a, 'two');
    await add(server, b, 'one');
    const everywhere = `${all}/api/v1/configmaps`;
    assert.deepEqual(await listed(server, `${everywhere}?labelSelector=on%3Dyes`), ['a/one']);
    assert.deepEqual(await listed(server, `${everywhere}?fieldSelector=metadata.name%3Done`), ['a/one', 'b/one']);
    const inDefault = `${everywhere}?fieldSelector=metadata.namespace%3Ddefault`;
    assert.deepEqual(await listed(server, inDefault), ['a/one', 'a/two', 'b/one']);
    assert.deepEqual(await listed(server, `${maps}?limit=1&fieldSelector=metadata.name%3Dtwo`), ['a/two']);
    assert.ok((await listed(server, everywhere)).length > 3);
    await server.expect(400, 'GET', `${all}/api/v1/namespaces/a%2Fb/configmaps`);
    await server.expect(400, 'GET', `${everywhere}?labelSelector=%2F%2F`);
    await server.expect(400, 'GET', `${everywhere}?fieldSelector=spec.no%3Dx`);
  });

  test('is of the revision that is asked for, while there is history', async () => {
    await using server = await TenancyServer.open();
    const a = await server.make('a', { deletionPolicy: 'Destroy' });
    await add(server, a, 'one');
    const before = await server.store.revision();
    await server.expect(200, 'DELETE', `${tenants}/a`);
    assert.deepEqual(await listed(server), []);
    const exact = `${maps}?resourceVersion=${before}&resourceVersionMatch=Exact`;
    assert.deepEqual(await listed(server, exact), ['a/one']);
    const { metadata } = await server.expect(200, 'GET', `${all}/api/v1/namespaces?limit=1`);
    await add(server, '', 'later');
    await server.store.compact(await server.store.revision());
    assert.equal((await server.expect(410, 'GET', exact)).reason, 'Expired');
    const gone = await server.expect(410, 'GET', `${all}/api/v1/namespaces?limit=1&continue=${metadata.continue}`);
    const rest = await listed(server, `${all}/api/v1/namespaces?continue=${gone.metadata.continue}`);
    assert.equal(rest.length, 3, 'the token of the refusal goes on with what is there now');
    await server.expect(400, 'GET', `${maps}?continue=nonsense`);
  });

  test('that is long is sent while it is read', async () => {
    await using server = await TenancyServer.open();
    const a = await server.make('a');
    await add(server, a, 'first');
    const { entry } = await server.store.get('/registry/clusters/a/configmaps/default/first');
    for (const path of ['a', 'root']) {
      for (let at = 0; at < 1_500; at++) {
        const name = `n${String(at).padStart(4, '0')}`;
        const value = Buffer.from(Buffer.from(entry!.value).toString().replace('"first"', `"${name}"`));
        const key = `/registry/clusters/${path}/configmaps/default/${name}`;
        await server.store.commit([{ type: 'put', key, value }]);
      }
    }
    const { status, body } = await server.answer('GET', maps);
    assert.equal(status, 200);
    assert.ok(isStreaming(body));
    assert.ok(body.isFinite, 'a server that closes does not end it');
    const sink = new TestSink();
    sink.takesMore = false;
    body.start(sink);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    const waiting = Buffer.concat(sink.chunks).toString();
    assert.ok(waiting.includes('n0005') && !waiting.includes('n1400'), 'it waits for who reads it');
    while (!sink.isEnded) {
      const changed = sink.changed();
      sink.drain();
      await changed;
    }
    const list = JSON.parse(Buffer.concat(sink.chunks).toString());
    assert.deepEqual([list.kind, list.items.length], ['ConfigMapList', 3_001]);
    assert.equal(new Set(list.items.map(told)).size, 3_001);
    assert.deepEqual([told(list.items[0]), told(list.items.at(-1))], ['a/first', 'root/n1499']);
  });
});

describe('formats', () => {
  test('tables, metadata and YAML say whose an object is; protobuf cannot, and is refused', async () => {
    await using server = await TenancyServer.open();
    await add(server, await server.make('a'), 'one');
    const as = async (accept: string): Promise<Data> => server.expect(200, 'GET', maps, { accept });
    const table = await as('application/json;as=Table;g=meta.k8s.io;v=v1');
    assert.equal(table.kind, 'Table');
    assert.equal(told(table.rows[0].object), 'a/one');
    const partial = await as('application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1');
    assert.equal(told(partial.items[0]), 'a/one');
    const yaml = await server.request('GET', maps, { accept: 'application/yaml' });
    assert.match(yaml.text, /clusterName: a/);
    const protobuf = 'application/vnd.kubernetes.protobuf';
    for (const query of ['', '?watch=true']) {
      const { status, text } = await server.request('GET', `${maps}${query}`, { accept: protobuf });
      assert.equal(status, 406);
      assert.match(text, /protobuf has no field for the name of the control plane/);
    }
    assert.equal(told((await as(`${protobuf},application/json`)).items[0]), 'a/one');
    const watch = await server.watch(`${maps}?watch=true`, { accept: `${protobuf},application/json` });
    assert.deepEqual(await events(watch, 1), ['ADDED a/one']);
    watch.close();
  });

  test('a name that somebody else stored is not believed', async () => {
    await using server = await TenancyServer.open();
    const a = await server.make('a');
    await add(server, a, 'one');
    const key = '/registry/clusters/a/configmaps/default/one';
    const text = Buffer.from((await server.store.get(key)).entry!.value).toString();
    for (const forged of ['"clusterName":"b",', '"cluster\\u004eame":"b",']) {
      const value = Buffer.from(text.replace('"creationTimestamp"', `${forged}"creationTimestamp"`));
      assert.equal(JSON.parse(value.toString()).metadata.clusterName, 'b');
      await server.store.commit([{ type: 'put', key, value }]);
      const { text: answered } = await server.request('GET', maps);
      assert.deepEqual(JSON.parse(answered).items.map(told), ['a/one']);
      assert.equal(answered.split('clusterName').length, 2);
    }
  });
});

describe('names that look like the way to a tenant', () => {
  test('confuse nothing', async () => {
    await using server = await TenancyServer.open();
    const clusters = await server.make('clusters');
    await server.make('control-plane');
    const namespace = { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'clusters' } };
    for (const path of [clusters, '']) {
      await server.expect(201, 'POST', `${path}/api/v1/namespaces`, { body: namespace });
      for (const name of ['clusters', 'control-plane', 'configmaps']) {
        await server.expect(201, 'POST', `${path}/api/v1/namespaces/clusters/configmaps`, { body: configMap(name) });
      }
    }
    const target = `${all}/api/v1/namespaces/clusters/configmaps`;
    const six = ['clusters', 'root'].flatMap((one) =>
      ['clusters', 'configmaps', 'control-plane'].map((two) => `${one}/${two}`),
    );
    assert.deepEqual(await listed(server, target), six);
    const plural = { plural: 'clusters', kind: 'Cluster', group: 'clusters.example.com' };
    const custom = `/apis/clusters.example.com/v1/namespaces/default/clusters`;
    const watch = await server.watch(
      `${all}/apis/clusters.example.com/v1/clusters?watch=true&resourceVersion=${await server.store.revision()}`,
    );
    for (const path of [clusters, planePath('control-plane')]) {
      await server.expect(201, 'POST', `${path}${definitions}`, { body: definition(plural) });
      const body = { kind: 'Cluster', apiVersion: 'clusters.example.com/v1', metadata: { name: 'root' } };
      await server.expect(201, 'POST', `${path}${custom}`, { body });
    }
    assert.deepEqual(await events(watch, 2), ['ADDED clusters/root', 'ADDED control-plane/root']);
    assert.deepEqual(await listed(server, `${all}${custom}`), ['clusters/root', 'control-plane/root']);
    watch.close();
  });

  test('nothing of the server’s own is a resource', async () => {
    await using server = await TenancyServer.open();
    const a = await server.make('a');
    await server.expect(200, 'GET', `${a}/api/v1/namespaces`);
    await server.expect(200, 'DELETE', `${a}/apis/rbac.authorization.k8s.io/v1/clusterroles/view`);
    for (const path of [
      '.hangar/v1/keys',
      '.hangar/v1/tenant',
      '.hidden/v1/rbac.authorization.k8s.io',
      '../v1/a',
      '%2e%2e/v1/a',
    ]) {
      await server.expect(404, 'GET', `${all}/apis/${path}`).catch((error: Error) => {
        // A 404 of the router has no Status object.
        assert.match(error.message, /404 page not found/);
      });
    }
  });
});

describe('custom resources', () => {
  test('of tenants with different definitions are answered as they are stored', async () => {
    await using server = await TenancyServer.open();
    const [a, b] = [await server.make('a'), await server.make('b')];
    const version = (name: string, storage: boolean): object => ({
      name,
      served: true,
      storage,
      schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    });
    await server.expect(201, 'POST', `${a}${definitions}`, { body: definition() });
    const other = definition({
      kind: 'Gadget',
      scope: 'Cluster',
      versions: [version('v1', false), version('v2', true)],
    });
    await server.expect(201, 'POST', `${b}${definitions}`, { body: other });
    const target = '/apis/example.com/v1/widgets';
    assert.deepEqual((await server.expect(200, 'GET', `${all}${target}`)).items, []);
    const query = 'watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan';
    const watch = await server.watch(`${all}${target}?${query}`);
    assert.equal((await watch.events(1))[0]!.type, 'BOOKMARK');
    const one = await server.expect(201, 'POST', `${a}/apis/example.com/v1/namespaces/default/widgets`, {
      body: widget('one', { size: 1 }, { clusterName: 'b' }),
    });
    assert.equal(one.metadata.clusterName, undefined);
    const body = { kind: 'Gadget', apiVersion: 'example.com/v1', metadata: { name: 'two' }, spec: 'a text' };
    await server.expect(201, 'POST', `${b}/apis/example.com/v1/widgets`, { body });
    const { items, kind } = await server.expect(200, 'GET', `${all}${target}`);
    assert.match(kind, /^(Widget|Gadget)List$/);
    assert.deepEqual(
      items.map((one: Data) => [one.apiVersion, one.kind, told(one), one.spec]),
      [
        ['example.com/v1', 'Widget', 'a/one', { size: 1 }],
        ['example.com/v2', 'Gadget', 'b/two', 'a text'],
      ],
    );
    assert.deepEqual(await events(watch, 2), ['ADDED a/one', 'ADDED b/two']);
    assert.deepEqual(await listed(server, `${all}/apis/example.com/v1/namespaces/default/widgets`), ['a/one']);
    watch.close();
  });

  test('that nobody defines are an empty list; built-in ones that are not served are not found', async () => {
    await using server = await TenancyServer.open();
    const list = await server.expect(200, 'GET', `${all}/apis/example.com/v1/nobodys`);
    assert.deepEqual([list.items, list.kind, list.apiVersion], [[], 'List', 'example.com/v1']);
    for (const path of ['/api/v1/nobodys', '/apis/apps/v9/deployments', '/api/v1/bindings', '/api/v2/pods']) {
      await server.expect(404, 'GET', `${all}${path}`);
    }
    assert.deepEqual(await listed(server, `${all}/apis/tenancy.hangar.dev/v1alpha1/tenants`), []);
    await server.make('a');
    assert.deepEqual(await listed(server, `${all}/apis/tenancy.hangar.dev/v1alpha1/tenants`), ['root/a']);
  });
});
