/** History that may have been compacted, and that must have been, at a moment. */

import type { Revision } from '../../contract.ts';
import type { HistoryPolicy } from '../../engine/history-window.ts';
import type { Recorder } from '../recorder.ts';
import type { Moment } from '../trace.ts';

export class GivenUp {
  readonly #recorder: Recorder;
  readonly #policy: HistoryPolicy;

  constructor(recorder: Recorder, policy: HistoryPolicy) {
    this.#recorder = recorder;
    this.#policy = policy;
  }

  /** The highest revision that a client requested to compact to, or that the policy allows. */
  atMost(moment: Moment): number {
    let most = this.#knownWhen((learned) => learned.line <= moment.line) - this.#policy.revisionsMax;
    most = Math.max(
      most,
      this.#knownWhen((learned) => learned.ms <= moment.ms - this.#policy.ageMs),
    );
    for (const { revision, invoked } of this.#recorder.compactions) {
      if (invoked.line < moment.line) most = Math.max(most, revision);
    }
    return most;
  }

  /** The highest revision to which a compaction was acknowledged. */
  atLeast(moment: Moment): number {
    let least = 0;
    for (const { revision, acknowledged, responded } of this.#recorder.compactions) {
      if (acknowledged && responded!.line < moment.line) least = Math.max(least, revision);
    }
    return least;
  }

  #knownWhen(before: (learned: Moment) => boolean): Revision | 0 {
    return this.#recorder.learned.findLast(({ moment }) => before(moment))?.revision ?? 0;
  }
}
