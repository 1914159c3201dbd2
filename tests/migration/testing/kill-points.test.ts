/** The selection of rounds of `interrupted.real.ts`. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allRounds, fewRounds, killPoints, selectedRounds } from './kill-points.ts';

const isPair = (to: readonly string[]): boolean => to.every((side, at) => side === ['Dedicated', 'Virtual'][at % 2]);

test('the parts of a matrix have every round once, and each part returns to mode Virtual', () => {
  for (const parts of [1, 3, 8]) {
    const all = Array.from({ length: parts }, (_, at) => selectedRounds(`${at + 1}/${parts}`));
    for (const rounds of all) assert.ok(isPair(rounds.map(({ to }) => to)));
    assert.equal(distinct(all.flat()), distinct(allRounds()));
    assert.equal(all.flat().length, allRounds().length);
  }
});

test('the matrix has every point, with the server at least', () => {
  for (const [to, points] of Object.entries(killPoints)) {
    const kills = allRounds().flatMap((round) => (round.to === to ? round.kills : []));
    const ofServer = kills.filter(({ victim }) => victim === 'hangar').map(({ at }) => at);
    assert.deepEqual(ofServer.toSorted(), points.map(({ at }) => at).toSorted());
  }
});

test('a range of rounds is widened to whole pairs', () => {
  const all = allRounds();
  assert.deepEqual(selectedRounds('3-4'), all.slice(2, 6));
  assert.deepEqual(selectedRounds(undefined), fewRounds);
});

test('a selection without rounds is an error', () => {
  for (const text of ['', 'some', '9/8', '0/8', '5-2', '900-901']) {
    assert.throws(() => selectedRounds(text), /expected "all"/);
  }
});

const distinct = (rounds: readonly object[]): number => new Set(rounds.map((round) => JSON.stringify(round))).size;
