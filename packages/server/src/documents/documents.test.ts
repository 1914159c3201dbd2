import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { definition, definitions, TestServer, version } from '../testing/test-server.ts';
import type { Data } from '../testing/test-server.ts';
import { healthAnswer } from './health.ts';

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';

describe('discovery', () => {
  test('has every group, version and resource, in each of its forms', async () => {
    await using server = await TestServer.start();
    assert.deepEqual((await server.get('/api')).versions, ['v1']);
    const groups = new Set((await server.get('/apis')).groups.map((one: Data) => one.name));
    for (const name of ['apps', 'batch', 'rbac.authorization.k8s.io', 'apiextensions.k8s.io'])
      assert.ok(groups.has(name), name);
    const resources = new Set((await server.get('/api/v1')).resources.map((one: Data) => one.name));
    for (const name of ['pods', 'pods/status', 'configmaps', 'namespaces/finalize'])
      assert.ok(resources.has(name), name);
    assert.equal((await server.get('/apis/apps/v1')).groupVersion, 'apps/v1');
    assert.equal((await server.get('/apis/apps')).preferredVersion.groupVersion, 'apps/v1');
    for (const path of [
      '/apis/nothing',
      '/apis/apps/v7',
      '/api/v7',
      '/apis//v1',
      '/apis/__proto__',
      '/api/v1/nothing',
      '/apis/apps/v1/nothing',
    ]) {
      assert.equal((await server.request('GET', path)).status, 404, path);
    }
    for (const path of ['/api/', '/apis/', '/api/v1/', '/apis/apps/', '/apis/apps/v1/']) {
      assert.equal((await server.request('GET', path)).status, 200, path);
    }
    assert.equal((await server.request('POST', '/apis')).status >= 400, true);
  });

  test('that is aggregated has an ETag, which changes with a definition and comes back without it', async () => {
    await using server = await TestServer.start();
    const ask = (etag?: string) =>
      server.request('GET', '/apis', {
        accept: aggregated,
        ...(etag === undefined ? {} : { headers: { 'if-none-match': etag } }),
      });
    const first = await ask();
    assert.match(first.headers['content-type'] as string, /as=APIGroupDiscoveryList/);
    const etag = first.headers['etag'] as string;
    assert.equal((await ask(etag)).status, 304);
    assert.equal((await ask(etag)).bytes.length, 0);
    await server.create(definitions, definition());
    const changed = await ask(etag);
    assert.equal(changed.status, 200);
    assert.notEqual(changed.headers['etag'], etag);
    assert.ok(changed.data.items.some((one: Data) => one.metadata.name === 'example.com'));
    await server.remove(`${definitions}/widgets.example.com`);
    await server.until('it is gone', async () => (await ask()).headers['etag'] === etag);
  });

  test('follows what a definition serves', async () => {
    await using server = await TestServer.start();
    await server.create(definitions, definition({ names: { shortNames: ['wd'], categories: ['all'] } }));
    const [resource] = (await server.get('/apis/example.com/v1')).resources;
    assert.deepEqual(
      [resource.name, resource.kind, resource.namespaced, resource.shortNames, resource.categories],
      ['widgets', 'Widget', true, ['wd'], ['all']],
    );
    const current = await server.get(`${definitions}/widgets.example.com`);
    current.spec.versions[0].subresources = { status: {} };
    await server.update(`${definitions}/widgets.example.com`, current);
    const names = (await server.get('/apis/example.com/v1')).resources.map((one: Data) => one.name);
    assert.deepEqual(names, ['widgets', 'widgets/status']);
  });
});

describe('OpenAPI', () => {
  test('of a group changes its hash with its schema, and that of others stays', async () => {
    await using server = await TestServer.start();
    const paths = async (): Promise<Record<string, { serverRelativeURL: string }>> =>
      (await server.get('/openapi/v3')).paths;
    const before = await paths();
    await server.create(definitions, definition());
    const created = await paths();
    const own = 'apis/example.com/v1';
    assert.equal(before[own], undefined);
    assert.ok(created[own]);
    assert.deepEqual(created['apis/apps/v1'], before['apis/apps/v1']);
    const current = await server.get(`${definitions}/widgets.example.com`);
    current.spec.versions = [version('v1', { size: { type: 'integer' }, colour: { type: 'string' } })];
    await server.update(`${definitions}/widgets.example.com`, current);
    const after = await paths();
    assert.notEqual(after[own]!.serverRelativeURL, created[own].serverRelativeURL);

    const url = after[own]!.serverRelativeURL;
    const document = await server.request('GET', url);
    assert.equal(document.status, 200);
    assert.equal(document.headers['cache-control'], 'public, immutable');
    assert.match(document.text, /"colour"/);
    const moved = await server.request('GET', created[own].serverRelativeURL);
    assert.deepEqual([moved.status, moved.headers['location']], [301, url]);
    const same = await server.request('GET', `/openapi/v3/${own}`, {
      headers: { 'if-none-match': document.headers['etag'] as string },
    });
    assert.equal(same.status, 304);
    for (const path of ['apis/nothing/v1', '__proto__', '']) {
      assert.equal((await server.request('GET', `/openapi/v3/${path}`)).status, 404, path);
    }
  });

  test('of version 2 is JSON, or the protobuf that older clients ask for, with an ETag', async () => {
    await using server = await TestServer.start();
    const json = await server.request('GET', '/openapi/v2');
    assert.equal(json.data.swagger, '2.0');
    const etag = json.headers['etag'] as string;
    assert.equal((await server.request('GET', '/openapi/v2', { headers: { 'if-none-match': etag } })).status, 304);
    const protobuf = await server.request('GET', '/openapi/v2', {
      accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
    });
    assert.match(protobuf.headers['content-type'] as string, /protobuf/);
    assert.ok(protobuf.bytes.length > 1_000 && protobuf.data === undefined);
    // The ETag of one format does not match the other.
    const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
    const across = await server.request('GET', '/openapi/v2', { accept, headers: { 'if-none-match': etag } });
    assert.equal(across.status, 200);
    const headers = { 'if-none-match': protobuf.headers['etag'] as string };
    assert.equal((await server.request('GET', '/openapi/v2', { accept, headers })).status, 304);
    assert.equal((await server.request('GET', '/openapi/v2', { headers })).status, 200);
  });
});

test('the root names what there is, and the version says which Kubernetes it is', async () => {
  await using server = await TestServer.start();
  const { paths } = await server.get('/');
  for (const path of ['/api', '/api/v1', '/apis/apps/v1', '/version']) assert.ok(paths.includes(path), path);
  const info = await server.get('/version');
  assert.equal(`${info.major}.${info.minor}`, '1.36');
  assert.match(info.gitVersion, /^v1\.36\./);
  assert.equal((await server.request('GET', '/nothing')).status, 404);
});

describe('health', () => {
  const checks = (storeProblem?: string) => ({
    livez: [{ name: 'ping', check: () => undefined }],
    readyz: [
      { name: 'ping', check: () => undefined },
      { name: 'store', check: () => Promise.resolve(storeProblem) },
    ],
  });
  const ask = async (path: string, problem?: string): Promise<[number, string]> => {
    const [at = '', query = ''] = path.split('?');
    const { status, body } = await healthAnswer(at, query, checks(problem));
    return [status, Buffer.from(body as Uint8Array).toString()];
  };

  test('is ok when all is, and says of each check what it found when it is asked', async () => {
    assert.deepEqual(await ask('/livez'), [200, 'ok']);
    assert.deepEqual(await ask('/readyz?verbose'), [200, '[+]ping ok\n[+]store ok\nreadyz check passed\n']);
    assert.deepEqual(await ask('/healthz?verbose='), [200, '[+]ping ok\n[+]store ok\nhealthz check passed\n']);
  });

  test('fails with what failed, without telling strangers why', async () => {
    const failed: [number, string] = [500, '[+]ping ok\n[-]store failed: reason withheld\nreadyz check failed\n'];
    assert.deepEqual(await ask('/readyz', 'the disk is full'), failed);
    assert.deepEqual(await ask('/readyz?verbose', 'the disk is full'), failed);
    assert.deepEqual(await ask('/livez', 'the disk is full'), [200, 'ok']);
  });

  test('may leave out checks, or be asked for one', async () => {
    assert.deepEqual(await ask('/readyz?exclude=store', 'x'), [200, 'ok']);
    assert.deepEqual(await ask('/readyz?exclude=store&verbose', 'x'), [
      200,
      '[+]ping ok\n[+]store excluded: ok\nreadyz check passed\n',
    ]);
    assert.deepEqual(await ask('/readyz/ping', 'x'), [200, 'ok']);
    assert.equal((await ask('/readyz/store', 'x'))[0], 500);
    await assert.rejects(ask('/readyz/other'), /404/);
    await assert.rejects(ask('/livez/store'), /404/);
  });

  test('is answered by the server to anybody', async () => {
    await using server = await TestServer.start({ health: checks('broken') });
    const ready = await server.request('GET', '/readyz', { token: null });
    assert.deepEqual([ready.status, ready.headers['content-type']], [500, 'text/plain; charset=utf-8']);
    assert.equal((await server.request('HEAD', '/livez', { token: null })).status, 200);
  });
});

test('JSON is indented for people, and for no program', async () => {
  await using server = await TestServer.start();
  const lines = async (target: string, userAgent?: string): Promise<boolean> =>
    (
      await server.request('GET', target, userAgent === undefined ? {} : { headers: { 'user-agent': userAgent } })
    ).text.includes('\n  ');
  assert.equal(await lines('/api/v1/namespaces/default'), false);
  assert.equal(await lines('/api/v1/namespaces/default?pretty=true'), true);
  assert.equal(await lines('/api/v1/namespaces/default', 'curl/8.0'), true);
  assert.equal(await lines('/api/v1/namespaces/default?pretty=0', 'curl/8.0'), false);
  assert.equal(await lines('/api/v1/namespaces/nothing?pretty=1'), true);
  assert.equal(await lines('/api/v1/namespaces/default', 'kubectl/v1.36'), false);
});
