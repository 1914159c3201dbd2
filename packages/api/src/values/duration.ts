/** Go's durations, `1h30m0.5s`: int64 nanoseconds on the wire, text in JSON. */

import { invalidValue } from '../errors.ts';

const units: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const max = 2n ** 63n;

/** Throws InvalidValue. */
export function parseDuration(text: string): bigint {
  const quoted = JSON.stringify(text);
  const [, sign, body] = /^([+-]?)(.+)$/s.exec(text) ?? [];
  if (body === undefined) throw invalidValue(`time: invalid duration ${quoted}`);
  if (body === '0') return 0n;
  if (!/^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(body)) {
    throw invalidValue(`time: invalid duration ${quoted}`);
  }
  let total = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of body.matchAll(/(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g)) {
    if (whole.length > 19) throw invalidValue(`time: invalid duration ${quoted}`);
    const scale = units[unit]!;
    const digits = fraction.slice(0, 18);
    total += BigInt(whole || '0') * scale + (BigInt(digits || '0') * scale) / 10n ** BigInt(digits.length);
    if (total > max) throw invalidValue(`time: invalid duration ${quoted}`);
  }
  if (sign !== '-' && total === max) throw invalidValue(`time: invalid duration ${quoted}`);
  return sign === '-' ? -total : total;
}

export function formatDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return '0s';
  const sign = nanoseconds < 0n ? '-' : '';
  const total = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (total < 1_000_000_000n) {
    const [unit, scale] = total < 1_000n ? ['ns', 1n] : total < 1_000_000n ? ['µs', 1_000n] : ['ms', 1_000_000n];
    return `${sign}${decimal(total, scale as bigint)}${unit as string}`;
  }
  const hours = total / units['h']!;
  const minutes = (total / units['m']!) % 60n;
  const seconds = `${decimal(total % units['m']!, 1_000_000_000n)}s`;
  if (hours > 0n) return `${sign}${hours}h${minutes}m${seconds}`;
  return minutes > 0n ? `${sign}${minutes}m${seconds}` : `${sign}${seconds}`;
}

function decimal(value: bigint, scale: bigint): string {
  const fraction = String(value % scale)
    .padStart(String(scale).length - 1, '0')
    .replace(/0+$/, '');
  return fraction === '' || scale === 1n ? String(value / scale) : `${value / scale}.${fraction}`;
}
