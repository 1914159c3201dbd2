import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { seededRandom, systemClock } from '@hangar/core';
import { writeAtomically } from './atomic-files.ts';

test('one link publishes a new version, and old files disappear with it', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'hangar-volume-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const world = { folder, clock: systemClock, random: seededRandom(1) };
  const file = (text: string, mode = 0o644) => ({ data: Buffer.from(text), mode });

  const first = new Map([
    ['ca.crt', file('one')],
    ['nested/key', file('secret', 0o400)],
  ]);
  assert.equal(await writeAtomically({ ...world, files: first }), true);
  assert.equal(readFileSync(join(folder, 'ca.crt'), 'utf8'), 'one');
  assert.equal(statSync(join(folder, 'nested/key')).mode & 0o777, 0o400);
  assert.equal(readlinkSync(join(folder, 'ca.crt')), '..data/ca.crt');
  const version = readlinkSync(join(folder, '..data'));
  assert.equal(await writeAtomically({ ...world, files: first }), false);
  assert.equal(readlinkSync(join(folder, '..data')), version);

  assert.equal(await writeAtomically({ ...world, files: new Map([['ca.crt', file('two')]]) }), true);
  assert.equal(readFileSync(join(folder, 'ca.crt'), 'utf8'), 'two');
  assert.notEqual(readlinkSync(join(folder, '..data')), version);
  assert.deepEqual(
    readdirSync(folder).filter((name) => !name.startsWith('..')),
    ['ca.crt'],
  );
  assert.equal(readdirSync(folder).filter((name) => name.startsWith('..2')).length, 1);
});
