/** Blocks of addresses, `10.0.0.0/8`, with the same leniency for stored values as addresses. */

import { invalid, quote } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { formatIp, hasLeadingZeros, isIpv4, parseIp } from './ip.ts';
import type { Address } from './ip.ts';

export interface Cidr {
  /** As written, with its host bits. */
  readonly address: Address;
  /** The first of the block. */
  readonly network: Address;
  /** As written: of 32 for IPv4 in dots, else of 128. */
  readonly prefixLength: number;
}

export function parseCidr(text: string): Cidr | undefined {
  const at = text.indexOf('/');
  if (at < 0) return undefined;
  const address = parseIp(text.slice(0, at));
  const digits = text.slice(at + 1);
  if (!address || !/^\d+$/.test(digits)) return undefined;
  const prefixLength = Number(digits);
  if (prefixLength > (address.isDotted ? 32 : 128)) return undefined;
  const kept = prefixLength + (address.isDotted ? 96 : 0);
  const bytes = Uint8Array.from(address.bytes);
  for (let at = kept >> 3; at < 16; at++) bytes[at]! &= at === kept >> 3 ? 0xff00 >> (kept & 7) : 0;
  return { address, network: { bytes, isDotted: address.isDotted }, prefixLength };
}

/** Bits of the block out of 128, whichever way it was written. */
const width = ({ address, prefixLength }: Cidr): number => prefixLength + (address.isDotted ? 96 : 0);

export function formatCidr(cidr: Cidr): string {
  const bits = isIpv4(cidr.network) && !cidr.address.isDotted ? cidr.prefixLength - 96 : cidr.prefixLength;
  return `${formatIp(cidr.network)}/${bits}`;
}

/** Reports whether `inner` is a proper subset of `outer`. */
export function isStrictSubset(inner: Cidr, outer: Cidr): boolean {
  // Lengths as written, as Kubernetes compares them.
  if (isIpv4(inner.network) !== isIpv4(outer.network) || outer.prefixLength >= inner.prefixLength) return false;
  const bits = width(outer);
  for (let at = 0; at < 16; at++) {
    const kept = Math.min(Math.max(bits - at * 8, 0), 8);
    if (outer.network.bytes[at] !== (inner.network.bytes[at]! & (0xff << (8 - kept)) & 0xff)) return false;
  }
  return true;
}

const cidrText = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

const isMappedText = ({ address }: Cidr): boolean => !address.isDotted && isIpv4(address);
const zerosIn = (value: string): boolean => {
  const [address = '', bits = ''] = value.split('/');
  return hasLeadingZeros(address) || /^0\d/.test(bits);
};

/** `known`: values stored already, from when more was allowed. */
export function cidrErrors(path: string, value: string, known?: ReadonlySet<string>): FieldError[] {
  if (known?.has(value)) return [];
  const cidr = parseCidr(value);
  if (!cidr) return [invalid(path, value, cidrText)];
  if (zerosIn(value)) return [invalid(path, value, 'must not have leading 0s in IP or prefix length')];
  if (isMappedText(cidr)) return [invalid(path, value, 'must not have an IPv4-mapped IPv6 address')];
  if (cidr.address.bytes.every((byte, at) => byte === cidr.network.bytes[at])) return [];
  return [invalid(path, value, 'must not have bits set beyond the prefix length')];
}

export function canonicalCidrErrors(path: string, value: string): FieldError[] {
  const errors = cidrErrors(path, value);
  if (errors.length > 0) return errors;
  const canonical = formatCidr(parseCidr(value)!);
  return value === canonical ? [] : [invalid(path, value, `must be in canonical form (${quote(canonical)})`)];
}

export function cidrWarnings(path: string, value: string): string[] {
  const cidr = parseCidr(value);
  if (!cidr) return [];
  const canonical = formatCidr(cidr);
  const warnings: string[] = [];
  if (formatIp(cidr.address) !== formatIp(cidr.network)) {
    const single = `${formatIp(cidr.address)}/${cidr.address.isDotted ? 32 : 128}`;
    const choice = `should be ${quote(canonical)} or ${quote(single)}?`;
    warnings.push(`${path}: CIDR value ${quote(value)} is ambiguous in this context (${choice})`);
  }
  if (zerosIn(value) || isMappedText(cidr)) {
    warnings.push(`${path}: non-standard CIDR value ${quote(value)} is invalid: use ${quote(canonical)}`);
  }
  if (warnings.length > 0 || cidr.address.isDotted || canonical === value) return warnings;
  return [`${path}: IPv6 CIDR value ${quote(value)} should be in RFC 5952 canonical format (${quote(canonical)})`];
}
