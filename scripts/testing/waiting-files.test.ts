import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { canStart, longestFirst, WaitingFiles } from './waiting-files.ts';
import type { WaitingFilesOptions } from './waiting-files.ts';

/** `a1` belongs to group 1, `a` to none. */
const exclusiveGroup = (file: string): number | undefined => (/\d$/.test(file) ? Number(file.slice(-1)) : undefined);

describe('a file can start', () => {
  const load = (file: string): number => (file.startsWith('heavy') ? 1.5 : file.startsWith('idle') ? 0 : 0.5);
  const options: WaitingFilesOptions = { exclusiveGroup, load, loadMax: 2 };
  for (const [title, file, running, expected] of [
    ['while nothing runs', 'a', [], true],
    ['while nothing runs, however high its load is', 'heavy', [], true],
    ['beside files that leave enough of the cores', 'a', ['heavy'], true],
    ['not beside files that use the cores already', 'b', ['heavy', 'a'], false],
    ['beside them, if it uses no core', 'idle', ['heavy', 'a'], true],
    ['beside a file of another group', 'a1', ['a2'], true],
    ['not beside a file of its group', 'idle1', ['a1'], false],
  ] as const) {
    test(title, () => assert.equal(canStart(file, new Set(running), options), expected));
  }

  test('without loads, beside any number of files', () => {
    assert.equal(canStart('heavy', new Set(['heavy-a', 'heavy-b', 'heavy-c']), {}), true);
  });
});

test('files are handed out in their order, and one that must wait is passed over', async () => {
  const waiting = new WaitingFiles(['a1', 'b1', 'c'], { exclusiveGroup });
  assert.deepEqual([await waiting.next(), await waiting.next()], ['a1', 'c']);
  const third = waiting.next();
  const fourth = waiting.next();
  waiting.finished('c');
  waiting.finished('a1');
  assert.deepEqual([await third, await fourth], ['b1', undefined]);
});

test('every file is handed out once and within the limits, in any number of slots', async () => {
  const files = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,4}[1-3]?$/), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(files, fc.integer({ min: 1, max: 6 }), fc.infiniteStream(fc.nat(9)), async (all, slots, turns) => {
      const options = { exclusiveGroup, load: (file: string) => file.length / 3, loadMax: 2 };
      const waiting = new WaitingFiles(all, options);
      const running = new Set<string>();
      const seen: string[] = [];
      const slot = async (): Promise<void> => {
        for (let file = await waiting.next(); file !== undefined; file = await waiting.next()) {
          assert.ok(canStart(file, running, options), `${file} beside ${[...running].join(' ')}`);
          running.add(file);
          seen.push(file);
          for (let turn = turns.next().value; turn > 0; turn--) await Promise.resolve();
          running.delete(file);
          waiting.finished(file);
        }
      };
      await Promise.all(Array.from({ length: slots }, slot));
      assert.deepEqual(seen.toSorted(), all.toSorted());
    }),
  );
});

test('the longest file is first, and files of a group count with the rest of their group', () => {
  const seconds: Record<string, number> = { a: 10, b1: 9, c1: 8, d: 16, e1: 1, f: 5 };
  const order = longestFirst(Object.keys(seconds), { durationMs: (file) => seconds[file]! * 1_000, exclusiveGroup });
  // b1 with c1 and e1: 18; c1 with e1: 9.
  assert.deepEqual(order, ['b1', 'd', 'a', 'c1', 'f', 'e1']);
});
