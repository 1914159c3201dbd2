/** Values that one control plane returned — continue tokens, versions, uids, tags — are meaningless in another. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isMarked, inDefault, rbac, tenants } from '../testing/world.ts';
import type { Data, Resident, World } from '../testing/world.ts';

const encoded = (start: string, rv = -1): string =>
  Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv, start })).toString('base64url');

const namesIn = ({ items }: Data): string[] => items.map(({ metadata }: Data) => metadata.name as string);

export function replayCases(get: () => World): void {
  const listed = (one: Resident, token: string, path = '/api/v1/configmaps') =>
    one.request('GET', `${path}?limit=500&continue=${encodeURIComponent(token)}`);

  describe('continue tokens', () => {
    test('of one tenant show another nothing but its own', async () => {
      const { ada, bob } = get();
      const own = new Set(namesIn(await ada.get('/api/v1/configmaps')));
      for (const path of [
        '/api/v1/configmaps',
        `${inDefault}/configmaps`,
        '/api/v1/namespaces',
        `${rbac}/clusterroles`,
      ]) {
        const { metadata } = await bob.get(`${path}?limit=1`);
        assert.ok(metadata.continue, path);
        for (const target of ['/api/v1/configmaps', '/api/v1/namespaces', '/api/v1/secrets']) {
          const { status, text, data } = await listed(ada, metadata.continue as string, target);
          assert.ok([200, 400, 410].includes(status), text);
          assert.ok(!isMarked(text, bob.marker));
          if (status === 200 && target === '/api/v1/configmaps') {
            for (const name of namesIn(data)) assert.ok(own.has(name), name);
          }
        }
      }
    });

    test('that are made up lead into no other tenant, and to nothing that the server keeps', async () => {
      const { ada, bob } = get();
      for (const start of [
        '../../bob/configmaps/default/',
        '../../../bob/',
        '../.hangar/',
        '.hangar/keys',
        '../../.hangar/keys',
        '/registry/clusters/bob/',
        '\u0000',
        '\uffff',
        '\u{10ffff}',
        '',
        'default/../../../bob/configmaps/',
        '..',
        'zzzz/../../bob',
      ]) {
        for (const rv of [-1, 1]) {
          for (const path of ['/api/v1/configmaps', `${inDefault}/configmaps`, '/api/v1/namespaces']) {
            const { status, text } = await listed(ada, encoded(start, rv), path);
            assert.ok([200, 400, 410, 504].includes(status), `${start} ${rv}: ${status} ${text}`);
            assert.ok(!isMarked(text, bob.marker) && !text.includes('"seed"') && !text.includes('/registry/'), text);
          }
        }
      }
    });

    test('delete no more than a list would show', async () => {
      const { ada } = get();
      await get().touchesOnly([ada], async () => {
        const namespace = await ada.create('/api/v1/namespaces', { metadata: { name: 'emptied' } });
        assert.ok(namespace);
        for (const start of ['../../bob/configmaps/', '../', '/../../../bob/', '\u0000']) {
          const token = encodeURIComponent(encoded(start));
          await ada.request('DELETE', `/api/v1/namespaces/emptied/configmaps?limit=10&continue=${token}`);
        }
        assert.ok(namesIn(await ada.get(`${inDefault}/configmaps`)).includes('shared'));
      });
    });
  });

  describe('versions', () => {
    test('of another tenant’s objects are points in time, and show one’s own objects at them', async () => {
      const { ada, bob } = get();
      const { metadata } = await bob.merge(`${inDefault}/configmaps/shared`, { data: { again: bob.marker } });
      for (const query of [
        `resourceVersion=${metadata.resourceVersion}`,
        `resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=Exact`,
        `resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=NotOlderThan`,
        'resourceVersion=0',
        `resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=Exact&limit=1`,
      ]) {
        const { status, text } = await ada.request('GET', `/api/v1/configmaps?${query}`);
        assert.equal(status, 200, `${query}: ${text}`);
        assert.ok(!isMarked(text, bob.marker) && text.includes(ada.marker), query);
      }
      const precondition = { body: { preconditions: { resourceVersion: metadata.resourceVersion } } };
      await ada.expect(409, 'DELETE', `${inDefault}/configmaps/shared`, precondition);
      const body = { metadata: { name: 'shared', resourceVersion: metadata.resourceVersion }, data: {} };
      await ada.expect(409, 'PUT', `${inDefault}/configmaps/shared`, { body });
    });

    test('from before a tenant was there are too old in it, to read and to watch', async () => {
      const { ada, server } = get();
      const { metadata } = await ada.get(`${inDefault}/configmaps/shared`);
      const young = await get().tenant();
      for (const version of ['1', '2', metadata.resourceVersion]) {
        for (const query of [
          `resourceVersion=${version}&resourceVersionMatch=Exact`,
          `limit=1&resourceVersion=${version}`,
          `continue=${encoded('default/', Number(version))}&limit=5`,
        ]) {
          const { status, text } = await young.request('GET', `/api/v1/configmaps?${query}`);
          assert.equal(status, 410, `${query}: ${text}`);
          assert.ok(!isMarked(text, ada.marker));
        }
        const target = `${young.plane}/api/v1/configmaps?watch=true&resourceVersion=${version}`;
        const watch = await server.watch(target, young.administrator);
        const [{ type, object }] = (await watch.events(1)) as [Data];
        assert.deepEqual([type, object.code], ['ERROR', 410]);
        watch.close();
      }
    });

    test('of the future are waited for or refused, without a word about others', async () => {
      const { ada, bob } = get();
      const { status, text } = await ada.request('GET', '/api/v1/configmaps?resourceVersion=9000000000');
      assert.equal(status, 504, text);
      assert.ok(!isMarked(text, bob.marker) && !text.includes('/registry'));
    });

    test('of bookmarks and events of one tenant, watched from in another, bring its own events alone', async () => {
      const { ada, bob, server } = get();
      const query = 'watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
      const first = await server.watch(`${bob.plane}/api/v1/configmaps?${query}`, bob.administrator);
      let version = '';
      for (;;) {
        const [{ type, object }] = (await first.events(1)) as [Data];
        version = object.metadata.resourceVersion;
        if (type === 'BOOKMARK') break;
      }
      first.close();
      const target = `${ada.plane}/api/v1/configmaps?watch=true&resourceVersion=${version}`;
      const watch = await server.watch(target, ada.administrator);
      await bob.create(`${inDefault}/configmaps`, { metadata: { name: 'told' }, data: { mark: bob.marker } });
      await bob.remove(`${inDefault}/configmaps/told`);
      await ada.create(`${inDefault}/configmaps`, { metadata: { name: 'told' }, data: { mark: ada.marker } });
      await ada.remove(`${inDefault}/configmaps/told`);
      assert.deepEqual(await watch.told(2), ['ADDED told', 'DELETED told']);
      assert.ok(!Buffer.concat(watch.sink.chunks).toString().includes(bob.marker));
      watch.close();
    });
  });

  describe('identities', () => {
    test('uids of one tenant are no precondition that holds in another, nor is it told whose they are', async () => {
      const { ada, bob } = get();
      const { metadata } = await bob.get(`${inDefault}/configmaps/shared`);
      const { status, text } = await ada.request('DELETE', `${inDefault}/configmaps/shared`, {
        body: { preconditions: { uid: metadata.uid } },
      });
      assert.equal(status, 409, text);
      assert.ok(!isMarked(text, bob.marker));
      const body = { metadata: { name: 'shared', uid: metadata.uid }, data: { stolen: 'yes' } };
      await ada.expect(409, 'PUT', `${inDefault}/configmaps/shared`, { body });
      assert.deepEqual((await bob.get(`${inDefault}/configmaps/shared`)).data.stolen, undefined);
    });

    test('an object of one tenant put into another whole is a new object there, or none', async () => {
      const { ada, bob } = get();
      const theirs = await bob.get(`${inDefault}/configmaps/shared`);
      const moved = { ...theirs, metadata: { ...theirs.metadata, name: 'moved' } };
      const { status } = await ada.request('POST', `${inDefault}/configmaps`, { body: moved });
      // As in kube-apiserver: a version must not be set on creation.
      assert.equal(status, 500);
      const bare = { ...moved, metadata: { ...moved.metadata, resourceVersion: undefined } };
      const made = await ada.create(`${inDefault}/configmaps`, bare);
      assert.notEqual(made.metadata.uid, theirs.metadata.uid);
      assert.notEqual(made.metadata.resourceVersion, theirs.metadata.resourceVersion);
      await ada.remove(`${inDefault}/configmaps/moved`);
      assert.deepEqual(await bob.get(`${inDefault}/configmaps/shared`), theirs);
    });

    test('fields that one tenant’s managers own are no conflict in another', async () => {
      const { ada, bob } = get();
      const apply = (one: Resident, manager: string, value: string) =>
        one.request('PATCH', `${inDefault}/configmaps/applied?fieldManager=${manager}`, {
          contentType: 'application/apply-patch+yaml',
          body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' }, data: { field: value } },
        });
      assert.equal((await apply(bob, 'theirs', 'b')).status, 201);
      assert.equal((await apply(ada, 'mine', 'a')).status, 201);
      const again = await apply(ada, 'mine', 'c');
      assert.equal(again.status, 200);
      assert.ok(!again.text.includes('theirs'));
      for (const one of [ada, bob]) await one.remove(`${inDefault}/configmaps/applied`);
    });

    test('an owner with a uid of another tenant owns nothing there, and takes nothing along', async () => {
      const { ada, bob } = get();
      const { metadata } = await bob.get(`${inDefault}/configmaps/shared`);
      const ownerReferences = [
        { apiVersion: 'v1', kind: 'ConfigMap', name: 'shared', uid: metadata.uid, blockOwnerDeletion: true },
      ];
      await get().touchesOnly([ada], async () => {
        await ada.create(`${inDefault}/configmaps`, { metadata: { name: 'owned', ownerReferences } });
        for (const policy of ['Foreground', 'Background', 'Orphan']) {
          await ada.request('DELETE', `${inDefault}/configmaps/owned?propagationPolicy=${policy}`);
          await ada.request('POST', `${inDefault}/configmaps`, {
            body: { metadata: { name: 'owned', ownerReferences } },
          });
        }
        const finalizers = { metadata: { finalizers: null } };
        await ada.merge(`${inDefault}/configmaps/owned`, finalizers);
      });
      assert.ok(await bob.get(`${inDefault}/configmaps/shared`));
    });

    test('no two tenants share the uid of anything that they were born with', async () => {
      const { ada, bob } = get();
      const uids = async (one: Resident): Promise<string[]> =>
        (
          await Promise.all(
            ['/api/v1/namespaces', `${rbac}/clusterroles`, `${rbac}/clusterrolebindings`, '/api/v1/services'].map(
              (path) => one.get(path),
            ),
          )
        ).flatMap(({ items }: Data) => items.map(({ metadata }: Data) => metadata.uid as string));
      const all = [...(await uids(ada)), ...(await uids(bob))];
      assert.equal(new Set(all).size, all.length);
    });
  });

  test('tags of documents: what differs between tenants is sent, whatever tag is shown', async () => {
    const { bob } = get();
    const own = await get().tenant();
    const { definition, definitions } = await import('../../../packages/server/src/testing/test-server.ts');
    for (const [one, size] of [
      [own, 'string'],
      [bob, 'integer'],
    ] as const) {
      await one.create(definitions, definition({ group: `tags.example.com`, spec: { size: { type: size } } }));
    }
    for (const path of ['/openapi/v2', '/openapi/v3/apis/tags.example.com/v1', '/openapi/v3']) {
      const theirs = await bob.request('GET', path);
      const etag = String(theirs.headers['etag'] ?? theirs.headers['ETag']);
      const received = await own.request('GET', path, { headers: { 'if-none-match': etag } });
      assert.equal(received.status, 200, path);
      assert.notEqual(received.text, theirs.text);
    }
    await bob.remove(`${definitions}/widgets.tags.example.com`);
  });

  test('a list that was begun before a tenant was destroyed cannot be ended in the one that took its place', async () => {
    const world = get();
    const first = await world.tenant({ deletionPolicy: 'Destroy' });
    const { metadata } = await first.get(`/api/v1/configmaps?limit=1`);
    const { resourceVersion } = metadata;
    await world.expect(200, 'DELETE', `${tenants}/${first.name}`);
    await world.server.make(first.name);
    for (const query of [
      `limit=5&continue=${encodeURIComponent(metadata.continue as string)}`,
      `resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`,
    ]) {
      const { status, text } = await world.ask('GET', `${first.plane}/api/v1/configmaps?${query}`, {});
      assert.equal(status, 410, text);
      // Except for the requested path, which the answer repeats.
      assert.ok(!text.includes(first.marker));
    }
    const watch = await world.server.watch(
      `${first.plane}/api/v1/configmaps?watch=true&resourceVersion=${resourceVersion}`,
    );
    const [{ object }] = (await watch.events(1)) as [Data];
    assert.equal(object.code, 410);
    watch.close();
  });
}
