/** Dependencies that all members of an engine share. */

import type { ApiObject, Kind } from '@hangar/client';
import type { BackOff, Clock, Logger, Random } from '@hangar/core';
import type { IndexFunction } from '../../cache/contract.ts';
import type { Aware, Coordinator } from '../contract.ts';
import type { EngineMetrics } from './metrics.ts';
import type { Starts } from './starts.ts';

export interface AddedIndex {
  readonly kind: Kind<ApiObject>;
  readonly name: string;
  readonly values: IndexFunction<ApiObject>;
}

export interface EngineWorld {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger | undefined;
  readonly metrics: EngineMetrics;
  readonly coordinator: Coordinator;
  readonly awares: ReadonlySet<Aware>;
  readonly indexes: readonly AddedIndex[];
  /** For clusters on the first attempt with their config. */
  readonly firstStarts: Starts;
  /** For clusters that failed before: they delay only each other. */
  readonly retries: Starts;
  /** Pending stops of instances. */
  readonly endings: Set<Promise<void>>;
  readonly backOff: BackOff;
  readonly engageTimeoutMs: number;
  readonly drainTimeoutMs: number;
  readonly debounceMs: number;
}
