import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCondition, hasConditionStatus, isConditionFalse, isConditionTrue } from './conditions.ts';
import { removeCondition, setCondition, setConditions } from './conditions.ts';
import type { Condition } from './conditions.ts';

const at = (text: string) => ({ now: () => Date.parse(text) });
const noon = at('2026-01-01T12:00:00.900Z');
const later = at('2026-01-01T13:00:00Z');

const ready: Condition = {
  type: 'Ready',
  status: 'True',
  observedGeneration: 1,
  lastTransitionTime: '2026-01-01T12:00:00Z',
  reason: 'AllGood',
  message: '',
};
const next = { type: 'Ready', status: true, reason: 'AllGood', observedGeneration: 1 } as const;

test('the first condition of a type gets the time of now, to the second', () => {
  assert.deepEqual(setCondition(undefined, next, noon), [ready]);
});

test('a condition that says the same again is the same array: there is nothing to write', () => {
  const before = [ready];
  assert.equal(setCondition(before, next, later), before);
});

test('another reason, message or generation leaves the time of the transition', () => {
  for (const change of [{ reason: 'StillGood' }, { message: 'as before' }, { observedGeneration: 2 }]) {
    const [after] = setCondition([ready], { ...next, ...change }, later);
    assert.deepEqual(after, { ...ready, ...change });
  }
});

test('another status moves the time of the transition, or takes the one that is given', () => {
  const [after] = setCondition([ready], { ...next, status: 'Unknown', reason: 'Lost' }, later);
  assert.equal(after!.lastTransitionTime, '2026-01-01T13:00:00Z');
  assert.equal(after!.status, 'Unknown');
  const given = '2025-12-31T00:00:00Z';
  const [dated] = setCondition([ready], { ...next, status: false, lastTransitionTime: given }, later);
  assert.equal(dated!.lastTransitionTime, given);
  assert.equal(dated!.status, 'False');
});

test('a generation that is no longer said goes away, as with SetStatusCondition', () => {
  const [after] = setCondition([ready], { type: 'Ready', status: 'True', reason: 'AllGood' }, later);
  assert.equal('observedGeneration' in after!, false);
});

test('conditions keep their order, and what was given is not changed', () => {
  const other: Condition = { ...ready, type: 'Synced' };
  const before = Object.freeze([Object.freeze(ready), Object.freeze(other)]);
  const after = setConditions(
    before,
    [
      { ...next, status: false },
      { type: 'New', status: true, reason: 'Made' },
    ],
    later,
  );
  assert.deepEqual(
    after.map(({ type }) => type),
    ['Ready', 'Synced', 'New'],
  );
  assert.equal(before[0]!.status, 'True');
});

test('conditions are found, asked and removed by type', () => {
  const all: Condition[] = [ready, { ...ready, type: 'Stalled', status: 'False' }];
  assert.equal(findCondition(all, 'Ready'), ready);
  assert.equal(findCondition(undefined, 'Ready'), undefined);
  assert.equal(isConditionTrue(all, 'Ready'), true);
  assert.equal(isConditionTrue(all, 'Absent'), false);
  assert.equal(isConditionFalse(all, 'Stalled'), true);
  assert.equal(isConditionFalse(all, 'Absent'), false);
  assert.equal(hasConditionStatus(all, 'Ready', 'Unknown'), false);
  assert.deepEqual(removeCondition(all, 'Ready'), [all[1]]);
  assert.equal(removeCondition(all, 'Absent'), all);
});
