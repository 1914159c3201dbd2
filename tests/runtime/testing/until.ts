/** Waits for other processes: polls, with a timeout. */

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

const askEveryMs = 20;
const withinMs = 60_000;

/** Resolves when the condition holds; fails with the last error, or with the sentence. */
export async function until(what: string, isSo: () => Promise<unknown> | unknown): Promise<void> {
  let thrown: unknown;
  for (const endMs = performance.now() + withinMs; ; await sleep(askEveryMs)) {
    try {
      if (await isSo()) return;
      thrown = undefined;
    } catch (error) {
      thrown = error;
    }
    assert.ok(performance.now() < endMs, `not in a minute: ${what}${thrown ? `; ${String(thrown)}` : ''}`);
  }
}

/** Resolves when the assertions hold. */
export const untilHolds = (what: string, insist: () => Promise<void> | void): Promise<void> =>
  until(what, async () => {
    await insist();
    return true;
  });
