/** Mark of a tenant whose range receives data from a dedicated control plane, and the position that it has reached. */

import type { Entry, Revision, Store } from '@hangar/store';
import { receivedKey, receivingKey } from '../layout.ts';

export interface ReceivingMark {
  /** ID of the migration. */
  readonly id: string;
  /** The former data is being deleted. */
  readonly isDeleting?: boolean;
}

export interface Receiving extends ReceivingMark {
  /** Revision of the mark: every write to the range is conditional on it. */
  readonly markRevision: Revision;
  /** Revision of the dedicated control plane that the range has reached; 0: it is not complete. */
  readonly revision: Revision;
  /** Entry of the position; absent: no frame was received. */
  readonly position?: Entry | undefined;
}

export const encodeMark = (mark: ReceivingMark): Buffer => Buffer.from(JSON.stringify(mark));

/** Returns undefined if the range receives nothing. */
export async function receivingOf(store: Store, prefix: string): Promise<Receiving | undefined> {
  const [{ entry: mark }, { entry: position }] = await Promise.all([
    store.get(receivingKey(prefix)),
    store.get(receivedKey(prefix)),
  ]);
  if (!mark) return undefined;
  const { revision = 0 } = position ? (parsed(position) as { revision?: number }) : {};
  return {
    ...(parsed(mark) as ReceivingMark),
    markRevision: mark.modRevision,
    revision: revision as Revision,
    position,
  };
}

const parsed = ({ value }: Entry): unknown => JSON.parse(Buffer.from(value).toString());
