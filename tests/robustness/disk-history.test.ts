/** The model of a disk must be as weak as it claims, or the power cuts prove nothing. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { DiskHistory } from './disk-history.ts';
import type { DiskEvent } from './disk-history.ts';

const write = (path: string, offset: number, text: string): DiskEvent => ({
  type: 'write',
  path,
  offset,
  data: Buffer.from(text),
});
const sync = (path: string): DiskEvent => ({ type: 'sync', path });
const create = (path: string): DiskEvent => ({ type: 'create', path });

/** Every state that some cut leaves, as text. */
function cuts(...events: DiskEvent[]): Set<string> {
  const history = new DiskHistory('/d');
  for (const event of events) history.play(event);
  return new Set(
    Array.from({ length: 300 }, (_, seed) => {
      const files = [...history.cut(seededRandom(seed))];
      return files.map(([path, content]) => `${path}=${content.toString().replaceAll('\0', '_')}`).join(' ');
    }),
  );
}

test('what was synced is there, in the file and in the directory', () => {
  const events = [create('/d/a'), write('/d/a', 0, 'one'), sync('/d/a'), sync('/d')];
  assert.deepEqual(cuts(...events), new Set(['/d/a=one']));
});

test('what was not synced is there, partly, or not', () => {
  const begun = [create('/d/a'), sync('/d'), write('/d/a', 0, 'one')];
  assert.deepEqual(cuts(...begun), new Set(['/d/a=', '/d/a=one']));
  const both = [...begun, write('/d/a', 3, 'two')];
  assert.deepEqual(cuts(...both), new Set(['/d/a=', '/d/a=one', '/d/a=___two', '/d/a=onetwo']));
});

test('a long write can be torn between its sectors', () => {
  const states = cuts(create('/d/a'), sync('/d'), write('/d/a', 0, 'x'.repeat(512) + 'y'.repeat(512)));
  assert.ok([...states].some((state) => state.includes('x') && !state.includes('y')));
  assert.ok([...states].some((state) => state.includes('_') && state.includes('y')));
});

test('a synced file is lost when its name was not', () => {
  assert.deepEqual(cuts(create('/d/a'), write('/d/a', 0, 'one'), sync('/d/a')), new Set(['', '/d/a=one']));
});

test('a renamed or removed file has its old name or its new one', () => {
  const whole = [create('/d/a'), write('/d/a', 0, 'one'), sync('/d/a'), sync('/d')];
  assert.deepEqual(cuts(...whole, { type: 'rename', path: '/d/a', to: '/d/b' }), new Set(['/d/a=one', '/d/b=one']));
  assert.deepEqual(cuts(...whole, { type: 'unlink', path: '/d/a' }), new Set(['/d/a=one', '']));
});

test('a truncation is a change like others', () => {
  const whole = [create('/d/a'), write('/d/a', 0, 'one'), sync('/d/a'), sync('/d')];
  assert.deepEqual(cuts(...whole, { type: 'truncate', path: '/d/a', length: 1 }), new Set(['/d/a=one', '/d/a=o']));
});
