/**
 * Whether this is the first start on this store, so that a first control plane is made once, and never again when somebody has
 * deleted it. What is to be done is written down before anything else is in the store: whenever a first start is cut short, the
 * next one still knows.
 *
 *     store is empty     ─►  note is written ─►  … demo is there ─►  note is removed
 *     note is there      ─►  (an earlier start was cut short) the same
 *     neither            ─►  not the first start
 */

import { prefixRange } from '@hangar/store';
import type { Store } from '@hangar/store';

export interface FirstStart {
  /** The first control plane is still to be made. Not any more after `done`, also for who begins anew in this process. */
  readonly isPending: boolean;
  /** It is there. */
  done(): Promise<void>;
}

const note = (prefix: string): string => `${prefix}/hangar/first-start`;

/** `isWanted`: else nothing is pending, now or later. */
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
