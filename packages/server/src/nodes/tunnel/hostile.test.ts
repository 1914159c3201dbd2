import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { describe, test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { closeResponse, dataPacket, dialResponse, packetType } from './packets.ts';
import type { TestAgent } from './testing/test-agent.ts';
import { TunnelPort } from './testing/tunnel-port.ts';

const target = (connectId: number) => ({ host: '10.9.9.9', port: 20_000 + connectId });

/** Dials; the agent answers with this connection. */
async function dialed(port: TunnelPort, agent: TestAgent, connectId: number): Promise<Duplex> {
  const dialing = port.tunnel.dial(target(connectId));
  const { random } = await agent.dialOf(`10.9.9.9:${20_000 + connectId}`);
  agent.send(dialResponse({ random, connectId }));
  return dialing;
}

/** Reads until this many bytes have arrived. */
async function taken(connection: Duplex, bytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let length = 0; length < bytes;) {
    const piece = connection.read() as Buffer | null;
    if (piece) {
      pieces.push(piece);
      length += piece.length;
    } else await once(connection, 'readable');
  }
  return Buffer.concat(pieces);
}

const message = (body: Uint8Array, isCompressed = false): Buffer => {
  const prefix = Buffer.from([isCompressed ? 1 : 0, 0, 0, 0, 0]);
  prefix.writeUInt32BE(body.length, 1);
  return Buffer.concat([prefix, body]);
};

describe('an agent is disconnected, with the reason in its status and in the report', () => {
  const cases: [name: string, reason: RegExp, attack: (agent: TestAgent) => void][] = [
    [
      'if a packet is larger than the limit',
      /message of 2147483647 bytes, which exceeds the limit/,
      (agent) => agent.stream.write(Buffer.from([0, 0x7f, 0xff, 0xff, 0xff])),
    ],
    ['if a packet is compressed', /compressed message/, (agent) => agent.send(message(Buffer.from('x'), true))],
    ['if a packet is not protobuf', /malformed/, (agent) => agent.send(message(Buffer.from([0x0a, 0xff])))],
    [
      'if an identifier is negative',
      /identifier is not between/,
      (agent) => agent.send(message(Buffer.from([0x08, 4, 0x22, 11, 0x08, ...Array(9).fill(0xff), 1]))),
    ],
    [
      'if it floods the server with data for unknown connections',
      /too many packets for unknown connections/,
      (agent) => agent.send(...Array.from({ length: 5_000 }, () => dataPacket(99, Buffer.from('x')))),
    ],
    [
      'if it floods the server with empty packets',
      /too many packets for unknown connections or without content/,
      (agent) => agent.send(...Array.from({ length: 5_000 }, () => message(new Uint8Array()))),
    ],
  ];
  for (const [name, reason, attack] of cases) {
    test(name, async () => {
      await using port = await TunnelPort.open();
      using agent = await port.agent({ id: 'evil' });
      using good = await port.agent({ id: 'good' });
      attack(agent);
      const { status, message: text } = await agent.ended();
      assert.match(text, reason);
      assert.notEqual(status, '0');
      const [report, ...more] = port.violations;
      assert.match(report!, /^konnectivity agent "evil" \(127\.0\.0\.1\) of control plane "shop" was disconnected: /);
      assert.match(report!, reason);
      assert.deepEqual(more, []);
      assert.equal(port.tunnel.usage.agents, 1);
      (await dialed(port, good, 1)).destroy();
    });
  }

  test('if it uses the ID of a connection twice', async () => {
    await using port = await TunnelPort.open();
    using agent = await port.agent();
    const connection = await dialed(port, agent, 1);
    const failed = once(connection, 'error');
    const second = assert.rejects(port.tunnel.dial(target(2)), /no konnectivity agent/);
    const { random } = await agent.dialOf('10.9.9.9:20002');
    agent.send(dialResponse({ random, connectId: 1 }));
    assert.match((await agent.ended()).message, /connection ID 1 twice/);
    await Promise.all([failed, second]);
  });
});

test('data before the response to its dial is not delivered, and its connection is closed', async () => {
  await using port = await TunnelPort.open();
  using agent = await port.agent();
  const dialing = port.tunnel.dial(target(1));
  const { random } = await agent.dialOf('10.9.9.9:20001');
  agent.send(
    dataPacket(1, Buffer.from('early ')),
    dialResponse({ random, connectId: 1 }),
    dataPacket(1, Buffer.from('late')),
  );
  const connection = await dialing;
  assert.equal((await taken(connection, 4)).toString(), 'late');
  const { connectId } = await agent.packet(({ type }) => type === packetType.closeRequest);
  assert.equal(connectId, 1);
  connection.destroy();
});

test('data and closing of a connection that the caller has closed are no violation', async () => {
  await using port = await TunnelPort.open({ limits: { uselessPackets: { burst: 1, perSecond: 0 } } });
  using agent = await port.agent();
  (await dialed(port, agent, 1)).destroy();
  await agent.packet(({ type }) => type === packetType.closeRequest);
  agent.send(...Array.from({ length: 100 }, () => dataPacket(1, Buffer.from('x'))), closeResponse(1));
  (await dialed(port, agent, 2)).destroy();
  assert.deepEqual(port.violations, []);
});

test('an agent that never answers is disconnected, and its dial times out', async () => {
  await using port = await TunnelPort.open({ limits: { dialMs: 50 } });
  using agent = await port.agent({ id: 'silent' });
  await assert.rejects(port.tunnel.dial(target(1)), {
    code: 'Timeout',
    message: 'dial tcp 10.9.9.9:20001: konnectivity agent "silent" did not answer in 50 ms',
  });
  assert.deepEqual(await agent.ended(), { status: '14', message: 'did not answer a dial' });
});

test('an agent that never confirms a closed connection does not keep it', async () => {
  await using port = await TunnelPort.open({ limits: { dialMs: 50 } });
  using agent = await port.agent();
  const connection = await dialed(port, agent, 1);
  connection.resume();
  connection.end();
  await once(connection, 'close');
  assert.equal(port.tunnel.usage.connections, 0);
});

test('agents and connections of a control plane are limited', async () => {
  await using port = await TunnelPort.open({ limits: { agentsMax: 1, connectionsMax: 2 } });
  using agent = await port.agent();
  using refused = await port.agent();
  assert.deepEqual(await refused.ended(), {
    status: '8',
    message: 'control plane "shop" has 1 konnectivity agents, which is the limit',
  });
  const connections = [await dialed(port, agent, 1), await dialed(port, agent, 2)];
  await assert.rejects(port.tunnel.dial(target(3)), {
    code: 'Unreachable',
    message:
      'dial tcp 10.9.9.9:20003: control plane "shop" has 2 connections through its konnectivity agents, which is the limit',
  });
  connections[0]!.destroy();
  (await dialed(port, agent, 4)).destroy();
  connections[1]!.destroy();
});

describe('a reader that does not read', () => {
  const limits = { connectionBytesMax: 64 * 1024, stallMs: 50 };
  const piece = Buffer.alloc(4096, 'x');
  /** More than all windows and buffers between the agent and the reader. */
  const manyBytes = 8 * 1024 * 1024;
  const flood = (agent: TestAgent, connectId: number): void => {
    for (let sent = 0; sent < manyBytes; sent += piece.length) agent.send(dataPacket(connectId, piece));
  };
  /** Resolves when the server has paused the agent's stream. */
  async function paused(port: TunnelPort): Promise<void> {
    while (port.tunnel.usage.heldBytes < limits.connectionBytesMax) await new Promise(setImmediate);
  }

  test('pauses the agent, holds no more than the limit, and loses nothing', async () => {
    await using port = await TunnelPort.open({ limits });
    using agent = await port.agent();
    const connection = await dialed(port, agent, 1);
    flood(agent, 1);
    await paused(port);
    // Longer than the time for readers that others wait for.
    await new Promise((resolve) => setTimeout(resolve, 4 * limits.stallMs));
    assert.ok(port.tunnel.usage.heldBytes < 2 * limits.connectionBytesMax, `${port.tunnel.usage.heldBytes} bytes`);
    assert.ok(agent.stream.writableLength > manyBytes / 4, 'the agent is not held back');
    assert.equal(connection.destroyed, false);
    assert.equal((await taken(connection, manyBytes)).length, manyBytes);
    assert.equal(port.tunnel.usage.heldBytes, 0);
    connection.destroy();
  });

  test('is disconnected if other connections of its agent wait for it', async () => {
    await using port = await TunnelPort.open({ limits });
    using agent = await port.agent({ id: 'a' });
    const slow = await dialed(port, agent, 1);
    const other = await dialed(port, agent, 2);
    flood(agent, 1);
    agent.send(dataPacket(2, Buffer.from('for the other')));
    const [error] = (await once(slow, 'error')) as [Error];
    assert.equal(
      error.message,
      '10.9.9.9:20001: the client did not read for 50 ms, while other connections of konnectivity agent "a" waited',
    );
    assert.equal((await taken(other, 13)).toString(), 'for the other');
    other.destroy();
  });

  test('is disconnected if a dial through its agent waits for it', async () => {
    await using port = await TunnelPort.open({ limits });
    using agent = await port.agent();
    const slow = await dialed(port, agent, 1);
    const failed = once(slow, 'error');
    flood(agent, 1);
    await paused(port);
    (await dialed(port, agent, 2)).destroy();
    await failed;
  });

  test('holds no more than the limit of the control plane together with others', async () => {
    await using port = await TunnelPort.open({ limits: { ...limits, heldBytesMax: 128 * 1024 } });
    using agent = await port.agent();
    const slow: Duplex[] = [];
    for (let id = 1; id <= 4; id++) slow.push(await dialed(port, agent, id));
    const reading = await dialed(port, agent, 5);
    const ended = Promise.race(slow.map((one) => once(one, 'error')));
    // Each connection alone is below its limit.
    for (let round = 0; round < 12; round++) {
      for (let id = 1; id <= 4; id++) agent.send(dataPacket(id, piece));
    }
    agent.send(dataPacket(5, Buffer.from('after all of them')));
    await ended;
    assert.equal((await taken(reading, 17)).toString(), 'after all of them');
    assert.ok(port.tunnel.usage.heldBytes <= 160 * 1024, `${port.tunnel.usage.heldBytes} bytes`);
    for (const connection of [...slow, reading]) connection.destroy();
    await once(reading, 'close');
    assert.equal(port.tunnel.usage.heldBytes, 0);
  });
});

test('an agent that does not read holds back writers, without growing buffers', async () => {
  await using port = await TunnelPort.open();
  using agent = await port.agent();
  const connection = await dialed(port, agent, 1);
  agent.stream.pause();
  let isHeldBack = false;
  for (let i = 0; i < 1_000 && !isHeldBack; i++) {
    isHeldBack = !connection.write(Buffer.alloc(16_384));
    await new Promise(setImmediate);
  }
  assert.ok(isHeldBack);
  assert.ok(connection.writableLength < 256 * 1024);
  agent.stream.resume();
  await once(connection, 'drain');
  connection.destroy();
});

test('a burst of small packets is handled in parts, between which others run', async () => {
  await using port = await TunnelPort.open({ limits: { packetsPerTurn: 10 } });
  using agent = await port.agent();
  const connection = await dialed(port, agent, 1);
  const lengths: number[] = [];
  connection.on('data', (chunk: Buffer) => lengths.push(chunk.length));
  agent.send(...Array.from({ length: 1_000 }, () => dataPacket(1, Buffer.from('x'))));
  while (lengths.reduce((sum, length) => sum + length, 0) < 1_000) await once(connection, 'data');
  assert.ok(Math.max(...lengths) <= 10, `${Math.max(...lengths)} packets in one turn`);
  connection.destroy();
});

test('no sequence of bytes from an agent does more than disconnect it', async () => {
  const random = seededRandom(16);
  await using port = await TunnelPort.open({ limits: { dialMs: 50 } });
  for (let round = 0; round < 200; round++) {
    using agent = await port.agent({ id: `a${round}` });
    const dialing = port.tunnel.dial(target(1)).then(
      (connection) => connection.destroy(),
      () => undefined,
    );
    const { random: dial } = await agent.dialOf('10.9.9.9:20001');
    const packets = [
      dialResponse({ random: dial, connectId: 1 }),
      dataPacket(1, Buffer.from('abc')),
      closeResponse(1, 'x'),
    ];
    const bytes = Buffer.concat(Array.from({ length: 5 }, () => packets[random.below(3)]!));
    for (let flips = 0; flips < 3; flips++) bytes[random.below(bytes.length)]! ^= 1 << random.below(8);
    agent.stream.end(bytes);
    await agent.ended();
    await dialing;
  }
  assert.deepEqual(port.tunnel.usage, { agents: 0, connections: 0, heldBytes: 0 });
});
