import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { describe, test } from 'node:test';
import { createServer } from 'node:tls';
import { issueCertificate } from '@hangar/pki';
import { serving, world } from '../../http/testing/test-port.ts';
import { secured } from '../../outbound/cluster-network.ts';
import { closeResponse, dataPacket, dialResponse, drain, packetType } from './packets.ts';
import type { TestAgent } from './testing/test-agent.ts';
import { startTarget, TunnelPort } from './testing/tunnel-port.ts';

const nowhere = { host: '10.9.9.9', port: 10250 };

/** Answers the next dial of `target` with this connection. */
async function answer(agent: TestAgent, address: string, connectId: number): Promise<void> {
  const { random } = await agent.dialOf(address);
  agent.send(dialResponse({ random, connectId }));
}

/** Dials through the only agent, which answers with the given connection. */
async function dialed(port: TunnelPort, agent: TestAgent, connectId: number): Promise<Duplex> {
  const dialing = port.tunnel.dial({ host: '10.9.9.9', port: 20_000 + connectId });
  await answer(agent, `10.9.9.9:${20_000 + connectId}`, connectId);
  return dialing;
}

describe('a connection through an agent', () => {
  test('carries bytes in both directions until the target closes', async () => {
    await using target = await startTarget((socket) => {
      socket.write('hello ');
      socket.once('data', (chunk) => socket.end(chunk));
    });
    await using port = await TunnelPort.open();
    using agent = await port.agent({ serves: true });
    assert.deepEqual([agent.head['serverid'], agent.head['servercount']], ['server-1', '1']);
    const connection = await port.tunnel.dial(target.target);
    connection.write('kubelet');
    assert.equal(Buffer.concat(await connection.toArray()).toString(), 'hello kubelet');
    assert.deepEqual(port.tunnel.usage, { agents: 1, connections: 0, heldBytes: 0 });
  });

  test('carries more bytes than any buffer holds, unchanged', async () => {
    const sent = randomBytes(6_000_000);
    await using target = await startTarget((socket) => socket.pipe(socket));
    await using port = await TunnelPort.open();
    using agent = await port.agent({ serves: true });
    const connection = await port.tunnel.dial(target.target);
    const hash = createHash('sha256');
    let received = 0;
    const all = new Promise<void>((resolve) => {
      connection.on('data', (chunk: Buffer) => {
        hash.update(chunk);
        received += chunk.length;
        if (received >= sent.length) resolve();
      });
    });
    for (let at = 0; at < sent.length; at += 50_000) {
      if (!connection.write(sent.subarray(at, at + 50_000))) await once(connection, 'drain');
    }
    await all;
    assert.equal(hash.digest('hex'), createHash('sha256').update(sent).digest('hex'));
    assert.equal(agent.trailers['grpc-status'], undefined);
  });

  test('that this side ends is closed at the agent, after the bytes that were written before', async () => {
    let received = '';
    const closed = Promise.withResolvers<void>();
    await using target = await startTarget((socket) => {
      socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
      socket.once('close', () => closed.resolve());
    });
    await using port = await TunnelPort.open();
    using agent = await port.agent({ serves: true });
    const connection = await port.tunnel.dial(target.target);
    connection.resume();
    connection.end('last words');
    await once(connection, 'close');
    await closed.promise;
    assert.ok(agent.packets.some(({ type }) => type === packetType.closeRequest));
    assert.equal(received, 'last words');
    assert.equal(port.tunnel.usage.connections, 0);
  });

  test('whose target has closed can be read to the end, also if the caller writes', async () => {
    await using port = await TunnelPort.open();
    using agent = await port.agent();
    const connection = await dialed(port, agent, 8);
    agent.send(dataPacket(8, Buffer.from('last ')), dataPacket(8, Buffer.from('words')), closeResponse(8));
    await once(connection, 'readable');
    for (let n = 0; n < 3; n++) {
      connection.write('too late');
      await new Promise(setImmediate);
    }
    assert.equal(Buffer.concat(await connection.toArray()).toString(), 'last words');
    assert.equal(port.tunnel.usage.connections, 0);
  });

  test('with TLS, whose target has closed, can be read to the end by a slow reader', async () => {
    const sent = randomBytes(50_000);
    const { key, certificate } = issueCertificate(serving, { commonName: 'target', usage: 'server', days: 5 }, world);
    await using server = createServer({ key, cert: certificate }, (socket) => socket.end(sent));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    await using port = await TunnelPort.open();
    using _ = await port.agent({ serves: true });
    const { port: number } = server.address() as AddressInfo;
    const connection = await port.tunnel.dial({ host: '127.0.0.1', port: number });
    const socket = secured(connection, { rejectUnauthorized: false });
    await once(connection, 'end');
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    assert.ok(sent.equals(Buffer.concat(await socket.toArray())));
    assert.equal(port.tunnel.usage.connections, 0);
  });

  test('whose target failed can be read up to the error', async () => {
    await using port = await TunnelPort.open();
    using agent = await port.agent();
    const connection = await dialed(port, agent, 8);
    agent.send(dataPacket(8, Buffer.from('last words')), closeResponse(8, 'connection reset by peer'));
    let received = '';
    connection.on('data', (chunk: Buffer) => (received += chunk.toString()));
    const [error] = (await once(connection, 'error')) as [Error];
    assert.equal(error.message, '10.9.9.9:20008: connection reset by peer');
    assert.equal(received, 'last words');
  });

  test('that the caller destroys is closed at the agent', async () => {
    await using port = await TunnelPort.open();
    using agent = await port.agent();
    const connection = await dialed(port, agent, 7);
    connection.destroy();
    const { connectId } = await agent.packet(({ type }) => type === packetType.closeRequest);
    assert.equal(connectId, 7);
    agent.send(closeResponse(7));
  });

  test('fails with the error of the agent', async () => {
    await using port = await TunnelPort.open();
    using agent = await port.agent();
    const dialing = port.tunnel.dial(nowhere);
    const { random } = await agent.dialOf('10.9.9.9:10250');
    agent.send(dialResponse({ random, error: 'dial tcp 10.9.9.9:10250: connect:\nno route to host' }));
    await assert.rejects(dialing, {
      code: 'Unreachable',
      message: 'dial tcp 10.9.9.9:10250: connect: no route to host',
    });
  });

  test('has an address with brackets for IPv6', async () => {
    await using port = await TunnelPort.open();
    using agent = await port.agent();
    const dialing = port.tunnel.dial({ host: 'fd00::5', port: 10250 });
    await answer(agent, '[fd00::5]:10250', 1);
    (await dialing).destroy();
  });

  test('that the caller gives up is closed if the agent opens it later', async () => {
    await using port = await TunnelPort.open();
    using agent = await port.agent();
    const abort = new AbortController();
    const dialing = port.tunnel.dial({ ...nowhere, signal: abort.signal });
    const { random } = await agent.dialOf('10.9.9.9:10250');
    abort.abort();
    await assert.rejects(dialing, { code: 'Aborted' });
    agent.send(dialResponse({ random, connectId: 3 }));
    const { connectId } = await agent.packet(({ type }) => type === packetType.closeRequest);
    assert.equal(connectId, 3);
  });

  test('needs an agent', async () => {
    await using port = await TunnelPort.open();
    assert.equal(port.tunnel.isConnected, false);
    await assert.rejects(port.tunnel.dial(nowhere), {
      code: 'Unreachable',
      message: 'no konnectivity agent of control plane "shop" is connected',
    });
  });
});

describe('the agent for a target', () => {
  const addressOf = (host: string): string => `${host}:10250`;
  const isDialed = (agent: TestAgent, host: string): boolean =>
    agent.packets.some(({ address }) => address === addressOf(host));

  test('is the one that names it, else one with a default route', async () => {
    await using port = await TunnelPort.open();
    using first = await port.agent({ id: 'a', identifiers: 'host=Node-1&ipv4=10.0.0.1' });
    using second = await port.agent({ id: 'b', identifiers: 'ipv4=10.0.0.2&default-route=true' });
    for (const [host, agent] of [
      ['10.0.0.1', first],
      ['node-1', first],
      ['10.0.0.2', second],
      ['10.96.0.10', second],
    ] as const) {
      const dialing = port.tunnel.dial({ host, port: 10250 });
      await answer(agent, addressOf(host), agent.packets.length + 1);
      (await dialing).destroy();
    }
  });

  test('is each of them in turn, if all are equal', async () => {
    await using port = await TunnelPort.open();
    using first = await port.agent({ id: 'a', serves: true });
    using second = await port.agent({ id: 'b', serves: true });
    await using target = await startTarget(() => {});
    for (let i = 0; i < 4; i++) (await port.tunnel.dial(target.target)).destroy();
    const dials = [first, second].map(
      ({ packets }) => packets.filter(({ type }) => type === packetType.dialRequest).length,
    );
    assert.deepEqual(dials, [2, 2]);
  });

  test('is one that drains only if there is no other', async () => {
    await using port = await TunnelPort.open();
    await using target = await startTarget(() => {});
    using draining = await port.agent({ id: 'a', serves: true });
    (await port.tunnel.dial(target.target)).destroy();
    // The response to a dial after DRAIN shows that the server has handled DRAIN.
    draining.send(drain());
    (await port.tunnel.dial(target.target)).destroy();
    using other = await port.agent({ id: 'b', serves: true });
    for (let i = 0; i < 3; i++) (await port.tunnel.dial(target.target)).destroy();
    assert.equal(other.packets.filter(({ type }) => type === packetType.dialRequest).length, 3);
    other[Symbol.dispose]();
    await assert.doesNotReject(port.tunnel.dial(target.target));
  });

  test('is another one if it disconnects before it answers', async () => {
    await using port = await TunnelPort.open();
    const first = await port.agent({ id: 'a', identifiers: 'ipv4=10.9.9.9' });
    using second = await port.agent({ id: 'b' });
    const dialing = port.tunnel.dial(nowhere);
    await first.dialOf('10.9.9.9:10250');
    assert.ok(!isDialed(second, '10.9.9.9'));
    first[Symbol.dispose]();
    await answer(second, '10.9.9.9:10250', 1);
    (await dialing).destroy();
  });
});

describe('the end of an agent', () => {
  test('ends its connections with an error that names it, and no others', async () => {
    await using target = await startTarget((socket) => socket.pipe(socket));
    await using port = await TunnelPort.open();
    const lost = await port.agent({ id: 'lost', serves: true });
    using other = await port.agent({ id: 'other', serves: true });
    const connections = [await port.tunnel.dial(target.target), await port.tunnel.dial(target.target)];
    const failed = once(connections[0]!, 'error');
    lost[Symbol.dispose]();
    const [error] = (await failed) as [Error];
    assert.equal(error.message, 'konnectivity agent "lost" disconnected');
    connections[1]!.write('still here');
    assert.equal(String((await once(connections[1]!, 'data'))[0]), 'still here');
    assert.equal(other.stream.closed, false);
    assert.equal(port.tunnel.usage.agents, 1);
  });

  test('comes with a status when the control plane closes', async () => {
    await using port = await TunnelPort.open();
    using agent = await port.agent();
    const connection = await dialed(port, agent, 1);
    const failed = once(connection, 'error');
    port.tunnel.close();
    assert.deepEqual(await agent.ended(), { status: '14', message: 'the control plane was closed' });
    await failed;
    using late = await port.agent();
    assert.equal((await late.ended()).status, '14');
  });

  test('is regular when it ends its stream', async () => {
    await using port = await TunnelPort.open();
    using agent = await port.agent();
    agent.stream.end();
    assert.equal((await agent.ended()).status, '0');
    assert.equal(port.tunnel.usage.agents, 0);
  });
});

describe('authentication', () => {
  test('requires a credential of the control plane', async () => {
    await using port = await TunnelPort.open();
    for (const token of ['', 'unknown']) {
      using agent = await port.agent({ token });
      assert.equal(agent.head[':status'], 401, token);
    }
    assert.equal(port.tunnel.isConnected, false);
  });

  test('requires the user of agents', async () => {
    await using port = await TunnelPort.open();
    using agent = await port.agent({ token: 'other' });
    assert.deepEqual(await agent.ended(), {
      status: '7',
      message: 'user "system:serviceaccount:default:default" must not connect as a konnectivity agent',
    });
    assert.equal(port.tunnel.isConnected, false);
  });

  test('requires the name of the agent', async () => {
    await using port = await TunnelPort.open();
    for (const id of ['', 'a'.repeat(254)]) {
      using agent = await port.agent({ id });
      assert.equal((await agent.ended()).status, '3');
    }
  });
});
