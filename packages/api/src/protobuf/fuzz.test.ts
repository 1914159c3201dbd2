import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzzProtobuf } from './protobuf.fuzz.ts';

test('damaged messages become objects or typed errors, nothing else', () => {
  const { decoded, refused } = fuzzProtobuf(4000, 42);
  assert.ok(decoded > 100, `decoded ${decoded}`);
  assert.ok(refused > 1000, `refused ${refused}`);
});
