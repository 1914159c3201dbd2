import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { configMap, configMaps, TestServer } from '../testing/test-server.ts';
import type { Data, Sent } from '../testing/test-server.ts';

const pods = '/api/v1/namespaces/default/pods';
const deployments = '/apis/apps/v1/namespaces/default/deployments';
const options = (body: object): Sent => ({ body: { kind: 'DeleteOptions', apiVersion: 'v1', ...body } });
const names = (list: Data): string[] => list.items.map((item: Data) => item.metadata.name);
const pod = (name: string, spec: object = {}): object => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});

test('an object goes at once, and the answer says which it was', async () => {
  await using server = await TestServer.start();
  const { metadata } = await server.create(configMaps, configMap('a'));
  const answer = await server.remove(`${configMaps}/a`);
  assert.deepEqual(
    [answer.kind, answer.status, answer.details],
    ['Status', 'Success', { name: 'a', kind: 'configmaps', uid: metadata.uid }],
  );
  const gone = await server.expect(404, 'DELETE', `${configMaps}/a`);
  assert.equal(gone.message, 'configmaps "a" not found');
});

test('finalizers keep an object until the last is taken away', async () => {
  await using server = await TestServer.start();
  await server.create(configMaps, configMap('a', {}, { finalizers: ['example.com/x', 'example.com/y'] }));
  const marked = await server.remove(`${configMaps}/a`);
  assert.ok(marked.metadata.deletionTimestamp);
  const again = await server.remove(`${configMaps}/a`);
  assert.equal(again.metadata.resourceVersion, marked.metadata.resourceVersion, 'it is marked already');
  const patch = (finalizers: string[] | null): Promise<Data> =>
    server.merge(`${configMaps}/a`, { metadata: { finalizers } });
  await patch(['example.com/y']);
  const added = await server.request('PATCH', `${configMaps}/a`, {
    body: { metadata: { finalizers: ['example.com/y', 'example.com/z'] } },
    contentType: 'application/merge-patch+json',
  });
  assert.equal(added.status, 422, 'what is going away takes no new ones');
  await patch(null);
  await server.expect(404, 'GET', `${configMaps}/a`);
});

describe('preconditions', () => {
  test('of uid and version are kept', async () => {
    await using server = await TestServer.start();
    const { metadata } = await server.create(configMaps, configMap('a'));
    const uid = await server.expect(409, 'DELETE', `${configMaps}/a`, options({ preconditions: { uid: 'other' } }));
    assert.match(uid.message, /the UID in the precondition \(other\) does not match/);
    const version = await server.expect(
      409,
      'DELETE',
      `${configMaps}/a`,
      options({ preconditions: { resourceVersion: '1' } }),
    );
    assert.match(version.message, /the ResourceVersion in the precondition \(1\) does not match/);
    const { uid: own, resourceVersion } = metadata;
    await server.expect(200, 'DELETE', `${configMaps}/a`, options({ preconditions: { uid: own, resourceVersion } }));
  });

  test('of the version hold for a pod that goes at once, whose end is announced before', async () => {
    await using server = await TestServer.start();
    const created = await server.create(pods, pod('a'));
    const { resourceVersion } = created.metadata;
    const watch = await server.watch(`${pods}?watch=1&resourceVersion=${resourceVersion}`);
    await server.expect(200, 'DELETE', `${pods}/a`, options({ preconditions: { resourceVersion } }));
    assert.deepEqual(await watch.told(2), ['MODIFIED a', 'DELETED a']);
    await server.expect(404, 'GET', `${pods}/a`);
    watch.close();
  });
});

test('a pod on a node has its grace, which may be cut short but not prolonged', async () => {
  await using server = await TestServer.start();
  await server.create(pods, pod('a', { nodeName: 'node', terminationGracePeriodSeconds: 60 }));
  const grace = async (seconds?: number): Promise<number> => {
    const sent = seconds === undefined ? {} : options({ gracePeriodSeconds: seconds });
    return (await server.expect(200, 'DELETE', `${pods}/a`, sent)).metadata.deletionGracePeriodSeconds;
  };
  assert.equal(await grace(), 60);
  assert.equal(await grace(90), 60);
  assert.equal(await grace(), 60);
  assert.equal(await grace(5), 5);
  const { metadata } = await server.get(`${pods}/a`);
  assert.equal(metadata.deletionGracePeriodSeconds, 5);
  await server.expect(200, 'DELETE', `${pods}/a?gracePeriodSeconds=0`);
  await server.expect(404, 'GET', `${pods}/a`);
});

describe('what becomes of dependents', () => {
  const deployment = (name: string): object => ({
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: { name },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  });
  const cases: [asked: object, finalizers: string[] | undefined][] = [
    [{}, undefined],
    [{ propagationPolicy: 'Background' }, undefined],
    [{ propagationPolicy: 'Foreground' }, ['foregroundDeletion']],
    [{ propagationPolicy: 'Orphan' }, ['orphan']],
    [{ orphanDependents: true }, ['orphan']],
    [{ orphanDependents: false }, undefined],
  ];
  for (const [asked, finalizers] of cases) {
    test(`${JSON.stringify(asked)} ${finalizers ? `leaves it to ${finalizers[0]}` : 'is left to those who collect them'}`, async () => {
      await using server = await TestServer.start();
      await server.create(deployments, deployment('a'));
      const answer = await server.request('DELETE', `${deployments}/a`, options(asked));
      assert.ok(answer.status === 200 || answer.status === 202, answer.text);
      const left = await server.request('GET', `${deployments}/a`);
      assert.equal(left.status, finalizers ? 200 : 404);
      if (finalizers) assert.deepEqual(left.data.metadata.finalizers, finalizers);
    });
  }

  test('policies that do not exist, or two at once, are refused', async () => {
    await using server = await TestServer.start();
    await server.create(configMaps, configMap('a'));
    for (const asked of [
      { propagationPolicy: 'Maybe' },
      { propagationPolicy: 'Orphan', orphanDependents: true },
      { dryRun: ['Some'] },
    ]) {
      await server.expect(422, 'DELETE', `${configMaps}/a`, options(asked));
    }
    for (const body of ['[]', '{', '"x"', '{"kind":"Pod"}', '{"gracePeriodSeconds":"x"}', '{"preconditions":7}']) {
      await server.expect(400, 'DELETE', `${configMaps}/a`, { body });
    }
    await server.get(`${configMaps}/a`);
  });
});

describe('a collection', () => {
  test('goes as far as the selectors say, in one namespace', async () => {
    await using server = await TestServer.start();
    const other = '/api/v1/namespaces/kube-public/configmaps';
    for (const [path, name, on] of [
      [configMaps, 'a', 'yes'],
      [configMaps, 'b', 'no'],
      [configMaps, 'c', 'yes'],
      [other, 'a', 'yes'],
    ] as const) {
      await server.create(path, configMap(name, {}, { labels: { on } }));
    }
    const answer = await server.remove(`${configMaps}?labelSelector=on%3Dyes`);
    assert.equal(answer.kind, 'ConfigMapList');
    assert.deepEqual(names(await server.get(configMaps)), ['b']);
    assert.deepEqual(names(await server.get(other)), ['a']);
  });

  test('of all namespaces cannot be deleted', async () => {
    await using server = await TestServer.start();
    await server.create(configMaps, configMap('a'));
    await server.expect(405, 'DELETE', '/api/v1/configmaps');
    await server.expect(405, 'POST', '/api/v1/configmaps', { body: configMap('b') });
    await server.get(`${configMaps}/a`);
  });

  test('of thousands is deleted completely, whatever else happens', async () => {
    await using server = await TestServer.start();
    await Promise.all(Array.from({ length: 1_050 }, (_, at) => server.create(configMaps, configMap(`m${at}`))));
    const [answer] = await Promise.all([
      server.remove(configMaps),
      server.request('DELETE', `${configMaps}/m7`),
      server.request('DELETE', `${configMaps}/m1049`),
    ]);
    assert.ok(answer.items.length >= 1_048);
    assert.deepEqual(names(await server.get(configMaps)), []);
  });

  test('is deleted apart from objects that are in conflict, and the answer is the first conflict', async () => {
    await using server = await TestServer.start();
    // More than one batch: the last one is reached after conflicts.
    for (let at = 100; at < 150; at++) await server.create(configMaps, configMap(`m${at}`));
    const { metadata } = await server.get(`${configMaps}/m149`);
    const asked = options({ preconditions: { uid: metadata.uid } });
    const { message } = await server.expect(409, 'DELETE', configMaps, asked);
    assert.match(message, /"m1\d\d": the UID in the precondition/);
    const left = names(await server.get(configMaps));
    assert.deepEqual([left.length, left.includes('m149')], [49, false]);
  });

  test('keeps what has finalizers, marked', async () => {
    await using server = await TestServer.start();
    await server.create(configMaps, configMap('a', {}, { finalizers: ['example.com/x'] }));
    await server.create(configMaps, configMap('b'));
    await server.remove(configMaps);
    const left = await server.get(configMaps);
    assert.deepEqual(names(left), ['a']);
    assert.ok(left.items[0].metadata.deletionTimestamp);
  });
});

test('a deletion and an update at the same time leave either the update or nothing', async () => {
  await using server = await TestServer.start();
  for (let round = 0; round < 10; round++) {
    await server.create(configMaps, configMap('a'));
    const [patched, deleted] = await Promise.all([
      server.request('PATCH', `${configMaps}/a`, {
        body: { data: { x: 'y' } },
        contentType: 'application/merge-patch+json',
      }),
      server.request('DELETE', `${configMaps}/a`),
    ]);
    assert.ok(patched.status === 200 || patched.status === 404 || patched.status === 409, patched.text);
    assert.equal(deleted.status, 200, 'a deletion without conditions succeeds');
    await server.expect(404, 'GET', `${configMaps}/a`);
  }
});
