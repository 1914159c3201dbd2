/** Everything over real TLS, with small servers that stand for kube-controller-managers. */

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { systemClock } from '@hangar/core';
import { MetricsRegistry } from '@hangar/runtime';
import type { ClusterRow } from '../contract.ts';
import { ControllerManagerMetrics } from './own-metrics.ts';
import { fakeChild } from './testing/fake-child.ts';
import { parseMetrics } from './testing/parsed-metrics.ts';
import { processAt, row, state } from './testing/rows.ts';
import { serving } from './testing/serving.ts';

/** Three seconds are one. */
const hurriedClock = {
  ...systemClock,
  monotonicMs: () => systemClock.monotonicMs() * 3,
  after: (ms: number, callback: () => void) => systemClock.after(ms / 3, callback),
};

const exposition = (n: number): string =>
  [
    '# HELP workqueue_depth [ALPHA] Current depth of workqueue',
    '# TYPE workqueue_depth gauge',
    `workqueue_depth{name="deployment"} ${n}`,
    '# HELP rest_client_request_duration_seconds [ALPHA] Latency.',
    '# TYPE rest_client_request_duration_seconds histogram',
    `rest_client_request_duration_seconds_bucket{host="h",verb="GET",le="+Inf"} ${n}`,
    `rest_client_request_duration_seconds_sum{host="h",verb="GET"} ${n}`,
    `rest_client_request_duration_seconds_count{host="h",verb="GET"} ${n}`,
    '# TYPE node_collector_evictions_total counter',
    `node_collector_evictions_total{cluster="inner"} ${n} 1700000000000`,
    '',
  ].join('\n');

async function tokenFile(context: TestContext, token: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-serve-'));
  context.after(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'token');
  await writeFile(file, `${token}\n`);
  return file;
}

test('metrics of all clusters are one valid text, with the cluster and the service on each', async () => {
  await using one = await fakeChild(exposition(1));
  await using two = await fakeChild(exposition(2));
  await using three = await fakeChild(exposition(3));
  const rows = [
    row('red', { controllers: state(processAt(one.port)), scheduler: state(processAt(two.port)) }),
    row('blue', { controllers: state(processAt(three.port)) }),
  ];
  const registry = new MetricsRegistry();
  new ControllerManagerMetrics(() => rows).register(registry);
  await using server = await serving({ rows: () => rows, ownMetrics: () => registry.text() });
  const { status, headers, text } = await server.ask('/metrics');
  assert.equal(status, 200);
  assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
  const metrics = parseMetrics(text);
  assert.deepEqual(
    Array.from(metrics.get('workqueue_depth')!.samples, ([series, { value }]) => [series, value]),
    [
      ['workqueue_depth{cluster="blue",name="deployment",service="controllers"}', '3'],
      ['workqueue_depth{cluster="red",name="deployment",service="controllers"}', '1'],
      ['workqueue_depth{cluster="red",name="deployment",service="scheduler"}', '2'],
    ],
  );
  assert.equal(metrics.get('rest_client_request_duration_seconds')!.samples.size, 9);
  const renamed = 'node_collector_evictions_total{cluster="red",exported_cluster="inner",service="controllers"}';
  assert.deepEqual(metrics.get('node_collector_evictions_total')!.samples.get(renamed), {
    value: '1',
    timestamp: '1700000000000',
  });
  assert.equal(metrics.get('hangar_controller_manager_child_ready')!.samples.size, 3);
  assert.deepEqual(
    Array.from(metrics.get('hangar_controller_manager_scrape_up')!.samples.values(), ({ value }) => value),
    ['1', '1', '1'],
  );
});

test('metrics are zipped for those who ask for it, and cost nothing for those who want only the head', async () => {
  const line = (n: number): string => `a{n="${n}"} 1\n`;
  await using child = await fakeChild(Array.from({ length: 20_000 }, (_, n) => line(n)).join(''));
  const rows = [row('red', { controllers: state(processAt(child.port)) })];
  await using server = await serving({ rows: () => rows });
  const plain = await server.ask('/metrics');
  const zipped = await server.ask('/metrics', { headers: { 'accept-encoding': 'gzip' } });
  assert.equal(zipped.headers['content-encoding'], 'gzip');
  assert.ok(zipped.body.length * 5 < plain.body.length);
  assert.deepEqual(gunzipSync(zipped.body), plain.body);
  assert.equal(child.asked(), 2);
  const head = await server.ask('/metrics', { method: 'HEAD' });
  assert.deepEqual([head.status, head.body.length, child.asked()], [200, 0, 2]);
});

test('children that hang, break off, refuse, redirect or talk too much are left out', async () => {
  await using well = await fakeChild('a 1\n');
  await using hung = await fakeChild(() => {});
  await using half = await fakeChild((response) => {
    response.write('a 1\n');
    setTimeout(() => response.destroy(), 5);
  });
  await using refusing = await fakeChild((response) => response.writeHead(403).end('a 1\n'));
  await using moved = await fakeChild((response) => response.writeHead(302, { location: '/metrics' }).end());
  await using endless = await fakeChild((response) => {
    const more = (): boolean => response.write(Buffer.alloc(1 << 20, '#'));
    response.on('drain', more);
    more();
  });
  const closed = createServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const closedPort = (closed.address() as AddressInfo).port;
  closed.close();
  const ports = { well, hung, half, refusing, moved, endless, closed: { port: closedPort } };
  const rows = Object.entries(ports).map(([name, { port }]) => row(name, { controllers: state(processAt(port)) }));
  await using server = await serving({ rows: () => rows, clock: hurriedClock });
  const metrics = parseMetrics((await server.ask('/metrics')).text);
  assert.deepEqual([...metrics.get('a')!.samples.keys()], ['a{cluster="well",service="controllers"}']);
  const up = Array.from(metrics.get('hangar_controller_manager_scrape_up')!.samples, ([series, { value }]) => [
    /cluster="(\w+)"/.exec(series)![1],
    value,
  ]);
  assert.deepEqual(Object.fromEntries(up), {
    closed: '0',
    endless: '0',
    half: '0',
    hung: '0',
    moved: '0',
    refusing: '0',
    well: '1',
  });
});

test('metrics of one cluster, or of some; not of those of others', async () => {
  await using child = await fakeChild(exposition(1));
  const controllers = state(processAt(child.port));
  const rows = [row('red', { controllers }), row('blue', { controllers }), row('green', {}, { isOwned: false })];
  await using server = await serving({ rows: () => rows, ownMetrics: () => 'own 1\n' });
  const { text } = await server.ask('/metrics?cluster=red');
  assert.match(text, /cluster="red"/);
  assert.doesNotMatch(text, /cluster="blue"|^own/m);
  assert.match((await server.ask('/metrics?cluster=red&cluster=blue')).text, /cluster="blue"/);
  for (const name of ['green', 'nobody', '']) assert.equal((await server.ask(`/metrics?cluster=${name}`)).status, 404);
});

test('scrapers at the same time are one to the children', async () => {
  const gate = Promise.withResolvers<void>();
  await using child = await fakeChild((response) => void gate.promise.then(() => response.end('a 1\n')));
  const rows = [row('red', { controllers: state(processAt(child.port)) })];
  await using server = await serving({ rows: () => rows });
  const all = Array.from({ length: 5 }, () => server.ask('/metrics'));
  const health = await server.ask('/healthz');
  assert.equal(health.text, 'ok');
  gate.resolve();
  const texts = (await Promise.all(all)).map(({ text }) => text);
  assert.equal(new Set(texts).size, 1);
  assert.ok(child.asked() <= 2, `${child.asked()} times`);
});

test('clusters as JSON, and as a table for those who ask for it', async () => {
  const rows = [row('red', { controllers: state(processAt(1, 7)) }), row('a/b ü', {}, { isOwned: false })];
  await using server = await serving({ rows: () => rows });
  const all = await server.ask('/clusters');
  assert.equal(all.headers['content-type'], 'application/json');
  assert.equal(all.headers['x-content-type-options'], 'nosniff');
  const { clusters, summary } = JSON.parse(all.text) as { clusters: { name: string }[]; summary: { total: number } };
  assert.deepEqual([clusters.map(({ name }) => name), summary.total], [['a/b ü', 'red'], 2]);
  for (const [path, accept] of [
    ['/clusters', 'text/plain'],
    ['/clusters', 'text/plain;q=1, application/json'],
    ['/clusters?o=table', 'application/json'],
    ['/clusters/?o=table', '*/*'],
    ['/clusters/red?o=table', '*/*'],
  ] as const) {
    const { text, headers } = await server.ask(path, { headers: { accept } });
    assert.equal(headers['content-type'], 'text/plain; charset=utf-8', path);
    assert.match(text, /^CLUSTER +SERVICE.*\nred +controllers +kube +True +Ready +0 +\S+ +7 +at work\n$/, path);
  }
  assert.match((await server.ask('/clusters?o=table&all')).text, /OWNED/);
  for (const accept of ['application/json, text/plain', 'text/html, */*;q=0.8']) {
    assert.equal((await server.ask('/clusters', { headers: { accept } })).headers['content-type'], 'application/json');
  }
});

test('one cluster by its name, and a Status for what is none', async () => {
  const rows = [row('a/b ü', { controllers: state() })];
  await using server = await serving({ rows: () => rows });
  const found = await server.ask(`/clusters/${encodeURIComponent('a/b ü')}`);
  assert.equal((JSON.parse(found.text) as { name: string }).name, 'a/b ü');
  for (const name of ['red', '%ZZ', '..%2f..%2fetc', '%00', '__proto__', '<script>'.replaceAll('<', '%3C')]) {
    const { status, text, headers } = await server.ask(`/clusters/${name}`);
    assert.equal(status, 404);
    assert.equal(headers['content-type'], 'application/json');
    const body = JSON.parse(text) as { kind: string; reason: string };
    assert.deepEqual([body.kind, body.reason], ['Status', 'NotFound']);
  }
});

test('health, readiness and their lines', async () => {
  let isSynced = false;
  const rows: ClusterRow[] = [
    row('red', { controllers: state({ phase: 'BackingOff', reason: 'CrashLoop', message: 'it ended' }) }),
  ];
  await using server = await serving({ rows: () => rows, isSynced: () => isSynced });
  for (const path of ['/healthz', '/livez', '/healthz/ping']) {
    const { status, text } = await server.ask(path);
    assert.deepEqual([status, text], [200, 'ok'], path);
  }
  assert.equal((await server.ask('/readyz')).status, 500);
  isSynced = true;
  assert.deepEqual((await server.ask('/readyz')).text, 'ok');
  assert.match(
    (await server.ask('/readyz?verbose')).text,
    /\[-\]cluster\/red controllers not ready: CrashLoop: it ended\nreadyz check passed\n$/,
  );
  assert.match((await server.ask('/readyz?verbose&exclude=fleet')).text, /\[\+\]fleet excluded: ok/);
});

test('only GET and HEAD, and only what there is', async () => {
  await using server = await serving();
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE']) {
    const { status, headers } = await server.ask('/clusters', {
      method,
      ...(method === 'POST' ? { body: 'x'.repeat(100_000) } : {}),
    });
    assert.equal(status, 405, method);
    assert.equal(headers.allow, 'GET, HEAD');
  }
  for (const path of [
    '/',
    '//',
    '/clusters2',
    '/Metrics',
    '/metrics/',
    '/metrics/x',
    '/%6detrics',
    '/__proto__',
    '/constructor',
    '/readyz/no',
    '*',
    '/healthz%00',
    `/${'x'.repeat(10_000)}`,
  ]) {
    assert.equal((await server.ask(path)).status, 404, path.slice(0, 20));
  }
  const head = await server.ask('/clusters', { method: 'HEAD' });
  assert.deepEqual([head.status, head.body.length, head.headers['content-type']], [200, 0, 'application/json']);
});

test('with a token, metrics and clusters are for those who have it; it may change', async (context) => {
  const file = await tokenFile(context, 's3cret');
  const rows = [row('red')];
  await using server = await serving({ rows: () => rows, metricsTokenFile: file });
  const status = async (path: string, authorization?: string): Promise<number> =>
    (await server.ask(path, { headers: authorization === undefined ? {} : { authorization } })).status;
  for (const path of ['/metrics', '/clusters', '/clusters/red', '/clusters/no', '/clusters?o=table']) {
    for (const wrong of [
      undefined,
      '',
      'Bearer',
      'Bearer ',
      'Bearer wrong',
      'Bearer s3cret x',
      'Basic s3cret',
      'Bearer s3cre',
      's3cret',
    ]) {
      assert.equal(await status(path, wrong), 401, `${path} ${wrong}`);
    }
    assert.equal(await status(path, 'Bearer s3cret'), path.endsWith('no') ? 404 : 200);
    assert.equal(await status(path, 'bearer  s3cret'), path.endsWith('no') ? 404 : 200);
  }
  const refused = await server.ask('/metrics');
  assert.equal(refused.headers['www-authenticate'], 'Bearer');
  assert.equal((JSON.parse(refused.text) as { reason: string }).reason, 'Unauthorized');
  for (const path of ['/healthz', '/livez', '/readyz', '/readyz?verbose']) assert.equal(await status(path), 200);
  assert.doesNotMatch((await server.ask('/readyz?verbose')).text, /red/);
  const verbose = await server.ask('/readyz?verbose', { headers: { authorization: 'Bearer s3cret' } });
  assert.match(verbose.text, /cluster\/red/);
  await writeFile(file, 'another');
  assert.equal(await status('/metrics', 'Bearer s3cret'), 401);
  assert.equal(await status('/metrics', 'Bearer another'), 200);
  for (const spoil of [() => writeFile(file, ' \n'), () => rm(file)]) {
    await spoil();
    for (const given of ['Bearer another', 'Bearer ', undefined]) assert.equal(await status('/metrics', given), 401);
  }
});

test('it does not begin without the token that it was told of, nor on a port that is taken', async (context) => {
  const file = await tokenFile(context, '');
  await assert.rejects(serving({ metricsTokenFile: file }), { code: 'TokenUnusable' });
  await assert.rejects(serving({ metricsTokenFile: `${file}.no` }), { code: 'TokenUnusable' });
  await using server = await serving();
  await assert.rejects(serving({ port: server.port }), { code: 'EADDRINUSE' });
});

test('it says where it is, and is nowhere when it is closed, whatever is under way', async () => {
  await using hung = await fakeChild(() => {});
  const rows = [row('red', { controllers: state(processAt(hung.port)) })];
  const server = await serving({ rows: () => rows, bindAddress: '0.0.0.0' });
  assert.equal(server.url, `https://127.0.0.1:${server.port}`);
  const asked = server.ask('/metrics').then(
    ({ status }) => status,
    () => 'gone',
  );
  while (hung.asked() === 0) await new Promise(setImmediate);
  const startedMs = performance.now();
  await Promise.all([server.close(), server.close()]);
  assert.ok(performance.now() - startedMs < 3_000);
  assert.ok([503, 'gone'].includes(await asked));
  await assert.rejects(server.ask('/healthz'), { code: 'ECONNREFUSED' });
});

test('what is broken inside is a 500 that says nothing, and the server lives on', async () => {
  let isBroken = true;
  await using server = await serving({ rows: () => (isBroken ? assert.fail('the inside') : []) });
  const { status, text } = await server.ask('/clusters');
  assert.equal(status, 500);
  assert.doesNotMatch(text, /the inside/);
  assert.ok(server.logged.some((line) => line.includes('the inside')));
  assert.equal((await server.ask('/metrics')).status, 500);
  isBroken = false;
  assert.equal((await server.ask('/clusters')).status, 200);
});

test('that everybody is answered is said at the start, once, unless only this machine can ask', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-serve-'));
  context.after(() => rm(folder, { recursive: true, force: true }));
  const metricsTokenFile = join(folder, 'token');
  await writeFile(metricsTokenFile, 'x'.repeat(32));
  for (const [options, count] of [
    [{ bindAddress: '0.0.0.0' }, 1],
    [{ bindAddress: '0.0.0.0', metricsTokenFile }, 0],
    [{ bindAddress: '127.0.0.1' }, 0],
  ] as const) {
    await using server = await serving(options);
    assert.equal(server.logged.filter((line) => line.includes('--metrics-token-file')).length, count);
  }
});
