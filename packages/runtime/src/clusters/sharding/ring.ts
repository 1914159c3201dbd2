/**
 * The ring: the members that share the clusters, and the epoch. It is one object, changed only by compare-and-set, and only when the
 * membership or the balance changes. Every peer computes the same owner from the same ring, so that no write for each cluster is needed.
 *
 * It also carries the former epochs with a member that has not yet acknowledged a later epoch, or that still drains a cluster. These
 * entries name the peers that may still work on a cluster. An entry is dropped when no member can act on it.
 *
 *     epoch 7   [x-0 x-1 x-2]   history: —                    c belongs to x-1
 *     epoch 8   [x-0 x-2]       history: 7 [x-0 x-1 x-2]      c belongs to x-2, which waits for x-1 to acknowledge 8 or to be over
 *     epoch 9   [x-0 x-2 x-3]   history: 8 [x-0 x-2]          7 is gone: x-0 and x-2 acknowledged 8, x-1 is over
 */

import { isObject } from '@hangar/api/json';
import { asFinite, asText } from './fields.ts';

/** One life of a peer. A process that restarts under the same name is a new one. */
export interface Member {
  readonly name: string;
  /** Id of this life. */
  readonly id: string;
  readonly weight: number;
  /** Corrected weight, with which the shares match the weights (`calibrate.ts`). */
  readonly pull: number;
  /** Id of the static shard, and the selector of its clusters. */
  readonly shard?: string;
  readonly selector?: string;
}

export interface RingEntry {
  readonly epoch: number;
  readonly members: readonly Member[];
  /** Several merged entries up to this epoch: any member may have held any cluster. */
  readonly isMerged?: boolean;
}

export interface Ring extends RingEntry {
  /** Changes when the object was lost and recreated: earlier acknowledgements do not apply to it. */
  readonly id: string;
  /** Oldest first, all below `epoch`. */
  readonly history: readonly RingEntry[];
}

/** Above this length the oldest entries are merged, which is safe but less precise. */
const historyLengthMax = 16;

export interface RingChange {
  readonly epoch: number;
  readonly members: readonly Member[];
  /** Reports whether a member may still act on this entry. */
  readonly isNeeded: (entry: RingEntry) => boolean;
}

export function nextRing(ring: Ring, { epoch, members, isNeeded }: RingChange): Ring {
  const history = [...ring.history, entryOf(ring)].filter(isNeeded);
  while (history.length > historyLengthMax) history.splice(0, 2, mergedEntry(history[0]!, history[1]!));
  return { id: ring.id, epoch, members, history };
}

const entryOf = ({ epoch, members }: Ring): RingEntry => ({ epoch, members });

/** Every member of either entry may have held any cluster. */
export function mergedEntry(older: RingEntry, newer: RingEntry): RingEntry {
  const members = new Map([...older.members, ...newer.members].map((member) => [member.id, member]));
  return { epoch: newer.epoch, members: [...members.values()], isMerged: true };
}

export const encodeRing = (ring: Ring): string => JSON.stringify(ring);

/** Returns undefined if the text is not a ring. */
export function decodeRing(text: string | undefined): Ring | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '');
    if (!isObject(value) || !Array.isArray(value['history'])) return undefined;
    const history = value['history'].map(decodeEntry);
    return { ...decodeEntry(value), id: asText(value['id']), history };
  } catch {
    return undefined;
  }
}

function decodeEntry(value: unknown): RingEntry {
  if (!isObject(value) || !Array.isArray(value['members'])) throw new TypeError('not an entry of a ring');
  const members = value['members'].map(decodeMember);
  const entry = { epoch: asFinite(value['epoch']), members };
  return value['isMerged'] === true ? { ...entry, isMerged: true } : entry;
}

function decodeMember(value: unknown): Member {
  if (!isObject(value)) throw new TypeError('not a member of a ring');
  const { shard, selector } = value;
  return {
    name: asText(value['name']),
    id: asText(value['id']),
    weight: asFinite(value['weight']),
    pull: asFinite(value['pull']),
    ...(shard === undefined ? {} : { shard: asText(shard) }),
    ...(selector === undefined ? {} : { selector: asText(selector) }),
  };
}
