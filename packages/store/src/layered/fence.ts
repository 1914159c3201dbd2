/**
 * A fence: a key that must have one modRevision for any write or read. If the tenant of a view was deleted, or deleted and recreated, the
 * store reports it in the same transaction, so there is no race.
 */

import type { CommitResult, Entry, Revision, Store, StoreEvent, Write } from '../contract.ts';
import { CompactedError, StoreError } from '../errors.ts';
import { checkRevision, isConditional, transactionWritesMax } from '../limits.ts';

export interface Fence {
  readonly key: string;
  /** The key's modRevision while the view may write. */
  readonly revision: Revision;
  /** Earlier values of the key belong to the same view from this revision on, so its history can be read. Absent: `revision`. */
  readonly since?: Revision | undefined;
  /**
   * A watch that begins between this revision and `since` begins after `since` instead: the visible content did not change in between.
   * Absent: such a watch is `Compacted`.
   */
  readonly resumesFrom?: Revision | undefined;
  /** Reports whether reads and watches stay valid with a later value of the key; commits never do. Absent: they do not. */
  readonly continues?: ((value: Uint8Array) => boolean) | undefined;
  /**
   * Reports whether a later view with this value of the key shows the same content and history. A watch that ends with that value delivers a
   * mark at its revision first, so that its reader resumes from there. Absent: it does not.
   */
  readonly isResumable?: ((value: Uint8Array) => boolean) | undefined;
}

const sinceOf = ({ since, revision }: Fence): Revision => since ?? revision;

/** Rejects with `Fenced`, regardless of other conflicts of the transaction. */
export async function commitFenced(store: Store, fence: Fence, writes: readonly Write[]): Promise<CommitResult> {
  for (const write of writes) if (write.type !== 'deleteRange' && write.key === fence.key) throw ownFence(fence);
  if (writes.filter(isConditional).length >= transactionWritesMax) throw tooManyConditions();
  const result = await store.commit([...writes, { type: 'check', key: fence.key, expected: fence.revision }]);
  if (!result.committed && result.conflicts.some(({ key }) => key === fence.key)) throw fenced(fence);
  return result;
}

/** Returns why this revision cannot be read: another tenant may have written in the same range at that time. */
export function beforeFence(fence: Fence | undefined, asked: Revision | undefined): StoreError | undefined {
  if (!fence || asked === undefined || !(asked < sinceOf(fence))) return undefined;
  checkRevision(asked);
  return new CompactedError(asked, sinceOf(fence));
}

/** Returns the first revision that a watch from `asked` reads. */
export function resumedFrom(fence: Fence | undefined, asked: Revision | undefined): Revision | undefined {
  if (fence?.resumesFrom === undefined || asked === undefined) return asked;
  const since = sinceOf(fence);
  return asked >= fence.resumesFrom && asked <= since ? ((since + 1) as Revision) : asked;
}

/** Checks the fence for a conflict that was found without a commit. */
export async function checkFence(store: Store, fence: Fence, atRevision: Revision): Promise<void> {
  insistOnFence(fence, (await store.get(fence.key, { atRevision })).entry);
}

/** Checks the fence against the current entry of its key. */
export function insistOnFence(fence: Fence, entry: Entry | undefined): void {
  if (entry?.modRevision === fence.revision || (entry && fence.continues?.(entry.value))) return;
  throw fenced(fence);
}

/** Reason why a watch ends with an event. */
export interface Fall {
  readonly error: StoreError;
  /** Events of the same revision are delivered before the end: the tenant was deleted. Otherwise they belong to another tenant. */
  readonly isLast: boolean;
  /** A mark at the revision is delivered before the end. See `Fence.isResumable`. */
  readonly isMarked: boolean;
}

export function fallOf(fence: Fence, event: StoreEvent): Fall | undefined {
  if (event.type === 'delete') {
    return event.key === fence.key ? { error: fenced(fence), isLast: true, isMarked: false } : undefined;
  }
  const { key, modRevision, value } = event.entry;
  const ends = key === fence.key && modRevision > fence.revision && !fence.continues?.(value);
  if (!ends) return undefined;
  return { error: fenced(fence), isLast: false, isMarked: fence.isResumable?.(value) ?? false };
}

const fenced = ({ key }: Fence): StoreError =>
  new StoreError('Fenced', `this view is no longer valid: ${JSON.stringify(key)} was deleted or recreated`);

const ownFence = ({ key }: Fence): StoreError =>
  new StoreError('InvalidRequest', `${JSON.stringify(key)} is the fence of this view and cannot be written through it`);

const tooManyConditions = (): StoreError =>
  new StoreError(
    'InvalidRequest',
    `a fenced transaction has at most ${transactionWritesMax - 1} conditions, because the fence is one of them`,
  );
