import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { systemClock } from '@hangar/core';
import { nobody } from '../../http/message.ts';
import { Agent } from './agent.ts';
import { HeldBytes } from './held-bytes.ts';
import { parseIdentifiers } from './identifiers.ts';
import { defaultLimits } from './limits.ts';
import { dataPacket, decodePacket, dialResponse } from './packets.ts';

test('a small part of a large buffer does not keep the buffer in memory', async () => {
  const sent: Buffer[] = [];
  const agent = new Agent({
    id: 'a',
    identifiers: parseIdentifiers(undefined),
    limits: defaultLimits,
    clock: systemClock,
    held: new HeldBytes(defaultLimits.heldBytesMax),
    activity: undefined,
    onEnd: () => {},
  });
  const body = new PassThrough();
  agent.start(body, { ...nobody, onClose: () => {}, write: (packet) => sent.push(Buffer.from(packet)) > 0 });
  const dialing = agent.dial('10.0.0.1:80');
  const { random } = decodePacket(sent[0]!.subarray(5));
  const part = Buffer.alloc(2_000, 'x');
  body.write(
    Buffer.concat([dialResponse({ random, connectId: 1 }), dataPacket(1, part), dataPacket(2, Buffer.alloc(60_000))]),
  );
  const connection = await dialing;
  const piece = connection.read() as Buffer;
  assert.deepEqual(piece, part);
  assert.ok(piece.buffer.byteLength < 10_000, `${piece.buffer.byteLength} bytes are kept`);
  connection.destroy();
  agent.end(0, '');
});
