import assert from 'node:assert/strict';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { rotateOnce } from './log-rotation.ts';

test('a log above the limit moves to a numbered file, three of which are kept, and the writer continues in the empty one', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'hangar-log-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'hangar.log');
  const writer = openSync(path, 'a');
  t.after(() => closeSync(writer));
  for (let round = 1; round <= 6; round++) {
    writeSync(writer, `round ${round}\n`);
    rotateOnce(path, 4);
  }
  writeSync(writer, 'now\n');
  rotateOnce(path, 4);
  assert.deepEqual(readdirSync(folder).sort(), ['hangar.log', 'hangar.log.1', 'hangar.log.2', 'hangar.log.3']);
  assert.equal(readFileSync(path, 'utf8'), 'now\n');
  assert.equal(readFileSync(`${path}.1`, 'utf8'), 'round 6\n');
  assert.equal(readFileSync(`${path}.3`, 'utf8'), 'round 4\n');
});

test('a log that does not exist is left alone', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'hangar-log-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  rotateOnce(join(folder, 'hangar.log'), 4);
  assert.deepEqual(readdirSync(folder), []);
});
