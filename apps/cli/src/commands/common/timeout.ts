/** `--timeout`: how long to wait. */

import type { Given, OptionSpec } from '../../command.ts';
import { usage } from '../../errors.ts';
import { quoted } from '../../terminal/plain-text.ts';

export const timeoutOption: OptionSpec = {
  name: 'timeout',
  value: 'TIME',
  meaning: 'time to wait, such as 90s, 5m or 1h (default: 1m)',
};

/** Of commands that wait for a control plane of either mode. */
export const planeTimeoutOption: OptionSpec = {
  ...timeoutOption,
  meaning: 'time to wait, such as 90s, 5m or 1h (default: 1m, for a dedicated control plane 5m)',
};

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Default for dedicated control planes: their programs start, and end in their order. */
export const dedicatedWaitMs = 5 * 60_000;

export const timeoutMs = (given: Given, defaultMs = 60_000): number =>
  durationMs('timeout', given.text('timeout')) ?? defaultMs;

/** `90`, `90s`, `1.5m`, `1h30m`. Throws `Usage`. */
export function durationMs(
  option: string,
  text: string | undefined,
  { hoursMax = 24 }: { readonly hoursMax?: number } = {},
): number | undefined {
  if (text === undefined) return undefined;
  const plainSeconds = /^\d{1,6}$/.test(text) ? Number(text) * 1_000 : undefined;
  const isDuration = /^(\d{1,6}(\.\d{1,3})?(ms|s|m|h))+$/.test(text);
  const parts = isDuration ? [...text.matchAll(/([\d.]+)(ms|s|m|h)/g)] : [];
  const ms = plainSeconds ?? parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * unitMs[unit!]!, 0);
  if (ms <= 0 || ms > hoursMax * unitMs['h']!) {
    throw usage(`--${option} must be a time such as 90s or 5m, at most ${hoursMax}h, not ${quoted(text)}`);
  }
  return ms;
}
