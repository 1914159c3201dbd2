import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CodedError } from '@hangar/core';
import { isRunning, until } from './testing/processes.ts';
import { stubborn, testPrograms, waiting } from './testing/programs.ts';

/** An ownership that the test controls. */
function right(remainingMs: number) {
  const controller = new AbortController();
  return {
    remainingMs,
    checks: 0,
    hasEnded: false,
    /** New programs must not start; running ones may continue for now. */
    retire: () => controller.abort(),
    get ownership() {
      return {
        check: () => {
          this.checks++;
          if (this.hasEnded) throw new CodedError('Fenced', 'another process has it');
        },
        remainingMs: () => (this.hasEnded ? 0 : this.remainingMs),
        signal: controller.signal,
      };
    },
  };
}

test('a program whose right has ended is ended at once, however stubborn it is', async (context) => {
  const { start, lines } = testPrograms(context);
  const some = right(60_000);
  const program = await start(stubborn, { ownership: some.ownership });
  await until(() => lines.length > 0, 2_000, 'ready');
  some.hasEnded = true;
  some.retire();
  const tookMs = await until(() => !isRunning(program.pid), 1_000, 'gone');
  assert.ok(tookMs < 500, `${tookMs}`);
  const { cause, signal } = await program.ended;
  assert.deepEqual({ cause, signal }, { cause: 'fenced', signal: 'SIGKILL' });
});

test('an end of the right that no signal tells of is seen at the next heartbeat', async (context) => {
  const { start } = testPrograms(context);
  const some = right(60_000);
  const program = await start(waiting, { ownership: some.ownership });
  some.hasEnded = true;
  assert.equal((await program.ended).cause, 'fenced');
});

test('heartbeats keep a program going for longer than any one of them says', async (context) => {
  const { start } = testPrograms(context);
  const some = right(1_000);
  const program = await start(waiting, { ownership: some.ownership });
  // Each heartbeat covers 0.7 s, so the next one must come before a second is over.
  await until(() => some.checks >= 12, 10_000, 'twelve heartbeats');
  assert.ok(isRunning(program.pid));
});

test('after the signal a program has the time that it was given, and is stopped in good order within it', async (context) => {
  const { start } = testPrograms(context);
  const some = right(1_300);
  const [left, stopped] = await Promise.all([
    start(waiting, { ownership: some.ownership }),
    start(waiting, { ownership: some.ownership, cluster: 'two' }),
  ]);
  some.retire();
  await stopped.stop(1_000);
  assert.deepEqual(await stopped.ended, {
    cause: 'stopped',
    code: undefined,
    signal: 'SIGTERM',
    lastError: undefined,
  });
  assert.ok(isRunning(left.pid));
  // The heartbeat stops, although the check passes.
  const { cause } = await left.ended;
  assert.equal(cause, 'fenced');
});

test('a grace does not outlast the right', async (context) => {
  const { start, lines } = testPrograms(context);
  const some = right(900);
  const program = await start(stubborn, { ownership: some.ownership });
  await until(() => lines.length > 0, 2_000, 'ready');
  some.retire();
  const fromMs = performance.now();
  await program.stop(60_000);
  assert.ok(performance.now() - fromMs < 1_500);
  const { cause, signal } = await program.ended;
  assert.deepEqual({ cause, signal }, { cause: 'stopped', signal: 'SIGKILL' });
});

test('whoever follows the signal leaves no listener behind', async (context) => {
  const { start } = testPrograms(context);
  const some = right(60_000);
  const { ownership } = some;
  let listeners = 0;
  const { signal } = ownership;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => (listeners++, add(...args));
  signal.removeEventListener = (...args: Parameters<typeof remove>) => (listeners--, remove(...args));
  const program = await start(waiting, { ownership });
  assert.equal(listeners, 1);
  await program.stop(1_000);
  assert.equal(listeners, 0);
});
