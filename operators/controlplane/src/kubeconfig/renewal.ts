/**
 * Computes when credentials are renewed: at four fifths of their lifetime, with jitter, so that those that were created together are not
 * renewed together.
 */

import type { Random } from '@hangar/core';

const share = 0.8;
const spread = 0.05;

export const renewalMs = (issuedAtMs: number, expiresAtMs: number, random: Random): number =>
  Math.floor(issuedAtMs + (expiresAtMs - issuedAtMs) * (share - spread * random.fraction()));
