import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { huffmanEncoded } from '../testing/huffman-encoded.ts';
import { HpackDecoder } from './decoder.ts';
import { encodedField, encodedHead } from './encoder.ts';
import { huffmanDecoded } from './huffman.ts';

const limits = { bytesMax: 65_536, fieldsMax: 256 };
const decoded = (decoder: HpackDecoder, hex: string): string[] | undefined => {
  const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex');
  return decoder.decode(bytes, 0, bytes.length)?.map(({ name, value }) => `${name}: ${value}`);
};
const isBroken = { name: 'ConnectionError', code: 9 };
const isRefused = (hex: string): void => assert.throws(() => decoded(new HpackDecoder(limits), hex), isBroken, hex);

describe('the examples of RFC 7541, appendix C', () => {
  test('single headers', () => {
    const one = (hex: string): string[] | undefined => decoded(new HpackDecoder(limits), hex);
    assert.deepEqual(one('400a637573746f6d2d6b65790d637573746f6d2d686561646572'), ['custom-key: custom-header']);
    assert.deepEqual(one('040c2f73616d706c652f70617468'), [':path: /sample/path']);
    assert.deepEqual(one('100870617373776f726406736563726574'), ['password: secret']);
    assert.deepEqual(one('82'), [':method: GET']);
  });

  const common = [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com'];
  const requests = [
    common,
    [...common, 'cache-control: no-cache'],
    [':method: GET', ':scheme: https', ':path: /index.html', ':authority: www.example.com', 'custom-key: custom-value'],
  ];
  for (const [name, blocks] of Object.entries({
    'requests without Huffman code': [
      '828684410f7777772e6578616d706c652e636f6d',
      '828684be58086e6f2d6361636865',
      '828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565',
    ],
    'requests with Huffman code': [
      '828684418cf1e3c2e5f23a6ba0ab90f4ff',
      '828684be5886a8eb10649cbf',
      '828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf',
    ],
  })) {
    test(name, () => {
      const decoder = new HpackDecoder(limits);
      assert.deepEqual(
        blocks.map((hex) => decoded(decoder, hex)),
        requests,
      );
    });
  }

  test('responses with Huffman code, and a table of 256 bytes', () => {
    const decoder = new HpackDecoder(limits);
    const resized = '3fe101';
    const date = 'date: Mon, 21 Oct 2013 20:13:21 GMT';
    const location = 'location: https://www.example.com';
    assert.deepEqual(
      decoded(
        decoder,
        `${resized}488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3`,
      ),
      [':status: 302', 'cache-control: private', date, location],
    );
    assert.deepEqual(decoded(decoder, '4883640effc1c0bf'), [':status: 307', 'cache-control: private', date, location]);
    assert.deepEqual(
      decoded(
        decoder,
        '88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007',
      ),
      [
        ':status: 200',
        'cache-control: private',
        'date: Mon, 21 Oct 2013 20:13:22 GMT',
        location,
        'content-encoding: gzip',
        'set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1',
      ],
    );
  });
});

describe('what cannot be decoded', () => {
  test('indexes that nothing is at', () => ['80', 'be', 'ff00', '7e00'].forEach(isRefused));
  test('numbers and strings that do not end', () =>
    ['ff', 'ff80', '00', '0005', '000161', '00056162'].forEach(isRefused));
  test('numbers that are too large', () => ['ffffffffffff7f', 'ff8080808000', '007fffffffff7f'].forEach(isRefused));
  test('a table that is larger than allowed, or changes between headers', () => ['3fe21f', '8220'].forEach(isRefused));
  test('Huffman code with its end inside, or with padding that is none', () => {
    // The end of a string, whole; zeros as padding; eight bits of padding.
    for (const string of ['84ffffffff', '8118', '821fff']) isRefused(`00${string}00`);
  });
});

describe('the table', () => {
  test('forgets what it has no room for, and everything when it is made empty', () => {
    const decoder = new HpackDecoder(limits);
    decoded(decoder, '4001610162');
    assert.deepEqual(decoded(decoder, 'be'), ['a: b']);
    assert.throws(() => decoded(decoder, '203fe11fbe'), isBroken);
  });

  test('does not take what is larger than itself, and loses the rest', () => {
    const decoder = new HpackDecoder(limits);
    // 34 bytes of room: exactly for one of these.
    assert.deepEqual(decoded(decoder, '3f03 4001610162 be'), ['a: b', 'a: b']);
    assert.deepEqual(decoded(decoder, '400161026262'), ['a: bb']);
    assert.throws(() => decoded(decoder, 'be'), isBroken);
  });
});

describe('a small block that stands for much', () => {
  test('is not more than the limits allow, and the table stays right', () => {
    const decoder = new HpackDecoder({ bytesMax: 10_000, fieldsMax: 256 });
    // `a` with a value of 4,000 characters, kept in the table.
    const large = Buffer.concat([Buffer.from('4001617fa11e', 'hex'), Buffer.alloc(4_000, 0x62)]);
    assert.equal(decoder.decode(large, 0, large.length)?.length, 1);
    const bomb = Buffer.alloc(60_000, 0xbe);
    assert.equal(decoder.decode(bomb, 0, bomb.length), undefined);
    assert.equal(decoded(decoder, 'be')?.length, 1);
  });

  test('is not more headers than allowed', () => {
    const decoder = new HpackDecoder(limits);
    const many = (count: number): Buffer => Buffer.alloc(count, 0x82);
    assert.equal(decoder.decode(many(256), 0, 256)?.length, 256);
    assert.equal(decoder.decode(many(257), 0, 257), undefined);
  });
});

const bytesText = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('latin1'));

test('every string survives Huffman code', () => {
  fc.assert(
    fc.property(bytesText, (text) => {
      const encoded = huffmanEncoded(text);
      assert.equal(huffmanDecoded(encoded, 0, encoded.length), text);
    }),
  );
});

test('any bytes are decoded or refused', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 100 }), { maxLength: 5 }), (blocks) => {
      const decoder = new HpackDecoder(limits);
      try {
        for (const bytes of blocks) decoder.decode(Buffer.from(bytes), 0, bytes.length);
      } catch (error) {
        assert.equal((error as { code?: number }).code, 9);
      }
    }),
    { numRuns: 2_000 },
  );
});

describe('the head of an answer', () => {
  const value = fc.string({
    unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
    maxLength: 400,
  });
  const name = fc
    .string({ unit: fc.constantFrom(...'abcxyz-09'), minLength: 1, maxLength: 20 })
    .map((end) => `x${end}`);

  test('is what was meant', () => {
    const headers = fc.dictionary(name, fc.oneof(value, fc.array(value, { maxLength: 3 })), { noNullPrototype: true });
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 599 }), headers, (status, given) => {
        const block = Buffer.from(encodedHead(status, given), 'latin1');
        const fields = new HpackDecoder({ bytesMax: 1e6, fieldsMax: 1e3 }).decode(block, 0, block.length)!;
        const expected = Object.entries(given).flatMap(([key, values]) => [values].flat().map((one) => [key, one]));
        assert.deepEqual(
          fields.map((field) => [field.name, field.value]),
          [[':status', String(status)], ...expected],
        );
      }),
    );
  });

  test('has names in lower case, and none that belong to HTTP/1.1', () => {
    const block = Buffer.from(
      encodedHead(200, { 'X-Upper': 'A', connection: 'close', 'Transfer-Encoding': 'x' }),
      'latin1',
    );
    assert.deepEqual(decoded(new HpackDecoder(limits), block.toString('hex')), [':status: 200', 'x-upper: A']);
  });

  test('cannot be made of what would end a header', () => {
    for (const [key, text] of [
      ['a', 'b\r\nc'],
      ['a', '\0'],
      ['a', '\u0100'],
      ['a b', 'c'],
      ['a:', 'c'],
      ['', 'c'],
    ] as const) {
      assert.throws(() => encodedField(key, text), TypeError);
    }
  });
});
