/** Calls of the clients and their answers: the input of every check. */

import type {
  CommitResult,
  Entry,
  KeyRange,
  LeaseId,
  RangeOptions,
  RangeStatistics,
  Revision,
  WatchBatch,
  Write,
} from '../contract.ts';
import type { StoreErrorCode } from '../errors.ts';
import type { Moment } from './trace.ts';
import type { Universe } from './universe.ts';

/** A call: its start, the revision known at that time, and the life of the process. */
interface Call {
  readonly universe: Universe;
  readonly life: Life;
  readonly invoked: Moment;
  /** The highest revision that any client had received when the call began. */
  readonly floor: Revision;
  responded?: Moment;
}

export interface Failure {
  readonly code: StoreErrorCode;
  /** With `Compacted`: the start of the history. */
  readonly compactedRevision?: Revision;
}

export interface CommitRecord extends Call {
  readonly id: number;
  readonly writes: readonly Write[];
  outcome:
    | { readonly type: 'answered'; readonly result: CommitResult }
    /** It did not happen. */
    | { readonly type: 'refused'; readonly code: StoreErrorCode }
    /** It may have happened, or may still happen: no answer (yet), or an uncertain one. */
    | { readonly type: 'unknown' };
}

export interface ReadRecord extends Call {
  readonly range: KeyRange;
  readonly options: RangeOptions;
  /** The first read of a store that was just opened. */
  readonly recovery: boolean;
  answer?:
    | { readonly entries: readonly Entry[]; readonly more: boolean; readonly revision: Revision }
    | { readonly statistics: RangeStatistics; readonly revision: Revision }
    | { readonly failure: Failure };
}

export interface WatchRecord extends Call {
  readonly prefix: string;
  readonly from: Revision | undefined;
  readonly previous: boolean;
  /** Continues an earlier one. */
  readonly resumed: boolean;
  readonly deliveries: { readonly moment: Moment; readonly batch: WatchBatch }[];
  readonly progressRequests: { readonly moment: Moment; readonly floor: Revision }[];
  failure?: Failure & { readonly moment: Moment };
}

export interface CompactionRecord extends Call {
  readonly revision: Revision;
  acknowledged: boolean;
}

export interface LeaseRecord {
  readonly id: LeaseId;
  readonly universe: Universe;
  readonly ttlMs: number;
  /** Times until which it was known not to expire, and since when; the last one counts. */
  readonly alive: { readonly since: Moment; readonly untilMs: number }[];
  /** A client requested to revoke it: it may end at any time from then on. */
  revokedAt?: Moment;
}

/** From one start of the process to its end. */
export interface Life {
  readonly number: number;
  readonly began: Moment;
  /** The highest revision that any client had received in earlier lives. */
  readonly floor: Revision;
}
