import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measuredOf, medianOf, ratio, unitOf } from './figures.ts';

const measured = (unitMs: number, cpuMs: number) => ({ unitMs, cpuMs });

test('the median time and the median CPU time of all rounds count', () => {
  assert.deepEqual(medianOf([measured(5, 30), measured(70, 20), measured(6, 40)]), measured(6, 30));
  assert.deepEqual(medianOf([measured(5, 30), measured(7, 20)]), measured(6, 25));
});

test('a server that needs half the time has the ratio 2, also if the rounds have different speeds', () => {
  const theirs = [measured(10, 4), measured(100, 4), measured(30, 4)];
  const ours = [measured(5, 4), measured(50, 2), measured(60, 1)];
  assert.equal(ratio({ theirs, ours }, 'unitMs'), 2);
  assert.equal(ratio({ theirs, ours }, 'cpuMs'), 2);
});

test('a transfer is printed as a rate, a round trip as a time', () => {
  const sizes = { bytes: 64 * 1024 * 1024 };
  assert.equal(unitOf({ isTransfer: true }, measured(500, 0), sizes), '128 MiB/s');
  assert.equal(unitOf({ isTransfer: false }, measured(1.234, 0), sizes), '1.23 ms');
});

test('the CPU time of a measurement is the difference of two readings', async () => {
  let cpuMs = 100;
  const work = async (): Promise<number> => {
    cpuMs += 30;
    return 7;
  };
  assert.deepEqual(await measuredOf(work, () => cpuMs), measured(7, 30));
});
