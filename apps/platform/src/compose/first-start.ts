/**
 * Detects the first start on a store, so that a first control plane is created once, and not again after a user has deleted it. A note is
 * written before anything else is in the store: if a first start is interrupted, the next one still finds it.
 *
 *     store is empty     ─►  note is written ─►  … demo is there ─►  note is removed
 *     note is there      ─►  (an earlier start was interrupted) the same
 *     neither            ─►  not the first start
 */

import { prefixRange } from '@hangar/store';
import type { Store } from '@hangar/store';

export interface FirstStart {
  /** The first control plane is still to be created. False after `done`, also for a later start in this process. */
  readonly isPending: boolean;
  /** Called when it is created. */
  done(): Promise<void>;
}

const note = (prefix: string): string => `${prefix}/hangar/first-start`;

/** `isWanted`: otherwise nothing is pending, now or later. */
export async function firstStart(store: Store, prefix: string, isWanted: boolean): Promise<FirstStart> {
  const key = note(prefix);
  const { entry: noted } = await store.get(key);
  const forget = async (): Promise<void> => void (await store.commit([{ type: 'delete', key }]));
  if (!isWanted) {
    if (noted) await forget();
    return notPending;
  }
  if (noted) return pendingUntil(forget);
  const { entries } = await store.range(prefixRange(`${prefix}/`), { limit: 1, keysOnly: true });
  if (entries.length > 0) return notPending;
  await store.commit([{ type: 'put', key, value: Buffer.from('demo') }]);
  return pendingUntil(forget);
}

function pendingUntil(forget: () => Promise<void>): FirstStart {
  let isPending = true;
  return {
    get isPending() {
      return isPending;
    },
    async done() {
      await forget();
      isPending = false;
    },
  };
}

const notPending: FirstStart = { isPending: false, done: () => Promise.resolve() };
