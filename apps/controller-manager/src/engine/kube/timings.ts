/** Timeouts and intervals. */

import type { BackOff, Random } from '@hangar/core';

/** Backoff of probes to a cluster that does not answer. */
export const clusterBackOff: BackOff = { baseMs: 1_000, maxMs: 15_000 };
/** Backoff of starts of a program that exits. */
export const restartBackOff: BackOff = { baseMs: 1_000, maxMs: 5 * 60_000 };
/** A program that ran for this long resets its count of failures. */
export const provenAfterMs = 10 * 60_000;
/** A program that ran for this long resets the debounce. */
export const calmAfterMs = 60_000;
/** Backoff of probes to a program that was just started. */
export const warmUpBackOff: BackOff = { baseMs: 250, maxMs: 500 };
/** A program that is unhealthy for this long is restarted. */
export const unwellMaxMs = 60_000;
/** Number of consecutive failed probes that are reported. */
export const strikesMax = 3;
/** Delay before ownership is checked again. */
export const proofRetryMs = 1_000;
/** Programs must be gone this much before the ownership expires. */
export const fenceMarginMs = 300;

const checkEveryMs = 10_000;

/** Returns the delay before the next probe, with jitter: the programs of a fleet start together, and are not to be probed together. */
export const nextCheckMs = (random: Random): number => checkEveryMs * (0.8 + 0.4 * random.fraction());
