/** Values of flags, and help that both programs share. All functions throw a UsageError that names the flag. */

import { loggingHelp, UsageError } from '@hangar/core/command-line';
import type { HelpGroup } from '@hangar/core/command-line';

/** Pods log as JSON, also on a terminal. */
export const jsonLoggingHelp: HelpGroup = {
  ...loggingHelp,
  rows: loggingHelp.rows.map(([flag, meaning]) =>
    flag.startsWith('--log-format') ? [flag, 'json or text, to standard error (default: json)'] : [flag, meaning],
  ),
};

export interface Address {
  readonly host: string;
  readonly port: number;
}

export function oneOf<T extends string>(name: string, given: string, known: readonly T[]): T {
  const found = known.find((one) => one === given);
  if (found === undefined) throw new UsageError(`--${name}: "${given}" is not one of ${known.join(', ')}`);
  return found;
}

/** The words that Go programs accept. */
export function booleanOf(name: string, given: string): boolean {
  if (/^(1|t|true)$/i.test(given)) return true;
  if (/^(0|f|false)$/i.test(given)) return false;
  throw new UsageError(`--${name}: "${given}" is neither true nor false`);
}

/** Parses a number from 1 to `max`. */
export function countOf(name: string, given: string, max = 9_999): number {
  if (/^[1-9]\d{0,8}$/.test(given) && Number(given) <= max) return Number(given);
  throw new UsageError(`--${name}: "${given}" is not a number from 1 to ${max}`);
}

/** `off` is false. */
export function addressOf(name: string, given: string): Address | false {
  if (given === 'off') return false;
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(given);
  const port = Number(match?.[3]);
  if (!match || port > 65_535) throw new UsageError(`--${name}: "${given}" is not HOST:PORT`);
  return { host: match[1] ?? (match[2] || '0.0.0.0'), port };
}

const domainPattern = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$/;

/** Parses domains that are separated by commas. Undefined: there are none. */
export function domainsOf(name: string, given: string | undefined): readonly string[] | undefined {
  const domains = (given ?? '').split(',').filter((domain) => domain !== '');
  const wrong = domains.find((domain) => domain.length > 200 || !domainPattern.test(domain));
  if (wrong !== undefined) throw new UsageError(`--${name}: "${wrong}" is not a domain`);
  return domains.length === 0 ? undefined : domains;
}
