import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DayVolumes } from './volume.ts';

const limits = { wholeBytesMax: 2_000, bytesMax: 3_000 };

test('the form of an event depends on the bytes that its control plane stored before', () => {
  const volumes = new DayVolumes(limits, new Map([['red', { bytes: 1_999, dropped: 0 }]]));
  assert.equal(volumes.next('red'), 'Whole');
  volumes.add('red', 'x');
  assert.equal(volumes.next('red'), 'WithoutObjects');
  volumes.add('red', 'x'.repeat(1_000));
  assert.deepEqual(volumes.limited, []);
  assert.deepEqual([volumes.next('red'), volumes.next('red')], ['None', 'None']);
  assert.equal(volumes.next('blue'), 'Whole');
  assert.deepEqual(volumes.limited, ['red']);
  assert.equal(volumes.changed.get('red')!.dropped, 2);
  volumes.remove('red', 'x'.repeat(1_000));
  assert.equal(volumes.next('red'), 'WithoutObjects');
});

test('a control plane that was limited before is not reported again', () => {
  const volumes = new DayVolumes(limits, new Map([['red', { bytes: 3_000, dropped: 1 }]]));
  assert.equal(volumes.next('red'), 'None');
  assert.deepEqual(volumes.limited, []);
});
