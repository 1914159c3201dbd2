import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { interruptionsMax } from '@hangar/cel';
import { systemClock } from '@hangar/core';
import { steppedCpuTime } from '@hangar/core/testing';
import { ExpressionQueue } from './expression-queue.ts';
import type { Expression } from './expression-queue.ts';

const scope = { hasParams: false, hasAuthorizer: false };
/** Long enough that the budget reads the clock several times during compilation. */
const text = `1 in [${Array.from({ length: 1_000 }, (_, at) => at).join(', ')}]`;

function queued(count: number): { queue: ExpressionQueue; expressions: readonly Expression[] } {
  const queue = new ExpressionQueue();
  const expressions = Array.from({ length: count }, () => queue.add({ text, use: 'condition', scope }));
  return { queue, expressions };
}

describe('a compilation that is interrupted', () => {
  test('is repeated after a rest', async (t) => {
    steppedCpuTime(t, (read) => (read === 2 ? 60 : 0));
    const { queue, expressions } = queued(2);
    await queue.ready(systemClock);
    assert.equal(queue.ready(systemClock), undefined);
    assert.ok(expressions.every(({ program, problem }) => program !== undefined && problem === ''));
  });

  test('is a problem of the expression when it is interrupted every time', async (t) => {
    const reads = steppedCpuTime(t, () => 60);
    const { queue, expressions } = queued(1);
    await queue.ready(systemClock);
    assert.match(expressions[0]!.problem, /^compilation failed: operation interrupted/);
    assert.equal(queue.ready(systemClock), undefined);
    // The clock is read twice before an interruption and once after it.
    assert.equal(reads(), interruptionsMax * 3);
  });

  test('by a budget that other expressions exhausted is continued by the next request', async (t) => {
    steppedCpuTime(t, () => 2);
    const { queue, expressions } = queued(400);
    await queue.ready(systemClock);
    assert.ok(expressions[0]!.program);
    assert.match(expressions.at(-1)!.problem, /^compilation failed: operation interrupted: .*more than 2000 ms/);
    for (let pending = queue.ready(systemClock); pending !== undefined; pending = queue.ready(systemClock)) {
      await pending;
    }
    assert.ok(expressions.every(({ program }) => program !== undefined));
  });
});

test('a failure while expressions are compiled is not kept', async (t) => {
  steppedCpuTime(t, () => 2);
  const { queue, expressions } = queued(10);
  const failing = {
    ...systemClock,
    soon: () => {
      throw new Error('no timers');
    },
  };
  await assert.rejects(async () => queue.ready(failing), /no timers/);
  await queue.ready(systemClock);
  assert.ok(expressions.every(({ program }) => program !== undefined));
});

test('an expression sees the types of those before it', async () => {
  const variables = new Map<string, unknown>();
  const queue = new ExpressionQueue();
  queue.add({
    text: '1',
    use: 'variable',
    scope: { ...scope, variables },
    onCompiled: (program) => variables.set('one', program?.outputType),
  });
  const wrong = queue.add({ text: 'variables.one', use: 'condition', scope: { ...scope, variables } });
  await queue.ready(systemClock);
  assert.match(wrong.problem, /must evaluate to bool but got int/);
});
