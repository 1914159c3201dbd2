/** Time zones by their IANA names. */

import { invalid } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { isSet } from '../base/checks.ts';

const known = new Map<string, boolean>();
/** Names come from clients: the cache is bounded. */
const knownMax = 1000;

/** Names are case-sensitive, unlike in JavaScript, and offsets are not names. */
export function isTimeZone(name: string): boolean {
  if (name === '' || name === 'UTC' || name === 'Local') return true;
  let found = known.get(name);
  if (found === undefined) {
    found = /^[A-Za-z]/.test(name) && isKnown(name);
    if (known.size >= knownMax) known.clear();
    known.set(name, found);
  }
  return found;
}

function isKnown(name: string): boolean {
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return timeZone.toLowerCase() !== name.toLowerCase() || timeZone === name;
  } catch {
    return false;
  }
}

export function checkTimeZone(errors: FieldError[], path: string, name: string | undefined): void {
  if (!isSet(name)) return;
  const unknown = `unknown time zone ${name}`;
  if (name === '') errors.push(invalid(path, name, 'timeZone must be nil or non-empty string'));
  else if (!name.split('/').every(isPart)) errors.push(invalid(path, name, unknown));
  else {
    if (name.toLowerCase() === 'local') {
      const reason = 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
      errors.push(invalid(path, name, reason));
    }
    if (!isTimeZone(name)) errors.push(invalid(path, name, unknown));
  }
}

const isPart = (part: string): boolean => part !== '.' && part !== '..' && /^(?!-)[A-Za-z.\-_0-9+]{1,14}$/.test(part);
