/** Tests hostile aggregated servers and hostile clients: neither may affect anything else. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { request as httpsRequest } from 'node:https';
import { test } from 'node:test';
import { systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { AddressPolicy, AnswerBudget, Outbound } from '../outbound/index.ts';
import { registeredService } from './api-service.ts';
import type { RemoteService } from './api-service.ts';
import { RemoteDocuments } from './remote-documents.ts';
import { RemoteServer } from './remote-server.ts';
import { checkedResource, discoveredResources, resourcesMax } from './discovered.ts';
import { startHub } from './testing/hub.ts';
import { startRemote } from './testing/remote.ts';

const group = 'things.example.com';
const things = `/apis/${group}/v1/namespaces/default/things`;
const isAvailable = (status: string) => async (hub: Awaited<ReturnType<typeof startHub>>) =>
  hub.until(status, async () => (await hub.condition(group))?.status === status);

test('a body goes through HTTP/2 in pieces, however long it is', async () => {
  await using hub = await startHub();
  await using remote = await startRemote({
    group,
    clientCa: hub.frontProxyCa.certificate,
    answer: ({ body }, response) => response.end(String(body.length)),
  });
  await hub.register(group, remote.port, remote.ca);
  await isAvailable('True')(hub);
  const session = connectHttp2(`https://127.0.0.1:${hub.port}`, { ca: hub.access.ca! });
  try {
    const stream = session.request({ ':method': 'POST', ':path': things, authorization: 'Bearer admin' });
    for (let i = 0; i < 50; i++) if (!stream.write(Buffer.alloc(100_000, 'a'))) await once(stream, 'drain');
    stream.end();
    const [head] = (await once(stream, 'response')) as [Record<string, unknown>];
    assert.equal(head[':status'], 200);
    assert.equal(Buffer.concat(await stream.toArray()).toString(), '5000000');
    assert.equal(remote.requests[0]!.headers['x-remote-user'], 'admin');
  } finally {
    session.destroy();
  }
});

test('who goes away takes their request along', async () => {
  await using hub = await startHub();
  const gone = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  await using remote = await startRemote({
    group,
    clientCa: hub.frontProxyCa.certificate,
    answer: (_, response) => {
      response.once('close', () => gone.resolve());
      arrived.resolve();
    },
  });
  await hub.register(group, remote.port, remote.ca);
  await isAvailable('True')(hub);
  const headers = { authorization: 'Bearer admin' };
  const outgoing = httpsRequest({ host: '127.0.0.1', port: hub.port, path: things, ca: hub.access.ca, headers });
  outgoing.on('error', () => undefined);
  outgoing.end();
  await arrived.promise;
  outgoing.destroy();
  await gone.promise;
});

test('a server that accepts connections and sends nothing is unavailable, and delays no client', async () => {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => void sockets.add(socket.on('error', () => socket.destroy())));
  silent.listen(0, 'localhost');
  await once(silent, 'listening');
  const timers: (() => void)[] = [];
  // Manual timers: the test fires the 30 s interval and the timeout of a check.
  const clock: Clock = {
    ...systemClock,
    after: (ms, callback) => {
      if (ms !== 5_000 && ms !== 10_000) return systemClock.after(ms, callback);
      timers.push(callback);
      return { cancel: () => undefined };
    },
  };
  await using hub = await startHub({ clock });
  try {
    await hub.register(group, (silent.address() as AddressInfo).port, 'no certificate');
    await hub.until('it is being asked', async () => sockets.size > 0);
    for (const path of ['/apis', `/apis/${group}`, '/openapi/v3', '/api/v1/namespaces']) {
      assert.equal((await hub.request('GET', path)).status, 200, path);
    }
    assert.equal((await hub.request('GET', things)).status, 503);
    for (const pass of timers.splice(0)) pass();
    await isAvailable('False')(hub);
    assert.match((await hub.condition(group)).message, /context deadline exceeded/);
  } finally {
    for (const socket of sockets) socket.destroy();
    silent.close();
  }
});

test('a server that died unseen is found out by the next look', async () => {
  const looks: (() => void)[] = [];
  const clock: Clock = {
    ...systemClock,
    after: (ms, callback) => {
      if (ms !== 30_000) return systemClock.after(ms, callback);
      looks.push(callback);
      return { cancel: () => undefined };
    },
  };
  await using hub = await startHub({ clock });
  await using remote = await startRemote({
    group,
    clientCa: hub.frontProxyCa.certificate,
    answer: (_, response) => response.end(),
  });
  await hub.register(group, remote.port, remote.ca);
  await isAvailable('True')(hub);
  await remote.stop();
  await hub.until('the next look', async () => {
    for (const look of looks.splice(0)) look();
    return (await hub.condition(group)).status === 'False';
  });
  const metrics = await hub.request('GET', '/metrics');
  assert.match(metrics.text, /^aggregator_unavailable_apiservice\{name="v1\.things\.example\.com"\} 1$/m);
});

test('of what a server says of itself only discovery gets into discovery', () => {
  let deep: object = {};
  for (let i = 0; i < 100_000; i++) deep = { deep };
  const entry = JSON.parse('{"resource":7,"__proto__":{"x":1},"verbs":["get",7],"scope":"Elsewhere"}') as object;
  assert.deepEqual(checkedResource({ ...entry, deep, responseKind: [deep], shortNames: deep, subresources: [deep] }), {
    resource: '',
    responseKind: { group: '', version: '', kind: '' },
    scope: 'Cluster',
    singularResource: '',
    verbs: ['get'],
    subresources: [{ subresource: '', responseKind: { group: '', version: '', kind: '' }, verbs: [] }],
  });
  const many = Array.from({ length: resourcesMax + 10 }, (_, i) => ({ name: `r${i}` }));
  assert.equal(discoveredResources({ resources: many }).length, resourcesMax);
  const parts = [{ name: 'a', kind: 'A', namespaced: true }, { name: 'a/status', kind: 'A' }, { name: 'b/lost' }];
  assert.deepEqual(
    discoveredResources({ resources: parts }).map((one) => [one['resource'], (one['subresources'] as []).length]),
    [['a', 1]],
  );
});

test('paths and queries that another server may read otherwise are not handed on', async () => {
  await using hub = await startHub();
  await using remote = await startRemote({
    group,
    clientCa: hub.frontProxyCa.certificate,
    answer: (_, response) => response.end(),
  });
  await hub.register(group, remote.port, remote.ca);
  await isAvailable('True')(hub);
  const many = Array.from({ length: 1_001 }, () => 'a').join('&');
  for (const target of [
    things.replace(/things$/, '%74hings'),
    `${things}/%61`,
    `${things}/a%2Db`,
    `${things}/a%7eb`,
    `${things}/a%5Fb`,
    `${things}/a#b`,
    `${things}?fieldSelector=metadata.name%3Dmine,spec.x%3Da;b`,
    `${things}?fieldSelector=metadata.name%3Dmine%`,
    `${things}?fieldSelector=metadata.name%3Dmine%zz`,
    `${things}?fieldSelector=metadata.name%3Dmine%ff`,
    `${things}??fieldSelector=metadata.name%3Dmine`,
    `${things}?fieldSelector=metadata.name%3Dmine&${many}`,
  ]) {
    assert.equal((await hub.request('GET', target)).status, 400, target);
  }
  assert.equal(remote.requests.length, 0);
  for (const target of [`${things}/system%3Aa%20b`, `${things}?labelSelector=a%3Db%2cc%3bd&x=1+2`]) {
    assert.equal((await hub.request('GET', target)).status, 200, target);
    assert.equal(remote.requests.at(-1)!.url, target);
  }
  // The name of the APIService is the same: v1.things.example.com.
  assert.equal(hub.aggregator.find('/apis/example.com/v1.things/namespaces'), undefined);
  assert.ok(hub.aggregator.find(things));
});

test('the group of APIServices itself is never handed on', async () => {
  await using hub = await startHub();
  const path = '/apis/apiregistration.k8s.io/v1/apiservices';
  const service = { namespace: 'default', name: 'kubernetes', port: 443 };
  const spec = { group: 'apiregistration.k8s.io', version: 'v1', service, groupPriorityMinimum: 1, versionPriority: 1 };
  const body = { metadata: { name: 'v1.apiregistration.k8s.io' }, spec: { ...spec, insecureSkipTLSVerify: true } };
  await hub.request('POST', path, { body });
  assert.equal((await hub.request('DELETE', `${path}/v1.apiregistration.k8s.io`)).status, 200);
});

test('documents that are too large together are not kept', async () => {
  await using hub = await startHub();
  const answers = new AnswerBudget(5_000_000, 'this control plane');
  const documents = new AnswerBudget(5_000_000, 'this control plane');
  const allow = ['127.0.0.0/8', '::1'];
  const outbound = new Outbound({ allow }, new AddressPolicy(allow), answers, documents);
  const document = JSON.stringify({ swagger: '2.0', x: 'x'.repeat(3_000_000) });
  await using remote = await startRemote({
    group,
    clientCa: hub.frontProxyCa.certificate,
    answer: (_, response) => response.end(),
    openApi: document,
  });
  await hub.register(group, remote.port, remote.ca);
  await isAvailable('True')(hub);
  const object = (await hub.request('GET', `/apis/apiregistration.k8s.io/v1/apiservices/v1.${group}`)).data;
  const service = registeredService(object) as RemoteService;
  const clientCertificate = () => hub.frontProxy;
  const make = (): RemoteDocuments => {
    const server = new RemoteServer({ outbound, services: hub.plane.services, clientCertificate }, service);
    return new RemoteDocuments(server, service, systemClock, () => undefined);
  };
  const [first, second] = [make(), make()];
  const kept = ({ openApiV2 }: RemoteDocuments): number | undefined => openApiV2?.length;
  await first.refreshOpenApi();
  assert.equal(kept(first), document.length);
  assert.equal(documents.bytes, document.length);
  assert.equal(answers.bytes, 0, 'documents that are kept leave the whole budget to answers');
  await second.refreshOpenApi();
  assert.equal(kept(second), undefined);
  first.close();
  assert.equal(documents.bytes, 0);
  await second.refreshOpenApi();
  assert.equal(kept(second), document.length);
  second.close();
  outbound.close();
});
