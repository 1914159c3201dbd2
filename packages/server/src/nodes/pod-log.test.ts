import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createHash, X509Certificate } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { createAuthority } from '@hangar/pki';
import { startCluster, nodeAddress, pods } from './testing/cluster.ts';
import { startKubelet, world } from './testing/kubelet.ts';

const log = `${pods}/web/log`;
const hosts = [nodeAddress];

const message = (text: string): string => (JSON.parse(text) as { message: string }).message;

test('the log of a container is read from the kubelet with all options', async () => {
  await using cluster = await startCluster();
  await using kubelet = await startKubelet({
    authority: cluster.authority,
    hosts,
    handler: (_, response) => response.end('line 1\nline 2\n'),
  });
  await cluster.populate(kubelet.port);
  const query =
    'container=main&previous=true&sinceTime=2026-01-02T03:04:05Z&timestamps=1&tailLines=10&limitBytes=100&follow=false';
  const { status, headers, text } = await cluster.request('GET', `${log}?${query}`);
  assert.deepEqual([status, headers['content-type'], text], [200, 'text/plain', 'line 1\nline 2\n']);
  await cluster.request('GET', `${log}?sinceSeconds=5`);
  assert.deepEqual(
    kubelet.requests.map(({ method, url, user }) => [method, url, user]),
    [
      [
        'GET',
        '/containerLogs/default/web/main?limitBytes=100&previous=true&sinceTime=2026-01-02T03%3A04%3A05Z&tailLines=10&timestamps=true',
        'kube-apiserver-kubelet-client',
      ],
      ['GET', '/containerLogs/default/web/main?sinceSeconds=5', 'kube-apiserver-kubelet-client'],
    ],
  );
  assert.equal(kubelet.connections, 1, 'the connection is reused');
  assert.equal(kubelet.requests[0]!.headers['authorization'], undefined);
});

test('options of a log are validated as in kube-apiserver', async () => {
  await using cluster = await startCluster();
  await cluster.populate(1);
  const cases: [string, number, string][] = [
    [
      'tailLines=-1',
      422,
      'PodLogOptions "web" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
    ],
    ['limitBytes=0', 422, 'PodLogOptions "web" is invalid: limitBytes: Invalid value: 0: must be greater than 0'],
    ['sinceSeconds=0', 422, 'PodLogOptions "web" is invalid: sinceSeconds: Invalid value: 0: must be greater than 0'],
    [
      'sinceSeconds=1&sinceTime=2026-01-02T03:04:05Z',
      422,
      'PodLogOptions "web" is invalid: []: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified',
    ],
    ['stream=Stdout', 422, 'PodLogOptions "web" is invalid: stream: Forbidden: may not be specified'],
    ['tailLines=x', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
    ['container=other', 400, 'container other is not valid for pod web'],
  ];
  for (const [query, status, expected] of cases) {
    const received = await cluster.request('GET', `${log}?${query}`);
    assert.deepEqual([received.status, message(received.text)], [status, expected], query);
  }
});

test('a followed log arrives line by line, and ends for the kubelet when the client disconnects', async () => {
  await using cluster = await startCluster();
  let response: ServerResponse | undefined;
  await using kubelet = await startKubelet({
    authority: cluster.authority,
    hosts,
    handler: (_, one) => {
      response = one;
      one.write('first\n');
    },
  });
  await cluster.populate(kubelet.port);
  const stream = await cluster.open('GET', `${log}?follow=true`);
  assert.equal((await once(stream, 'data')).toString(), 'first\n');
  response!.write('second\n');
  assert.equal((await once(stream, 'data')).toString(), 'second\n');
  assert.equal(cluster.plane.nodes.open, 1);
  const closed = once(response!, 'close');
  stream.destroy();
  await closed;
  await cluster.idle();
});

test('a client that does not read slows the kubelet down', async () => {
  await using cluster = await startCluster();
  const chunk = Buffer.alloc(64 * 1024, 'x');
  const bytesMax = 1024 * 1024 * 1024;
  let written = 0;
  await using kubelet = await startKubelet({
    authority: cluster.authority,
    hosts,
    handler: ({ url }, response) => {
      if (!url!.includes('follow')) return void response.end('ok');
      const write = (): void => {
        while (written < bytesMax) {
          written += chunk.length;
          if (!response.write(chunk)) return void response.once('drain', write);
        }
        response.end();
      };
      write();
    },
  });
  await cluster.populate(kubelet.port);
  const stream = await cluster.open('GET', `${log}?follow=true`);
  stream.pause();
  for (let i = 0; i < 200; i++) assert.equal((await cluster.request('GET', log)).text, 'ok');
  assert.ok(written < 64 * 1024 * 1024, `${written} bytes were taken for a client that reads none`);
  stream.destroy();
});

test('errors of the kubelet are returned as kube-apiserver returns them', async () => {
  await using cluster = await startCluster();
  let status = 0;
  await using kubelet = await startKubelet({
    authority: cluster.authority,
    hosts,
    handler: (_, response) => response.writeHead(status).end('the text'),
  });
  await cluster.populate(kubelet.port);
  const cases: [number, number, string, string | undefined][] = [
    [500, 500, 'Internal error occurred: the text', 'InternalError'],
    [400, 400, 'the text', 'BadRequest'],
    [404, 404, 'the server could not find the requested resource ( pods/log web)', 'NotFound'],
    [401, 401, 'the server has asked for the client to provide credentials ( pods/log web)', 'Unauthorized'],
    [403, 403, 'the text ( pods/log web)', 'Forbidden'],
    [
      502,
      502,
      'an error on the server ("the text") has prevented the request from succeeding ( pods/log web)',
      'InternalError',
    ],
    [
      418,
      418,
      'the server responded with the status code 418 but did not return more information ( pods/log web)',
      undefined,
    ],
  ];
  for (const [given, code, expected, reason] of cases) {
    status = given;
    for (const path of [log, `${log}?follow=true`]) {
      const received = await cluster.request('GET', path);
      const data = JSON.parse(received.text) as { message: string; reason?: string; code: number };
      assert.deepEqual([received.status, data.code, data.message, data.reason], [code, code, expected, reason]);
    }
  }
  await cluster.idle();
});

test('a serving certificate of another CA or for another address is refused, and the error names both ways', async () => {
  await using cluster = await startCluster();
  const foreign = createAuthority('foreign', 1, world);
  await using other = await startKubelet({ authority: foreign, hosts });
  await using wrong = await startKubelet({ authority: cluster.authority, hosts: ['10.9.0.6'] });
  await cluster.populate(other.port);
  const url = `https://${nodeAddress}:10250/containerLogs/default/web/main`;
  const ways =
    /the kubelet needs a serving certificate of the CA of this control plane .*, or its Node the annotation hangar\.dev\/kubelet-certificate-sha256$/;
  for (const port of [other.port, wrong.port]) {
    cluster.routes.set(`${nodeAddress}:10250`, port);
    for (const query of ['', '?follow=true']) {
      const { status, text } = await cluster.request('GET', `${log}${query}`);
      assert.equal(status, 500);
      assert.ok(message(text).startsWith(`Get "${url}${query}": tls: failed to verify certificate: x509: `), text);
      assert.match(message(text), ways);
    }
  }
  assert.equal(other.requests.length + wrong.requests.length, 0);
  const skipped = await cluster.request('GET', `${log}?insecureSkipTLSVerifyBackend=true`);
  assert.deepEqual([skipped.status, skipped.text], [200, 'ok']);
  const verified = await cluster.request('GET', log);
  assert.equal(verified.status, 500, 'a connection without verification is not reused for a request with it');
});

test('a pinned serving certificate is accepted, and only that one', async () => {
  await using cluster = await startCluster();
  const foreign = createAuthority('foreign', 1, world);
  await using kubelet = await startKubelet({ authority: foreign, hosts: ['node-a'] });
  await using impostor = await startKubelet({ authority: foreign, hosts: ['node-a'] });
  const pin = new X509Certificate(kubelet.certificate).fingerprint256;
  await cluster.populate(kubelet.port, { metadata: { annotations: { 'hangar.dev/kubelet-certificate-sha256': pin } } });
  assert.equal((await cluster.request('GET', log)).text, 'ok');
  cluster.plane.nodes.connections.close();
  cluster.routes.set(`${nodeAddress}:10250`, impostor.port);
  const { status, text } = await cluster.request('GET', log);
  assert.equal(status, 500);
  const found = createHash('sha256').update(new X509Certificate(impostor.certificate).raw).digest('hex');
  assert.match(message(text), new RegExp(`the SHA-256 of the certificate is ${found}, but the annotation`));
});

test('an unreachable kubelet and a Node without addresses are named', async () => {
  await using cluster = await startCluster();
  await cluster.populate();
  const { status, text } = await cluster.request('GET', log);
  assert.equal(status, 500);
  assert.equal(
    message(text),
    `Get "https://${nodeAddress}:10250/containerLogs/default/web/main": dial tcp ${nodeAddress}:10250: connect: no route to host`,
  );
  await cluster.request('PATCH', '/api/v1/nodes/node-a/status', {
    body: { status: { addresses: [{ type: 'InternalDNS', address: 'a.example' }] } },
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  assert.equal(
    message((await cluster.request('GET', log)).text),
    'no preferred addresses found; known addresses: [{InternalDNS a.example}]',
  );
});

test('without networks of nodes the answer is 503 and names the field', async () => {
  await using cluster = await startCluster({ nodes: { dialer: undefined as never } });
  await cluster.populate();
  const { status, text } = await cluster.request('GET', log);
  assert.equal(status, 503);
  assert.match(message(text), /does not connect to nodes of control plane "root": spec\.nodes\.networks is empty/);
});

test('an unscheduled pod has an empty log', async () => {
  await using cluster = await startCluster();
  await cluster.request('POST', pods, {
    body: { metadata: { name: 'free' }, spec: { containers: [{ name: 'main', image: 'image' }] } },
  });
  const { status, text } = await cluster.request('GET', `${pods}/free/log`);
  assert.deepEqual([status, text], [204, '']);
});
