import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Sample, SampledActivity } from './contract.ts';
import { stallOf, withoutPauses } from './stall.ts';

const activity = (id: number): SampledActivity => ({
  id,
  tenant: `tenant-${id}`,
  user: '',
  verb: 'GET',
  resource: '/',
  isAccountable: true,
});
const sample = (atMs: number, id: number, { cpuMs = atMs, askedMs = atMs } = {}): Sample => ({
  count: 1,
  askedMs,
  atMs,
  cpuMs,
  heapUse: 0,
  activity: id === 0 ? undefined : activity(id),
});
const before = { count: 1, atMs: 0, cpuMs: 0 };
const until = (atMs: number, cpuMs = atMs) => ({ count: 2, atMs, cpuMs });
const partsOf = (stall: ReturnType<typeof stallOf>) =>
  stall?.parts.map(({ activity: of, ms }) => [of?.tenant ?? '', ms]);

describe('a stall', () => {
  test('is a beat that comes more than 100 ms late', () => {
    assert.equal(stallOf({ before, samples: [], beat: until(149) }), undefined);
    assert.deepEqual(partsOf(stallOf({ before, samples: [], beat: until(150) })), [['', 150]]);
  });

  test('is split among the activities that samples saw', () => {
    const samples = [sample(100, 1), sample(160, 1), sample(190, 2), sample(400, 2)];
    assert.deepEqual(partsOf(stallOf({ before, samples, beat: until(420) })), [
      ['tenant-2', 210],
      ['', 150],
      ['tenant-1', 60],
    ]);
  });

  test('is not blamed on an activity that one sample saw', () => {
    const samples = [sample(500, 1), sample(525, 2), sample(550, 1)];
    assert.deepEqual(partsOf(stallOf({ before, samples, beat: until(600) })), [['', 600]]);
  });

  test('is blamed on the activity of a native call from when the sample was asked for', () => {
    const late = [sample(900, 1, { askedMs: 110 })];
    assert.deepEqual(partsOf(stallOf({ before, samples: late, beat: until(905) })), [
      ['tenant-1', 790],
      ['', 115],
    ]);
    const inTime = [sample(900, 1, { askedMs: 880 })];
    assert.deepEqual(partsOf(stallOf({ before, samples: inTime, beat: until(905) })), [['', 905]]);
  });

  test('counts no time in which the thread did not run: the machine or the process was stopped', () => {
    const stall = stallOf({
      before,
      samples: [sample(10, 1), sample(5_000, 1, { cpuMs: 35 })],
      beat: until(5_010, 40),
    });
    assert.equal(stall!.untilMs - stall!.fromMs, 4_960);
    assert.deepEqual(partsOf(stall), [
      ['tenant-1', 25],
      ['', 15],
    ]);
  });

  test('counts no pause of the garbage collector', () => {
    const stall = stallOf({ before, samples: [sample(0, 1), sample(500, 1)], beat: until(500) })!;
    const pauses = [
      { fromMs: 100, untilMs: 400 },
      { fromMs: 900, untilMs: 2_000 },
    ];
    assert.deepEqual(partsOf(withoutPauses(stall, pauses)), [['tenant-1', 200]]);
    assert.deepEqual(partsOf(withoutPauses(stall, [])), [['tenant-1', 500]]);
  });
});
