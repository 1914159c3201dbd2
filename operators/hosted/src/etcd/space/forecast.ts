/**
 * Predicts when a database reaches its quota: a line through the sizes of the last hours, by least squares. The number of samples is
 * bounded, so thousands of control planes cost little.
 */

export interface ForecastOptions {
  /** Older samples are dropped. Absent: 6 hours. */
  readonly windowMs?: number | undefined;
  /** A sample that follows the previous one sooner is ignored. Absent: 5 minutes. */
  readonly spacingMs?: number | undefined;
  /** Without samples over at least this time there is no prediction. Absent: 1 hour. */
  readonly spanMinMs?: number | undefined;
}

interface Sample {
  readonly atMs: number;
  readonly bytes: number;
}

const hourMs = 3_600_000;
/** A later time is not predicted. */
export const horizonSeconds = 30 * 24 * 3_600;

export class GrowthForecast {
  readonly #windowMs: number;
  readonly #spacingMs: number;
  readonly #spanMinMs: number;
  readonly #samples: Sample[] = [];

  constructor({ windowMs = 6 * hourMs, spacingMs = hourMs / 12, spanMinMs = hourMs }: ForecastOptions = {}) {
    this.#windowMs = windowMs;
    this.#spacingMs = spacingMs;
    this.#spanMinMs = spanMinMs;
  }

  /** Times must not decrease. */
  add(atMs: number, bytes: number): void {
    const last = this.#samples.at(-1);
    if (last && atMs - last.atMs < this.#spacingMs) return;
    this.#samples.push({ atMs, bytes });
    const kept = this.#samples.findIndex((one) => atMs - one.atMs <= this.#windowMs);
    this.#samples.splice(0, kept);
  }

  /** Bytes per second. Undefined: not enough samples. */
  slope(): number | undefined {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    if (!first || !last || last.atMs - first.atMs < this.#spanMinMs) return undefined;
    const count = this.#samples.length;
    const seconds = this.#samples.map(({ atMs }) => (atMs - first.atMs) / 1_000);
    const meanSeconds = seconds.reduce((sum, one) => sum + one, 0) / count;
    const meanBytes = this.#samples.reduce((sum, { bytes }) => sum + bytes, 0) / count;
    let [covariance, variance] = [0, 0];
    for (const [at, second] of seconds.entries()) {
      covariance += (second - meanSeconds) * (this.#samples[at]!.bytes - meanBytes);
      variance += (second - meanSeconds) ** 2;
    }
    return covariance / variance;
  }

  /** Returns the seconds until the size reaches the quota. Undefined: it does not grow, or not within 30 days, or not enough samples. */
  secondsUntil(quotaBytes: number): number | undefined {
    const [slope, last] = [this.slope(), this.#samples.at(-1)];
    if (slope === undefined || slope <= 0 || !last) return undefined;
    const seconds = Math.max(0, (quotaBytes - last.bytes) / slope);
    return seconds <= horizonSeconds ? seconds : undefined;
  }
}
