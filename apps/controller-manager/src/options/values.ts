/** Parses flag values in the syntax of Go and Kubernetes. Each function throws a UsageError that names the flag and the expected value. */

import { isIP } from 'node:net';
import { UsageError } from '@hangar/core/command-line';
import { parseDuration, parseQuantity } from '@hangar/api/values';
import type { PortRange } from '../child/ports.ts';

/** As in Go's strconv.ParseBool. */
const yes = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const no = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

export function isOn(name: string, text: string): boolean {
  if (yes.has(text)) return true;
  if (no.has(text)) return false;
  throw refused(name, text, 'must be true or false');
}

export interface DurationBounds {
  readonly leastMs: number;
  readonly mostMs: number;
}

const shownMs = (ms: number): string => (ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`);

/** `1500ms`, `1m30s`; `0`. Milliseconds. */
export function durationMs(name: string, text: string, { leastMs, mostMs }: DurationBounds): number {
  let ms: number;
  try {
    ms = Number(parseDuration(text)) / 1e6;
  } catch (cause) {
    throw refused(name, text, 'is not a duration such as 1500ms or 1m30s', cause);
  }
  if (ms >= leastMs && ms <= mostMs) return ms;
  throw refused(name, text, `must be between ${shownMs(leastMs)} and ${shownMs(mostMs)}`);
}

/** `512Mi`, `1G`; undefined for `0`. */
export function bytesOf(name: string, text: string, least: number): number | undefined {
  let bytes: number;
  try {
    bytes = Number(parseQuantity(text).nanos) / 1e9;
  } catch (cause) {
    throw refused(name, text, 'is not a size such as 512Mi', cause);
  }
  if (bytes === 0) return undefined;
  if (bytes >= least && Number.isSafeInteger(Math.ceil(bytes))) return Math.ceil(bytes);
  throw refused(name, text, `is too small: it must be at least ${least / 1024 ** 2}Mi, or 0 for no limit`);
}

export function integerOf(name: string, text: string, [least, most]: readonly [number, number]): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) return value;
  throw refused(name, text, `must be an integer from ${least} to ${most}`);
}

/** `20000-29999`. */
export function portRangeOf(name: string, text: string): PortRange {
  const [, from, to] = /^(\d{1,5})-(\d{1,5})$/.exec(text) ?? [];
  const range = { from: Number(from), to: Number(to) };
  if (range.from >= 1 && range.from <= range.to && range.to <= 65_535) return range;
  throw refused(name, text, 'is not a range of ports such as 20000-29999');
}

export function addressOf(name: string, text: string): string {
  if (isIP(text) !== 0) return text;
  throw refused(name, text, 'is not an IP address');
}

export function oneOf<T extends string>(name: string, text: string, all: readonly T[]): T {
  const found = all.find((one) => one === text);
  if (found !== undefined) return found;
  throw refused(name, text, `must be one of ${all.join(', ')}`);
}

/** `check` returns the problems. */
export function checked(name: string, text: string, check: (text: string) => readonly string[]): string {
  const [reason] = check(text);
  if (reason === undefined) return text;
  throw refused(name, text, `is invalid: ${reason}`);
}

/** An error of `read` becomes a UsageError of the flag. */
export function readable<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new UsageError(`--${name}: ${(cause as Error).message}`, { cause });
  }
}

const refused = (name: string, text: string, what: string, cause?: unknown): UsageError =>
  new UsageError(`--${name}: ${JSON.stringify(text)} ${what}`, { cause });
