/**
 * Bounds of the protocol. Two operators can work on one migration for a short time, and a call can take effect late. The protocol stays
 * correct because every call has a bounded lifetime:
 *
 *     record read ── passMsMax ──► last call of the pass is sent ── effectMsMax ──► it has taken effect, or never does
 *     └──────────────────────────────── settleMs ─────────────────────────────────────┘
 *
 * An attempt to switch starts `settleMs` after the end of the former one, so no call of the former one affects it.
 */

export interface MigrationTimings {
  /** From the start of a pass until it sends its last call. */
  readonly passMsMax: number;
  /** For the answer of one side, before its state counts as unknown. */
  readonly answerMsMax: number;
  /** From the sending of a call until it takes effect or fails. */
  readonly effectMsMax: number;
  /** At least the sum of both, and the difference of the clocks of two operators. */
  readonly settleMs: number;
  /** Back-off of failed attempts: doubled each time. */
  readonly retryMsMax: number;
  /** An attempt starts when the new side is at most this many revisions behind. */
  readonly lagMax: number;
  /** Between two passes that wait for the copy. */
  readonly pollMs: number;
}

export const defaultTimings: MigrationTimings = {
  passMsMax: 5_000,
  answerMsMax: 1_500,
  effectMsMax: 8_000,
  settleMs: 15_000,
  retryMsMax: 600_000,
  lagMax: 100,
  pollMs: 1_000,
};
