/** How long things may take, and how often they are looked at. */

import type { BackOff, Random } from '@hangar/core';

/** Of asking a cluster that does not answer. */
export const clusterBackOff: BackOff = { baseMs: 1_000, maxMs: 15_000 };
/** Of starting a program that ends. */
export const restartBackOff: BackOff = { baseMs: 1_000, maxMs: 5 * 60_000 };
/** A program that was at work for so long has left its failures of before behind. */
export const provenAfterMs = 10 * 60_000;
/** A program that was at work for so long was not started for nothing: changes of before no longer count. */
export const calmAfterMs = 60_000;
/** Of asking whether a program that was just started is up. */
export const warmUpBackOff: BackOff = { baseMs: 250, maxMs: 500 };
/** A program that is not well for so long is started again. */
export const unwellMaxMs = 60_000;
/** So many bad answers in a row are no accident. */
export const strikesMax = 3;
/** Until it is asked again whether the cluster is still this replica's. */
export const proofRetryMs = 1_000;
/** So much before the right ends, nothing of ours may be left. */
export const fenceMarginMs = 300;

const checkEveryMs = 10_000;

/** Until the next look at what runs. All of a fleet are started together; they are not to be looked at together. */
export const nextCheckMs = (random: Random): number => checkEveryMs * (0.8 + 0.4 * random.fraction());
