/** Validity of certificates, with the defaults of kube-controller-manager. */

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Tolerates clients whose clocks are behind. */
const backdatedMs = 5 * minuteMs;
/** Maximum and default lifetime. */
const lifeMaxMs = 365 * 24 * hourMs;
const lifeMinMs = 10 * minuteMs;
/** Shorter lifetimes are not reduced by the backdating. */
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
