import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Revision } from '../../../contract.ts';
import type { ReplicaFrame } from '../../../replication/frames.ts';
import { nextStep } from './next-step.ts';
import type { Step } from './next-step.ts';

const at = (revision: number): Revision => revision as Revision;
const batch = (revision: number, after?: number): ReplicaFrame & { readonly type: 'batch' } => ({
  type: 'batch',
  revision: at(revision),
  puts: [],
  deletes: [],
  ...(after !== undefined && { after: at(after) }),
});
const progress = (revision: number): ReplicaFrame => ({ type: 'progress', revision: at(revision) });

test('each combination of position, revision and frame has one step', () => {
  const cases: [position: number, revision: number, frame: ReplicaFrame, step: Step | string][] = [
    [100, 100, batch(101), { type: 'commit' }],
    [100, 100, batch(103), { type: 'fill', to: 102, count: 2 }],
    [100, 100, progress(103), { type: 'fill', to: 103, count: 3 }],
    [100, 100, batch(100), { type: 'skip' }],
    [100, 100, batch(7), { type: 'skip' }],
    [100, 100, progress(100), { type: 'skip' }],
    [100, 100, { type: 'snapshot', revision: at(100) }, { type: 'skip' }],
    // A lease expired, or others wrote.
    [100, 101, batch(103), 'Diverged'],
    [100, 102, batch(103), 'Diverged'],
    [100, 103, progress(103), 'Diverged'],
    [100, 104, batch(100), { type: 'skip' }],
    [0, 100, batch(103), 'Diverged'],
    [100, 100, batch(112, 100), { type: 'fill', to: 111, count: 11 }],
    [100, 100, batch(111), { type: 'fill', to: 110, count: 10 }],
    [100, 100, batch(112), 'GapTooLarge'],
    [100, 100, batch(105, 101), 'OutOfOrder'],
    [100, 100, { type: 'snapshot', revision: at(101) }, 'OutOfOrder'],
  ];
  for (const [position, revision, frame, expected] of cases) {
    const gapMax = frame.type === 'batch' && frame.after === 100 ? 11 : 10;
    const step = () => nextStep({ position, revision }, frame, gapMax);
    const name = `${position} ${revision} ${JSON.stringify(frame)}`;
    if (typeof expected === 'string') assert.throws(step, { code: expected }, name);
    else assert.deepEqual(step(), expected, name);
  }
  const key = { key: 'a', value: Buffer.alloc(0), createRevision: at(1), modRevision: at(1), version: 1 };
  assert.throws(() => nextStep({ position: 5, revision: 5 }, { type: 'entry', entry: key }, 10), {
    code: 'OutOfOrder',
  });
});

test('a frame needs at most one step before its transaction, and none raises the revision to that of the batch', () => {
  fc.assert(
    fc.property(fc.nat(50), fc.nat(50), (position, gap) => {
      const frame = batch(position + 1 + gap);
      const state = { position: position + 1, revision: position + 1 };
      const step = nextStep(state, frame, 100);
      if (gap === 0) return assert.equal(step.type, 'skip');
      if (step.type === 'commit') return assert.equal(state.revision + 1, frame.revision);
      assert.ok(step.type === 'fill' && step.to < frame.revision && step.to === state.revision + step.count);
      return assert.equal(nextStep({ position: step.to, revision: step.to }, frame, 100).type, 'commit');
    }),
  );
});
