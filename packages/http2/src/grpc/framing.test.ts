import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { MessageAssembler } from './framing.ts';
import { decodeMessage, errorOfHttpStatus, errorOfTrailers } from './status.ts';

function framed(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

test('messages come out whole, however the stream is cut', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 6 }),
      fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 50 }),
      (messages, cuts) => {
        const stream = Buffer.concat(messages.map((message) => framed(message)));
        const assembler = new MessageAssembler();
        const received: Uint8Array[] = [];
        for (let at = 0, cut = 0; at < stream.length; cut++) {
          const length = cuts[cut % cuts.length]!;
          assembler.push(stream.subarray(at, at + length), (message) => received.push(Uint8Array.from(message)));
          at += length;
        }
        assert.deepEqual(
          received,
          messages.map((message) => Uint8Array.from(message)),
        );
        assert.ok(assembler.empty);
      },
    ),
  );
});

test('a stream that ends inside a message is not empty', () => {
  for (const length of [1, 4, 5, 7]) {
    const assembler = new MessageAssembler();
    assembler.push(framed(Buffer.from('abc')).subarray(0, length), () => assert.fail('there is no message yet'));
    assert.equal(assembler.empty, false);
  }
});

test('a message over the limit is refused before it is collected', () => {
  const assembler = new MessageAssembler(100);
  const prefix = Buffer.from([0, 0, 0, 0, 101]);
  assert.throws(() => assembler.push(prefix, () => {}), { status: 8, fate: 'lost' });
});

test('a compressed message is refused', () => {
  assert.throws(() => new MessageAssembler().push(Buffer.from([1, 0, 0, 0, 0]), () => {}), { status: 13 });
});

test('a message of a failure is percent-encoded UTF-8', () => {
  const cases = {
    'etcdserver: no leader': 'etcdserver: no leader',
    '100%25': '100%',
    'na%C3%AFve %0A': 'naïve \n',
    'broken %ZZ %4': 'broken %ZZ %4',
    schön: 'schön',
  };
  for (const [encoded, decoded] of Object.entries(cases)) assert.equal(decodeMessage(encoded), decoded);
});

test('trailers tell success, a failure, or make no sense', () => {
  assert.equal(errorOfTrailers('0', undefined), undefined);
  const failure = errorOfTrailers('14', 'etcdserver: no leader');
  assert.deepEqual([failure?.status, failure?.message, failure?.fate], [14, 'etcdserver: no leader', 'answered']);
  assert.equal(errorOfTrailers(undefined, undefined)?.status, 2);
  assert.equal(errorOfTrailers('many', 'x')?.status, 2);
});

test('an HTTP status without gRPC says who is meant', () => {
  assert.deepEqual(
    [401, 403, 404, 503].map((status) => errorOfHttpStatus(status).status),
    [16, 7, 2, 14],
  );
});
