import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock } from '@hangar/core';
import { StoreError } from '../errors.ts';
import type { Command, Outcome } from './command.ts';
import { GroupCommit } from './group-commit.ts';
import type { GroupCommitOptions } from './group-commit.ts';

/** A commit whose groups the test completes by hand. A command is identified by its number of rows to remove. */
function controlled(options: Partial<GroupCommitOptions> = {}) {
  const groups: { numbers: number[]; succeed(): void; fail(error: Error): void }[] = [];
  const seen: (number | string)[] = [];
  const commits = new GroupCommit({
    clock: systemClock,
    commit: (group) => {
      const { promise, resolve, reject } = Promise.withResolvers<readonly Outcome[]>();
      const numbers = group.map(numberOf);
      groups.push({ numbers, succeed: () => resolve(numbers.map(outcome)), fail: reject });
      return promise;
    },
    onOutcome: (command) => seen.push(numberOf(command)),
    ...options,
  });
  return { commits, groups, seen };
}

function command(number: number): Command {
  return { type: 'removeObsolete', rowsMax: number };
}

function large(number: number, bytes: number): Command {
  return { type: 'transaction', writes: [{ type: 'put', key: String(number), value: new Uint8Array(bytes) }] };
}

function numberOf(command: Command): number {
  if (command.type === 'removeObsolete') return command.rowsMax;
  assert.ok(command.type === 'transaction' && command.writes[0]?.type === 'put');
  return Number(command.writes[0].key);
}

function outcome(number: number): Outcome {
  return { error: { code: 'InvalidRequest', message: String(number) } };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('group commit', () => {
  test('commands of one turn become one group, those that come meanwhile the next', async () => {
    const { commits, groups } = controlled();
    const first = [1, 2, 3].map((number) => commits.submit(command(number)));
    await turn();
    const second = [4, 5].map((number) => commits.submit(command(number)));
    await turn();
    assert.deepEqual(
      groups.map((group) => group.numbers),
      [[1, 2, 3]],
      'one group is under way at a time',
    );
    groups[0]!.succeed();
    assert.deepEqual(await Promise.all(first), [1, 2, 3].map(outcome));
    await turn();
    assert.deepEqual(groups[1]!.numbers, [4, 5]);
    groups[1]!.succeed();
    assert.deepEqual(await Promise.all(second), [4, 5].map(outcome));
  });

  test('whoever submits later in the same turn is in the same group', async () => {
    const { commits, groups } = controlled();
    void commits.submit(command(1));
    await Promise.resolve();
    void commits.submit(command(2));
    await new Promise<void>((resolve) => process.nextTick(resolve));
    void commits.submit(command(3));
    assert.equal(groups.length, 0, 'nothing goes before the turn ends');
    await turn();
    assert.deepEqual(
      groups.map((group) => group.numbers),
      [[1, 2, 3]],
    );
  });

  test('the next group is under way before anybody hears of the last one', async () => {
    const { commits, groups, seen } = controlled({
      onOutcome: (command) => seen.push(`${numberOf(command)} while ${groups.length} groups were handed over`),
    });
    void commits.submit(command(1));
    await turn();
    void commits.submit(command(2));
    groups[0]!.succeed();
    await turn();
    assert.deepEqual(seen, ['1 while 2 groups were handed over']);
  });

  test('an outcome is seen in order, before the one who submitted it goes on', async () => {
    const { commits, groups, seen } = controlled();
    const order: string[] = [];
    const submitted = [1, 2].map(async (number) => {
      await commits.submit(command(number));
      order.push(`${number} after ${seen.join()}`);
    });
    await turn();
    groups[0]!.succeed();
    await Promise.all(submitted);
    assert.deepEqual(seen, [1, 2]);
    assert.deepEqual(order, ['1 after 1,2', '2 after 1,2']);
  });

  test('a group that fails fails for all its members, and the next one goes on', async () => {
    const { commits, groups, seen } = controlled();
    const failing = [1, 2].map((number) => commits.submit(command(number)));
    await turn();
    const later = commits.submit(command(3));
    const error = new StoreError('StorageFull', 'no space');
    groups[0]!.fail(error);
    assert.deepEqual(
      await Promise.allSettled(failing),
      [error, error].map((reason) => ({ status: 'rejected', reason })),
    );
    await turn();
    groups[1]!.succeed();
    assert.deepEqual(await later, outcome(3));
    assert.deepEqual(seen, [3], 'nobody hears of what failed');
  });

  test('a group is cut by length and by bytes, but takes one command however large', async () => {
    const { commits, groups } = controlled({ groupLengthMax: 3, groupBytesMax: 100 });
    for (let number = 1; number <= 4; number++) void commits.submit(command(number));
    for (let number = 5; number <= 7; number++) void commits.submit(large(number, 40));
    void commits.submit(large(8, 1_000));
    void commits.submit(command(9));
    for (let at = 0; at < 6; at++) {
      await turn();
      groups[at]?.succeed();
    }
    assert.deepEqual(
      groups.map((group) => group.numbers),
      [[1, 2, 3], [4, 5, 6], [7], [8], [9]],
    );
  });

  test('too many or too large commands are refused as Overloaded until a group was taken', async () => {
    for (const [options, submit] of [
      [{ waitingLengthMax: 2 }, (number: number) => command(number)],
      [{ waitingBytesMax: 100 }, (number: number) => large(number, 60)],
    ] as const) {
      const { commits, groups } = controlled(options);
      const under = commits.submit(submit(0));
      await turn();
      const waiting = [commits.submit(submit(1)), commits.submit(submit(2))];
      await assert.rejects(commits.submit(submit(3)), { code: 'Overloaded' });
      groups[0]!.succeed();
      await under;
      await turn();
      const again = commits.submit(submit(4));
      groups[1]!.succeed();
      await Promise.all(waiting);
      await turn();
      groups[2]!.succeed();
      await again;
      assert.deepEqual(
        groups.map((group) => group.numbers),
        [[0], [1, 2], [4]],
      );
    }
  });

  test('idle waits for what is under way and what waits', async () => {
    const { commits, groups } = controlled();
    await commits.idle();
    void commits.submit(command(1));
    let idle = false;
    const waiting = commits.idle().then(() => (idle = true));
    await turn();
    void commits.submit(command(2));
    groups[0]!.succeed();
    await turn();
    assert.equal(idle, false, 'the second command is under way');
    groups[1]!.succeed();
    await waiting;
  });

  test('idle also comes after a failure', async () => {
    const { commits, groups } = controlled();
    const failing = commits.submit(command(1));
    await turn();
    const idle = commits.idle();
    groups[0]!.fail(new Error('no'));
    await assert.rejects(failing);
    await idle;
  });
});
