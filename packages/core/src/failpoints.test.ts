import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failpoints } from './failpoints.ts';

/** Returns which of ten hits threw. */
function throwing(failpoints: Failpoints, name: string): number[] {
  const thrown: number[] = [];
  for (let hit = 1; hit <= 10; hit++) {
    try {
      failpoints.hit(name);
    } catch {
      thrown.push(hit);
    }
  }
  return thrown;
}

describe('a failpoint', () => {
  test('does nothing until it is armed, and nothing when another one is', () => {
    const failpoints = new Failpoints();
    assert.deepEqual(throwing(failpoints, 'place'), []);
    failpoints.arm('elsewhere', { throws: new Error('no') });
    assert.deepEqual(throwing(failpoints, 'place'), []);
  });

  test('throws exactly what it was armed with, every time', () => {
    const failpoints = new Failpoints();
    const error = new Error('planned');
    failpoints.arm('place', { throws: error });
    assert.throws(() => failpoints.hit('place'), error);
    assert.equal(throwing(failpoints, 'place').length, 10);
    failpoints.disarm('place');
    assert.deepEqual(throwing(failpoints, 'place'), []);
  });

  test('skips and counts as told, then disarms itself', () => {
    const failpoints = new Failpoints();
    const throws = new Error('planned');
    failpoints.arm('place', { skip: 3, times: 2, throws });
    assert.deepEqual(throwing(failpoints, 'place'), [4, 5]);
    failpoints.arm('place', { times: 1, throws });
    assert.deepEqual(throwing(failpoints, 'place'), [1]);
    failpoints.arm('place', { skip: 8, throws });
    assert.deepEqual(throwing(failpoints, 'place'), [9, 10]);
  });

  test('runs what it was given, before it throws, and may arm again inside', () => {
    const failpoints = new Failpoints();
    let runs = 0;
    failpoints.arm('place', { times: 1, run: () => runs++ });
    failpoints.hit('place');
    failpoints.hit('place');
    assert.equal(runs, 1);
    failpoints.arm('place', {
      times: 1,
      run: () => failpoints.arm('place', { times: 1, throws: new Error('second') }),
      throws: new Error('first'),
    });
    assert.throws(() => failpoints.hit('place'), /first/);
    assert.throws(() => failpoints.hit('place'), /second/);
    failpoints.hit('place');
  });

  test('does not change the action that it was armed with', () => {
    const action = { skip: 1, times: 1, throws: new Error('planned') };
    for (let again = 0; again < 2; again++) {
      const failpoints = new Failpoints();
      failpoints.arm('place', action);
      assert.deepEqual(throwing(failpoints, 'place'), [2]);
    }
  });
});
