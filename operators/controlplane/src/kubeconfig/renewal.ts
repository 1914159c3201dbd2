/**
 * When credentials are made anew: at four fifths of their life, a little earlier for some than for others, so that those that were
 * made together do not come back together.
 */

import type { Random } from '@hangar/core';

const share = 0.8;
const spread = 0.05;

export const renewalMs = (issuedAtMs: number, expiresAtMs: number, random: Random): number =>
  Math.floor(issuedAtMs + (expiresAtMs - issuedAtMs) * (share - spread * random.fraction()));
