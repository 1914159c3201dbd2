import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import * as packets from './packets.ts';

const { decodePacket, packetType } = packets;
const nothing = { connectId: 0, random: 0, error: '', address: '', data: Buffer.alloc(0) };
const decoded = (packet: Buffer) => decodePacket(packet.subarray(5));

test('each packet comes back as it was sent', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.stringMatching(/^[ -~]{0,40}$/), fc.uint8Array(), (number, text, bytes) => {
      const data = Buffer.from(bytes);
      const cases: [Buffer, Partial<packets.Packet>][] = [
        [packets.dialRequest(text, number), { type: packetType.dialRequest, address: text, random: number }],
        [
          packets.dialResponse({ random: number, error: text }),
          { type: packetType.dialResponse, random: number, error: text },
        ],
        [packets.dataPacket(number, data), { type: packetType.data, connectId: number, data }],
        [packets.closeRequest(number), { type: packetType.closeRequest, connectId: number }],
        [packets.closeResponse(number, text), { type: packetType.closeResponse, connectId: number, error: text }],
        [packets.dialClose(number), { type: packetType.dialClose, random: number }],
        [packets.drain(), { type: packetType.drain }],
      ];
      for (const [packet, expected] of cases) assert.deepEqual(decoded(packet), { ...nothing, ...expected });
    }),
  );
});

test('a text is cut and has no control characters', () => {
  const { error } = decoded(packets.closeResponse(1, `a\r\n\u001b[31m${'b'.repeat(10_000)}`));
  assert.match(error, /^a {3}\[31mb+$/);
  assert.equal(error.length, 512);
});

test('a payload of another type is ignored', () => {
  const data = packets.dataPacket(7, Buffer.from('x')).subarray(5);
  // The last type counts: CLOSE_RSP.
  assert.deepEqual(decodePacket(Buffer.concat([data, Buffer.from([8, packetType.closeResponse])])), {
    ...nothing,
    type: packetType.closeResponse,
  });
});

test('any bytes are a packet or are malformed', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        decodePacket(Buffer.from(bytes));
      } catch (error) {
        assert.equal((error as { code?: string }).code, 'MalformedMessage');
      }
    }),
  );
});
