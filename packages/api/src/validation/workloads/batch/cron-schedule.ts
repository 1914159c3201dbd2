/**
 * Schedules of CronJobs: five fields, or a descriptor such as `@daily`. Only validates them, with the messages of kube-apiserver's parser.
 */

import { quote } from '../../../status/field-error.ts';
import { parseDuration } from '../../../values/duration.ts';
import { isTimeZone } from './time-zone.ts';

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const days = 'sun mon tue wed thu fri sat'.split(' ');

const fields: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: months },
  { min: 0, max: 6, names: days },
];

const descriptors = new Set(['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly']);

class ScheduleProblem extends Error {}

/** Returns the reason why it is invalid, or undefined. */
export function scheduleProblem(schedule: string): string | undefined {
  try {
    checkSchedule(schedule);
    return undefined;
  } catch (error) {
    if (error instanceof ScheduleProblem) return error.message;
    throw error;
  }
}

function checkSchedule(schedule: string): void {
  const text = withoutZone(schedule);
  if (text.startsWith('@')) {
    checkDescriptor(text);
    return;
  }
  const parts = text.split(/\s+/).filter((part) => part !== '');
  if (parts.length !== fields.length) {
    throw new ScheduleProblem(`expected exactly 5 fields, found ${parts.length}: [${parts.join(' ')}]`);
  }
  for (const [i, part] of parts.entries()) {
    for (const range of part.split(',')) if (range !== '') checkRange(range, fields[i]!);
  }
}

function withoutZone(schedule: string): string {
  if (!/^(?:CRON_)?TZ=/.test(schedule)) return schedule;
  const end = schedule.indexOf(' ');
  // The parser slices without a check, and reports the resulting panic.
  if (end < 0) throw new ScheduleProblem('invalid schedule format: runtime error: slice bounds out of range [:-1]');
  const zone = schedule.slice(schedule.indexOf('=') + 1, end);
  if (!isTimeZone(zone)) throw new ScheduleProblem(`provided bad location ${zone}: unknown time zone ${zone}`);
  return schedule.slice(end).trim();
}

const every = '@every ';

function checkDescriptor(text: string): void {
  if (descriptors.has(text)) return;
  if (!text.startsWith(every)) throw new ScheduleProblem(`unrecognized descriptor: ${text}`);
  const duration = text.slice(every.length);
  try {
    parseDuration(duration);
  } catch {
    throw new ScheduleProblem(`failed to parse duration ${text}: ${durationProblem(duration)}`);
  }
}

function durationProblem(text: string): string {
  const [, unit] = /^[-+]?(?:[\d.]+(?:ns|us|µs|μs|ms|s|m|h))*[\d.]*\d[\d.]*([^\d.]*)/.exec(text) ?? [];
  if (unit === undefined) return `time: invalid duration ${quote(text)}`;
  return unit === ''
    ? `time: missing unit in duration ${quote(text)}`
    : `time: unknown unit ${quote(unit)} in duration ${quote(text)}`;
}

/** Checks `*`, `5`, `1-5`, each optionally followed by `/2`. */
function checkRange(text: string, { min, max, names }: Bounds): void {
  const [span = '', step, ...moreSteps] = text.split('/');
  const [low = '', high, ...moreHyphens] = span.split('-');
  const isAll = low === '*' || low === '?';
  const start = isAll ? min : numberOf(low, min, names);
  let end = isAll ? max : start;
  if (!isAll) {
    if (moreHyphens.length > 0) throw new ScheduleProblem(`too many hyphens: ${text}`);
    if (high !== undefined) end = numberOf(high, min, names);
  }
  if (moreSteps.length > 0) throw new ScheduleProblem(`too many slashes: ${text}`);
  const every = step === undefined ? 1 : numberOf(step, 0, undefined);
  if (step !== undefined && high === undefined) end = max;
  if (start < min) throw new ScheduleProblem(`beginning of range (${start}) below minimum (${min}): ${text}`);
  if (end > max) throw new ScheduleProblem(`end of range (${end}) above maximum (${max}): ${text}`);
  if (start > end) throw new ScheduleProblem(`beginning of range (${start}) beyond end of range (${end}): ${text}`);
  if (every === 0) throw new ScheduleProblem(`step of range should be a positive number: ${text}`);
}

function numberOf(text: string, first: number, names: readonly string[] | undefined): number {
  const named = names?.indexOf(text.toLowerCase()) ?? -1;
  if (named >= 0) return named + first;
  const failed = (reason: string): ScheduleProblem =>
    new ScheduleProblem(`failed to parse int from ${text}: strconv.Atoi: parsing ${quote(text)}: ${reason}`);
  if (!/^[-+]?\d+$/.test(text)) throw failed('invalid syntax');
  const value = Number(text);
  if (Math.abs(value) > 2 ** 63) throw failed('value out of range');
  if (value < 0) throw new ScheduleProblem(`negative number (${value}) not allowed: ${text}`);
  return value;
}
