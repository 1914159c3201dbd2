/** IP addresses in fields that once were lenient: new values must be of the strict form, stored ones may stay. */

import { invalid } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { hasLeadingZeros, isIpv4, parseIp } from '../../shared/ip.ts';

const reason = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

/** `old`: stored values are not checked. */
export function checkIp(errors: FieldError[], path: string, value: string, old: readonly string[] = []): void {
  if (old.includes(value)) return;
  const address = parseIp(value);
  if (!address) errors.push(invalid(path, value, reason));
  else if (hasLeadingZeros(value)) errors.push(invalid(path, value, 'must not have leading 0s'));
  else if (!address.isDotted && isIpv4(address)) {
    errors.push(invalid(path, value, 'must not be an IPv4-mapped IPv6 address'));
  }
}

/** One of each family at most, and no more than two. */
export function isDualStack(values: readonly string[]): boolean {
  const families = new Set(
    values.map((value) => parseIp(value)).flatMap((address) => (address ? [isIpv4(address)] : [])),
  );
  return families.size === 2;
}
