import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StreamLimit } from './stream-limit.ts';
import { NodeTotals } from './totals.ts';

test('open and refused streams of all control planes are counted', () => {
  const totals = new NodeTotals();
  const [red, blue] = ['red', 'blue'].map((plane) => new StreamLimit(1, plane, totals.streams));
  red!.enter();
  const leave = blue!.enter();
  assert.throws(() => red!.enter(), { code: 'TooManyRequests' });
  const values = (): string[] => totals.text().match(/^hangar_node\S+ \d+$/gm) ?? [];
  assert.deepEqual(values(), ['hangar_node_streams 2', 'hangar_node_streams_refused_total 1']);
  leave();
  assert.deepEqual(values(), ['hangar_node_streams 1', 'hangar_node_streams_refused_total 1']);
});
