/** From when until when a certificate counts, as kube-controller-manager has it by default. */

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Clocks differ: what is signed now counts for those who are behind, too. */
const backdatedMs = 5 * minuteMs;
/** The longest there is, and what those get who do not say. */
const lifeMaxMs = 365 * 24 * hourMs;
const lifeMinMs = 10 * minuteMs;
/** Shorter ones than this are not shortened by what they are backdated. */
const shortMs = 8 * hourMs;

export interface Validity {
  /** Milliseconds since 1970. */
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

export function validityOf(expirationSeconds: number | null | undefined, nowMs: number): Validity {
  const wantedMs =
    expirationSeconds === undefined || expirationSeconds === null ? lifeMaxMs : expirationSeconds * 1_000;
  const lifeMs = Math.min(Math.max(wantedMs, lifeMinMs), lifeMaxMs);
  const notBeforeMs = nowMs - backdatedMs;
  return { notBeforeMs, notAfterMs: lifeMs < shortMs ? nowMs + lifeMs : notBeforeMs + lifeMs };
}
