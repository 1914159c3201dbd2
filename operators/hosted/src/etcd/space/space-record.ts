/** A record of the actions on the space of one etcd cluster, in memory. A restart of the operator loses only the spacing of actions. */

import type { Clock } from '@hangar/core';
import type { EtcdObservation } from '../observation.ts';
import { GrowthForecast } from './forecast.ts';
import type { MemberSpace } from './member-space.ts';
import type { SpaceAction, SpaceHistory } from './plan-space.ts';
import { recoveryDelayMs } from './recovery.ts';

/** The part that the reconciler reports. */
export interface SpaceReport {
  /** Failed attempts to free space since the alarm NOSPACE. */
  readonly attempts: number;
  /** RFC 3339. Absent: not in this process. */
  readonly lastDefragTime?: string | undefined;
}

export class SpaceRecord implements SpaceHistory {
  readonly #clock: Clock;
  readonly #forecast = new GrowthForecast();
  readonly defragmentedMs = new Map<string, number>();
  attempts = 0;
  nextAttemptMs = -Infinity;
  isDefragmentationFailing = false;
  /** Number of backups that read from a member. */
  #holds = 0;
  #lastDefragTime: string | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isHeld(): boolean {
    return this.#holds > 0;
  }

  report(): SpaceReport {
    return { attempts: this.attempts, lastDefragTime: this.#lastDefragTime };
  }

  /** Prevents actions until the result is called. */
  hold(): () => void {
    this.#holds++;
    let isReleased = false;
    return () => {
      if (!isReleased) this.#holds--;
      isReleased = true;
    };
  }

  /** Call for every observation. */
  observed({ alarms }: Pick<EtcdObservation, 'alarms'>, members: readonly MemberSpace[]): void {
    if (!alarms.some(({ type }) => type === 'NOSPACE')) {
      this.attempts = 0;
      this.nextAttemptMs = -Infinity;
    }
    const [largest] = members.toSorted((a, b) => b.dbSizeInUseBytes - a.dbSizeInUseBytes);
    if (largest) this.#forecast.add(this.#clock.monotonicMs(), largest.dbSizeInUseBytes);
  }

  /** Call before an action: one that fails is not repeated at once. */
  started(action: SpaceAction): void {
    const nowMs = this.#clock.monotonicMs();
    if (action.type === 'defragment') this.defragmentedMs.set(action.pod, nowMs);
    if (action.type === 'recoverSpace') this.nextAttemptMs = nowMs + recoveryDelayMs(action.attempt);
  }

  ended(action: SpaceAction, isSuccess: boolean): void {
    const isDefragmentation = action.type === 'defragment' || action.type === 'recoverSpace';
    if (isDefragmentation && isSuccess)
      this.#lastDefragTime = new Date(Math.floor(this.#clock.now() / 1_000) * 1_000).toISOString().replace('.000', '');
    if (action.type === 'defragment') this.isDefragmentationFailing = !isSuccess;
    if (action.type === 'recoverSpace' && !isSuccess) this.attempts = action.attempt + 1;
  }

  secondsUntilFull(quotaBytes: number): number | undefined {
    return this.#forecast.secondsUntil(quotaBytes);
  }
}
