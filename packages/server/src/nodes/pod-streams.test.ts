import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { test } from 'node:test';
import { startCluster, nodeAddress, pods } from './testing/cluster.ts';
import type { NotSwitched, TestCluster } from './testing/cluster.ts';
import { startKubelet } from './testing/kubelet.ts';
import type { TestKubelet } from './testing/kubelet.ts';

const spdy = { upgrade: 'SPDY/3.1', 'x-stream-protocol-version': ['v4.channel.k8s.io', 'v3.channel.k8s.io'] };

/** Switches to SPDY and returns every byte. */
const echo = (request: IncomingMessage, socket: Duplex): void => {
  const version = String(request.headers['x-stream-protocol-version']).split(',')[0];
  socket.write(
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n' +
      `X-Stream-Protocol-Version: ${version}\r\nSet-Cookie: a=b\r\n\r\nhello`,
  );
  socket.pipe(socket);
};

const kubeletOf = (cluster: TestCluster, onUpgrade = echo): Promise<TestKubelet> =>
  startKubelet({ authority: cluster.authority, hosts: [nodeAddress], onUpgrade });

async function read(socket: Duplex, length: number): Promise<string> {
  let text = '';
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    if (text.length >= length) break;
  }
  return text;
}

test('SPDY connections of exec, attach and portforward are passed through to the kubelet', async () => {
  await using cluster = await startCluster();
  await using kubelet = await kubeletOf(cluster);
  await cluster.populate(kubelet.port);
  const requests = {
    'exec?command=sh&command=-c&command=a+b%26&stdin=true&stdout=1&tty=true':
      '/exec/default/web/main?command=sh&command=-c&command=a+b%26&input=1&output=1&tty=1',
    'attach?container=main&stdout=1&stderr=1&stdin=false': '/attach/default/web/main?error=1&output=1',
    'portforward?ports=80&ports=81': '/portForward/default/web?port=80%2C81',
    portforward: '/portForward/default/web',
  };
  for (const [query, url] of Object.entries(requests)) {
    const { response, socket } = await cluster.upgrade('POST', `${pods}/web/${query}`, {
      ...spdy,
      cookie: 'secret=1',
      'x-forwarded-for': '192.0.2.1',
    });
    assert.equal(response.headers['x-stream-protocol-version'], 'v4.channel.k8s.io');
    assert.equal(response.headers.upgrade, 'SPDY/3.1');
    assert.equal(response.headers['set-cookie'], undefined);
    assert.equal(await read(socket, 5), 'hello');
    socket.write('ping');
    assert.equal(await read(socket, 4), 'ping');
    const { method, url: asked, headers, user } = kubelet.requests.at(-1)!;
    assert.deepEqual([method, asked, user], ['POST', url, 'kube-apiserver-kubelet-client']);
    assert.deepEqual(headers['x-stream-protocol-version'], 'v4.channel.k8s.io, v3.channel.k8s.io');
    assert.equal(headers['x-forwarded-for'], '192.0.2.1, 127.0.0.1');
    assert.deepEqual([headers['authorization'], headers['cookie']], [undefined, undefined]);
    assert.equal(cluster.plane.nodes.open, 1);
    const closed = once(socket, 'close');
    socket.end();
    await closed;
  }
  assert.equal(kubelet.connections, 4, 'upgraded connections are not shared');
});

test('an upgraded stream is counted until it closes, and ends with the control plane', async () => {
  await using cluster = await startCluster();
  await using kubelet = await kubeletOf(cluster);
  await cluster.populate(kubelet.port);
  const streams = await Promise.all(
    Array.from({ length: 3 }, () => cluster.upgrade('POST', `${pods}/web/exec?command=ls&stdout=1`, spdy)),
  );
  assert.equal(cluster.plane.nodes.open, 3);
  const closed = streams.map(({ socket }) => once(socket.resume(), 'close'));
  cluster.plane.nodes.endStreams();
  await Promise.all(closed);
  await cluster.idle();
});

test('an error of the kubelet is passed on, and another response is unexpected', async () => {
  await using cluster = await startCluster();
  let status = 403;
  await using kubelet = await startKubelet({
    authority: cluster.authority,
    hosts: [nodeAddress],
    onUpgrade: (_, socket) =>
      void socket.end(
        `HTTP/1.1 ${status} Status\r\nContent-Type: text/plain\r\nSet-Cookie: a=b\r\nContent-Length: 4\r\n\r\ntext`,
      ),
  });
  await cluster.populate(kubelet.port);
  const path = `${pods}/web/exec?command=ls&stdout=1`;
  await assert.rejects(
    cluster.upgrade('POST', path, spdy),
    (error: NotSwitched) => error.status === 403 && error.message === 'text',
  );
  status = 200;
  await assert.rejects(
    cluster.upgrade('POST', path, spdy),
    (error: NotSwitched) =>
      error.status === 500 && error.message.includes('"invalid upgrade response: status code 200"'),
  );
  await cluster.idle();
});

test('a request without an upgrade is refused', async () => {
  await using cluster = await startCluster();
  await cluster.populate(1);
  const { status, text } = await cluster.request('POST', `${pods}/web/exec?command=ls&stdout=1`);
  assert.deepEqual([status, (JSON.parse(text) as { message: string }).message], [400, 'Upgrade request required']);
});

test('an unreachable kubelet is named', async () => {
  await using cluster = await startCluster();
  await cluster.populate();
  await assert.rejects(
    cluster.upgrade('POST', `${pods}/web/exec?command=ls&stdout=1`, spdy),
    (error: NotSwitched) =>
      error.status === 500 &&
      error.message.includes(`error dialing backend: dial tcp ${nodeAddress}:10250: connect: no route to host`),
  );
});
