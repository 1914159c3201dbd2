import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import {
  checkKey,
  checkRange,
  compareKeys,
  everything,
  inRange,
  intersection,
  keyBytesMax,
  prefixRange,
  successor,
} from './keys.ts';

/** Any well-formed Unicode, with many characters from where the orders of UTF-8 and UTF-16 differ. */
const delicate = fc.constantFrom('\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}', '\u007f', '\u0080', '~', 'a');
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.array(delicate, { maxLength: 6 }).map((characters) => characters.join('')),
);

const bound = fc.oneof(text, text.map(successor));
const range = fc.record({ start: bound, end: fc.option(bound, { nil: undefined }) }).map(({ start, end }) => {
  return end === undefined ? { start } : { start, end };
});

describe('the order of keys', () => {
  test('is that of their UTF-8 bytes', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        assert.equal(Math.sign(compareKeys(a, b)), Buffer.compare(Buffer.from(a), Buffer.from(b)));
      }),
      { numRuns: 5_000 },
    );
  });

  test('differs from that of strings where surrogates come in', () => {
    assert.deepEqual(['\uffff', '\u{10000}'].sort(), ['\u{10000}', '\uffff']);
    assert.ok(compareKeys('\u{10000}', '\uffff') > 0);
  });

  test('has nothing between a key and its successor', () => {
    fc.assert(
      fc.property(text, text, (key, other) => {
        assert.ok(compareKeys(key, successor(key)) < 0);
        const between = compareKeys(key, other) < 0 && compareKeys(other, successor(key)) < 0;
        assert.equal(between, false);
      }),
    );
  });
});

describe('a prefix range', () => {
  test('holds exactly the strings with the prefix', () => {
    fc.assert(
      fc.property(text, text, (prefix, other) => {
        assert.equal(inRange(other, prefixRange(prefix)), other.startsWith(prefix));
        assert.ok(inRange(prefix + other, prefixRange(prefix)));
      }),
      { numRuns: 5_000 },
    );
  });

  test('has well-formed bounds that a store accepts, whatever the prefix ends with', () => {
    fc.assert(
      fc.property(text, (prefix) => {
        checkRange(prefixRange(prefix));
      }),
    );
    checkRange(prefixRange('a~'));
    checkRange(prefixRange('x'.repeat(keyBytesMax)));
    checkRange(prefixRange('\uffff'.repeat(682)));
  });

  test('of nothing is everything, and of the last character of all has no end', () => {
    assert.deepEqual(prefixRange(''), everything);
    assert.deepEqual(prefixRange('\u{10ffff}'), { start: '\u{10ffff}' });
    assert.deepEqual(prefixRange('a\u{10ffff}'), { start: 'a\u{10ffff}', end: 'b' });
    assert.deepEqual(prefixRange('\ud7ff'), { start: '\ud7ff', end: '\ue000' });
    assert.deepEqual(prefixRange('/registry/'), { start: '/registry/', end: '/registry0' });
  });
});

describe('the intersection of two ranges', () => {
  test('holds a key exactly when both do', () => {
    fc.assert(
      fc.property(range, range, text, (a, b, key) => {
        const both = intersection(a, b);
        assert.equal(both !== undefined && inRange(key, both), inRange(key, a) && inRange(key, b));
      }),
      { numRuns: 3_000 },
    );
  });

  test('is undefined where they do not meet', () => {
    assert.equal(intersection({ start: 'a', end: 'b' }, { start: 'b', end: 'c' }), undefined);
    assert.deepEqual(intersection({ start: 'a', end: 'c' }, { start: 'b' }), { start: 'b', end: 'c' });
    assert.deepEqual(intersection(everything, everything), everything);
  });
});

describe('a key', () => {
  const code = (key: unknown) => {
    try {
      checkKey(key as string);
      return 'fine';
    } catch (error) {
      return (error as { code: string }).code;
    }
  };

  test('is any well-formed text without control characters, up to its limit in bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }), (key) => {
        // oxlint-disable-next-line no-control-regex
        assert.equal(code(key), /[\u0000-\u001f\u007f]/.test(key) ? 'InvalidKey' : 'fine');
      }),
    );
    for (const unit of ['x', 'é', '中', '😀']) {
      const most = Math.floor(keyBytesMax / Buffer.byteLength(unit));
      assert.equal(code(unit.repeat(most)), 'fine');
      assert.equal(code(unit.repeat(most + 1)), 'InvalidKey');
    }
  });

  test('is refused with a message that can be read when it is none', () => {
    for (const key of ['', 'a\u0000', '\n', 'a\ud800', '\udc00', undefined, 5, {}])
      assert.equal(code(key), 'InvalidKey');
    assert.throws(() => checkKey('a\nb'), /"a\\nb".*control/);
    assert.throws(
      () => checkKey('x'.repeat(3_000)),
      (error: Error) => error.message.length < 200,
    );
  });
});
