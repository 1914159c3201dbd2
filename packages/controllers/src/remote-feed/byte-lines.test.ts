import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasCode } from '@hangar/core';
import { ByteLines } from './byte-lines.ts';

const text = 'first\nsecond ü\n\nfourth\n';
const expected = ['first', 'second ü', '', 'fourth'];

test('lines are the same, however the bytes are cut', () => {
  const bytes = Buffer.from(text);
  for (let size = 1; size <= bytes.length; size++) {
    const [lines, taken]: [ByteLines, string[]] = [new ByteLines(), []];
    for (let at = 0; at < bytes.length; at += size) {
      lines.push(bytes.subarray(at, at + size), (line) => void taken.push(line.toString()));
    }
    assert.deepEqual(taken, expected, `in pieces of ${size}`);
  }
});

test('a line within one piece is a part of it, and no copy', () => {
  const bytes = Buffer.from(text);
  new ByteLines().push(bytes, (line) => assert.equal(line.buffer, bytes.buffer));
});

test('a line that nobody wants is empty, however it is cut, and the next one is whole', () => {
  const bytes = Buffer.from(text);
  for (let size = 1; size <= bytes.length; size++) {
    const [lines, taken]: [ByteLines, string[]] = [new ByteLines(), []];
    for (let at = 0; at < bytes.length; at += size) {
      lines.push(bytes.subarray(at, at + size), (line) => {
        taken.push(line.toString());
        if (taken.length === 1) lines.skipNext();
      });
    }
    assert.deepEqual(taken, ['first', '', '', 'fourth'], `in pieces of ${size}`);
  }
});

test('a line without an end is refused when it is too long, unless nobody wants it', () => {
  const lines = new ByteLines(100);
  const none = (): void => assert.fail('it has no end');
  lines.push(Buffer.alloc(60, 'x'), none);
  assert.throws(
    () => lines.push(Buffer.alloc(60, 'x'), none),
    (error) => hasCode(error, 'MalformedAnswer'),
  );
  const unwanted = new ByteLines(100);
  unwanted.skipNext();
  for (let at = 0; at < 10; at++) unwanted.push(Buffer.alloc(60, 'x'), none);
});
