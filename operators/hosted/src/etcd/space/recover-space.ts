/** Returns a control plane whose etcd refuses writes to work. The decisions are in `recovery.ts`. */

import { sleep } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { MemberSpace } from './member-space.ts';
import { canFit, compactionRevision, hasRoom, keptRevisions, nextRecoveryMember, stillFull } from './recovery.ts';

/** The members of one etcd cluster. */
export interface SpaceClient {
  /** Reads the members that answer, and the newest revision. */
  observe(): Promise<{ readonly members: readonly MemberSpace[]; readonly revision: number }>;
  /** Resolves when a member has removed the older revisions from its database. */
  compact(revision: number): Promise<void>;
  defragment(member: string): Promise<void>;
  /** Clears the alarm NOSPACE of all members. */
  disarm(): Promise<void>;
}

export interface RecoveryOptions {
  readonly clock: Clock;
  /** Number of voting members. */
  readonly replicas: number;
  readonly signal: AbortSignal;
}

/** `message`: why the alarm stays. */
export type RecoveryResult = { readonly isRecovered: true } | { readonly isRecovered: false; readonly message: string };

const pollMs = 1_000;
const pollsMax = 60;

/** Can be interrupted at any time: the next attempt starts from the state of the members. */
export async function recoverSpace(etcd: SpaceClient, options: RecoveryOptions): Promise<RecoveryResult> {
  const { replicas, signal } = options;
  await removeRevisions(etcd, options);
  const done = new Set<string>();
  for (;;) {
    signal.throwIfAborted();
    const { members } = await etcd.observe();
    const next = nextRecoveryMember(members, replicas, done);
    if (next === undefined) break;
    done.add(next);
    await etcd.defragment(next);
  }
  const { members } = await etcd.observe();
  if (!hasRoom(members, replicas)) return { isRecovered: false, message: stillFull(members, replicas) };
  await etcd.disarm();
  return { isRecovered: true };
}

/** Removes as few revisions as possible. */
async function removeRevisions(etcd: SpaceClient, options: RecoveryOptions): Promise<void> {
  for (const kept of keptRevisions) {
    const { members, revision } = await etcd.observe();
    if (canFit(members)) return;
    const compacted = compactionRevision(revision, kept);
    if (compacted === undefined) continue;
    await etcd.compact(compacted);
    await compactionComplete(etcd, options);
  }
}

/** Members remove revisions at different times: waits until no database loses pages. */
async function compactionComplete(etcd: SpaceClient, { clock, signal }: RecoveryOptions): Promise<void> {
  const inUse = async (): Promise<string> =>
    (await etcd.observe()).members.map(({ dbSizeInUseBytes }) => dbSizeInUseBytes).join();
  let before = await inUse();
  for (let poll = 0; poll < pollsMax; poll++) {
    await sleep(clock, pollMs, signal);
    const after = await inUse();
    if (after === before) return;
    before = after;
  }
}
