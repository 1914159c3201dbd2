import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import {
  compile,
  dynType,
  inSlices,
  intType,
  kubernetesEnvironment,
  listOf,
  nextInSlice,
  once,
  requestBytesMax,
  restAfterMs,
  sliceMsMax,
  WorkBudget,
} from './index.ts';
import { threadCpuMs } from './work.ts';
import { indexIn, lastIndexIn, splitAt } from './values/search.ts';

const env = kubernetesEnvironment({ n: listOf(intType), texts: dynType });
const n = Array.from({ length: 1_000 }, (_, index) => index);
const nested = compile('n.all(a, n.all(b, a + b >= 0))', env);
const short = compile('n[0] == 0', env);

/** Processor time that advances by this much at each read. */
function ticking(stepMs: number): () => number {
  let nowMs = 0;
  return () => (nowMs += stepMs);
}

describe('a budget of work', () => {
  test('interrupts an evaluation whose slice is over, whatever would absorb the error', () => {
    const absorbing = compile('n.all(a, n.all(b, a + b >= 0)) || true', env);
    const budget = new WorkBudget({ cpuMs: ticking(15) });
    assert.throws(() => absorbing.evaluate({ n }, { costLimit: Infinity, budget }), {
      code: 'Interrupted',
      message: `operation interrupted: evaluation takes more than ${sliceMsMax} ms of CPU time`,
    });
  });

  test('counts all evaluations of a slice, however short', () => {
    const budget = new WorkBudget({ cpuMs: () => assert.fail('short evaluations do not read the clock') });
    let evaluations = 0;
    assert.throws(
      () => {
        for (; evaluations < 10_000_000; evaluations++) short.evaluate({ n }, { budget });
      },
      { code: 'Interrupted' },
    );
    assert.ok(evaluations > 10_000, `${evaluations}`);
  });

  test('gives a new slice after a rest, until all of it is spent', async () => {
    const budget = new WorkBudget({ totalMs: 100, cpuMs: ticking(restAfterMs) });
    const messages: string[] = [];
    for (let round = 0; round < 4; round++) {
      assert.throws(
        () => nested.evaluate({ n }, { costLimit: Infinity, budget }),
        (error: Error) => messages.push(error.message) > 0,
      );
      await budget.rest(systemClock);
    }
    assert.match(messages[0]!, /evaluation takes more than/);
    assert.match(messages[1]!, /evaluation takes more than/);
    assert.match(messages[3]!, /expressions of this request take more than 100 ms/);
  });

  test('needs no rest before a while has passed', () => {
    const budget = new WorkBudget();
    short.evaluate({ n }, { budget });
    assert.equal(budget.rest(systemClock), undefined);
  });

  test('interrupts evaluations that allocate too much together', () => {
    const budget = new WorkBudget({ sliceMs: Infinity, totalMs: Infinity });
    const joined = compile("texts.map(a, a + a).join('').size() > 0", env);
    const texts = ['x'.repeat(1_000_000)];
    let evaluations = 0;
    assert.throws(
      () => {
        for (; evaluations < 1_000; evaluations++) joined.evaluate({ texts }, { budget });
      },
      { code: 'Interrupted', message: /take more than 64 MiB of memory/ },
    );
    assert.ok(evaluations > 1 && evaluations < requestBytesMax / 4_000_000, `${evaluations}`);
  });

  test('is that of the evaluation around one, unless another is given', () => {
    const outer = new WorkBudget({ cpuMs: ticking(15) });
    const inner = {
      get value() {
        return nested.evaluate({ n }, { costLimit: Infinity }).value;
      },
    };
    assert.throws(() => compile('texts.value', env).evaluate({ texts: inner }, { budget: outer }), {
      code: 'Interrupted',
    });
    const own = {
      get value() {
        const budget = new WorkBudget({ sliceMs: Infinity, totalMs: Infinity });
        return nested.evaluate({ n }, { costLimit: Infinity, budget }).value;
      },
    };
    assert.equal(compile('texts.value', env).evaluate({ texts: own }, { budget: new WorkBudget() }).value, true);
  });

  test('stops what costs nothing and takes long, with and without loops', () => {
    const words = Array.from({ length: 100_000 }, () => 'ab');
    const loop = 'n.all(a, n.all(b, texts.indexOf("x") < 0 && texts.max() == "ab" && texts.isSorted()))';
    const straight = Array.from({ length: 200 }, () => 'texts.indexOf("x") < 0').join(' && ');
    const typed = kubernetesEnvironment({ n: listOf(intType), texts: listOf({ kind: 'string' }) });
    for (const source of [loop, straight]) {
      assert.throws(() => compile(source, typed).evaluate({ n, texts: words }), { code: 'Interrupted' });
    }
  });
});

describe('slices', () => {
  /** Spends a slice. */
  const spend = (budget: WorkBudget): void =>
    budget.run(() => {
      while (budget.sliceSpentMs < restAfterMs) nested.evaluate({ n: n.slice(0, 100) });
    });

  test('a computation within one slice is not repeated', () => {
    let attempts = 0;
    assert.equal(
      inSlices(systemClock, () => {
        attempts += 1;
        return once(() => 1) + once(() => 2);
      }),
      3,
    );
    assert.equal(attempts, 1);
  });

  test('a computation of several slices computes each part once, and other work runs in between', async () => {
    const parts: number[] = [];
    let attempts = 0;
    let turns = 0;
    const turn = (): void => void (turns++, (timer = setImmediate(turn)));
    let timer = setImmediate(turn);
    const results = await inSlices(systemClock, () => {
      attempts += 1;
      return [1, 2, 3].map((part) =>
        once((budget) => {
          parts.push(part);
          spend(budget!);
          return part;
        }),
      );
    });
    clearImmediate(timer);
    assert.deepEqual(results, [1, 2, 3]);
    assert.deepEqual(parts, [1, 2, 3]);
    assert.ok(attempts > 1 && turns > 0, `${attempts} ${turns}`);
  });

  /** A clock that advances by this much at each read. */
  function stepping(stepMs: number): Clock {
    let nowMs = 0;
    return { ...systemClock, monotonicMs: () => (nowMs += stepMs) };
  }

  test('parts of parts are computed once, and an attempt computes at least one of them', async () => {
    const computed: string[] = [];
    let attempts = 0;
    const part = (name: string): string =>
      once(() => {
        computed.push(name);
        return name;
      });
    const compute = (): string[] => {
      attempts += 1;
      return ['a', 'b'].map((outer) => once(() => ['1', '2', '3'].map((inner) => part(outer + inner)).join()));
    };
    const results = await inSlices(stepping(restAfterMs), compute, { cpuMs: ticking(restAfterMs) });
    assert.deepEqual(results, ['a1,a2,a3', 'b1,b2,b3']);
    assert.deepEqual(computed, ['a1', 'a2', 'a3', 'b1', 'b2', 'b3']);
    assert.ok(attempts > 3, `${attempts} attempts`);
  });

  test('a computation that takes too long in all its slices is interrupted', async () => {
    const burn = (): void => {
      for (const endMs = threadCpuMs() + 20; threadCpuMs() < endMs;);
    };
    let parts = 0;
    const compute = (): void => {
      for (;;) once(() => void (parts++, burn()));
    };
    const endless = async (): Promise<void> => inSlices(systemClock, compute, { totalMs: 200 });
    await assert.rejects(endless(), { code: 'Interrupted', message: /the request takes more than 200 ms/ });
    assert.ok(parts >= 8 && parts <= 12, `${parts} parts`);
  });

  test('outside of a computation in slices there is none to end', () => {
    assert.equal(nextInSlice(), undefined);
    assert.equal(
      once(() => 7),
      7,
    );
  });
});

describe('searching in linear time', () => {
  const letters = (maxLength: number) => fc.string({ unit: fc.constantFrom('a', 'b'), maxLength });

  test('finds what the engine finds', () => {
    const filler = 'c'.repeat(60_000);
    fc.assert(
      fc.property(letters(40), letters(6), fc.nat(50), (text, part, from) => {
        const wanted = part.length < 2 ? `${part}ab` : part;
        for (const whole of [text + filler, filler.slice(0, 30_000) + text + filler + text]) {
          assert.equal(indexIn(whole, wanted, from), whole.indexOf(wanted, from));
          assert.equal(lastIndexIn(whole, wanted), whole.lastIndexOf(wanted));
          assert.equal(lastIndexIn(whole, wanted, from), whole.lastIndexOf(wanted, from));
          assert.deepEqual(splitAt(whole, wanted), whole.split(wanted));
        }
      }),
      { numRuns: 30 },
    );
  });
});
