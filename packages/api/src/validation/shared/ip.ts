/**
 * IP addresses as Kubernetes parses them. It parses `010.1.1.1` (as 10.1.1.1) but refuses it unless it is stored already; newer fields
 * require the canonical form. An address is 16 bytes; IPv4 is mapped into IPv6, so `::ffff:1.2.3.4` is IPv4.
 */

import { invalid, quote } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';

export interface Address {
  readonly bytes: Uint8Array;
  /** Written with dots alone. Such an address has masks of up to 32 bits, any other of up to 128. */
  readonly isDotted: boolean;
}

/** Longer texts are not addresses: 8 groups with some leading zeros are shorter. */
const lengthMax = 128;

/** Leading zeros are allowed, zones are not. */
export function parseIp(text: string): Address | undefined {
  if (text.length > lengthMax) return undefined;
  if (!text.includes(':')) {
    const parts = dotted(text);
    return parts && { bytes: mapped(parts), isDotted: true };
  }
  const bytes = parseIpv6(text);
  return bytes && { bytes, isDotted: false };
}

const fourNumbers = /^(\d+)\.(\d+)\.(\d+)\.(\d+)$/;

function dotted(text: string): number[] | undefined {
  const found = fourNumbers.exec(text);
  if (!found) return undefined;
  const parts = [Number(found[1]), Number(found[2]), Number(found[3]), Number(found[4])];
  return parts.some((part) => part > 255) ? undefined : parts;
}

const mapped = (parts: readonly number[]): Uint8Array => {
  const bytes = new Uint8Array(16);
  bytes.set([0xff, 0xff, ...parts], 10);
  return bytes;
};

function parseIpv6(text: string): Uint8Array | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head, tail] = [groupsOf(halves[0]!, halves.length === 1), groupsOf(halves[1] ?? '', true)];
  if (!head || !tail) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const groups = [...head, ...Array.from({ length: missing }, () => 0), ...tail];
  return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}

function groupsOf(text: string, mayEndDotted: boolean): number[] | undefined {
  if (text === '') return [];
  const groups: number[] = [];
  const parts = text.split(':');
  for (const [at, part] of parts.entries()) {
    const isLast = at === parts.length - 1;
    if (isLast && mayEndDotted && part.includes('.')) {
      const four = dotted(part);
      if (!four) return undefined;
      groups.push((four[0]! << 8) | four[1]!, (four[2]! << 8) | four[3]!);
      continue;
    }
    const group = /^[0-9a-fA-F]+$/.test(part) ? Number.parseInt(part, 16) : Number.NaN;
    if (!(group <= 0xffff)) return undefined;
    groups.push(group);
  }
  return groups;
}

export function isIpv4({ bytes }: Address): boolean {
  if (bytes[10] !== 0xff || bytes[11] !== 0xff) return false;
  for (let at = 0; at < 10; at++) if (bytes[at] !== 0) return false;
  return true;
}

/** Returns the canonical text (RFC 5952); IPv4 in dots, regardless of the original form. */
export function formatIp(address: Address): string {
  const { bytes } = address;
  if (isIpv4(address)) return `${bytes[12]}.${bytes[13]}.${bytes[14]}.${bytes[15]}`;
  const groups = groupsOfBytes(bytes);
  const [from, length] = longestZeros(groups);
  const hex = groups.map((group) => group.toString(16));
  if (length < 2) return hex.join(':');
  return `${hex.slice(0, from).join(':')}::${hex.slice(from + length).join(':')}`;
}

const groupsOfBytes = (bytes: Uint8Array): number[] =>
  Array.from({ length: 8 }, (_, at) => (bytes[2 * at]! << 8) | bytes[2 * at + 1]!);

function longestZeros(groups: readonly number[]): [from: number, length: number] {
  let best: [number, number] = [0, 0];
  for (let from = 0; from < groups.length; from++) {
    let length = 0;
    while (groups[from + length] === 0) length++;
    if (length > best[1]) best = [from, length];
    from += length;
  }
  return best;
}

/** Reports whether a number or group has superfluous zeros; only old fields allow them. */
export const hasLeadingZeros = (text: string): boolean =>
  /(^|[.:])0\d+(\.|$)/.test(text) || /(^|:)[0-9a-fA-F]{5,}(:|$)/.test(text);

const ipText = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

/** `known`: stored values, from when more was allowed. */
export function ipErrors(path: string, value: string, known?: ReadonlySet<string>): FieldError[] {
  if (known?.has(value)) return [];
  const address = parseIp(value);
  if (!address) return [invalid(path, value, ipText)];
  if (hasLeadingZeros(value)) return [invalid(path, value, 'must not have leading 0s')];
  if (!address.isDotted && isIpv4(address)) return [invalid(path, value, 'must not be an IPv4-mapped IPv6 address')];
  return [];
}

export function canonicalIpErrors(path: string, value: string): FieldError[] {
  const errors = ipErrors(path, value);
  if (errors.length > 0) return errors;
  const canonical = formatIp(parseIp(value)!);
  return value === canonical ? [] : [invalid(path, value, `must be in canonical form (${quote(canonical)})`)];
}

/** Addresses that cannot receive traffic: of endpoints, and external ones of services. */
export function endpointIpErrors(path: string, value: string): FieldError[] {
  const address = parseIp(value);
  if (!address) return [invalid(path, value, 'must be a valid IP address')];
  const { bytes } = address;
  const four = isIpv4(address);
  const [first, second] = four ? [bytes[12]!, bytes[13]!] : [bytes[0]!, bytes[1]!];
  const text = formatIp(address);
  const errors: FieldError[] = [];
  if (text === '0.0.0.0' || text === '::') errors.push(invalid(path, value, `may not be unspecified (${value})`));
  if (four ? first === 127 : text === '::1') {
    errors.push(invalid(path, value, 'may not be in the loopback range (127.0.0.0/8, ::1/128)'));
  }
  if (four ? first === 169 && second === 254 : first === 0xfe && (second & 0xc0) === 0x80) {
    errors.push(invalid(path, value, 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'));
  }
  if (four ? first === 224 && second === 0 && bytes[14] === 0 : first === 0xff && (second & 0x0f) === 0x02) {
    errors.push(invalid(path, value, 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'));
  }
  return errors;
}

/** Warnings for an address that is accepted but should be written differently. */
export function ipWarnings(path: string, value: string): string[] {
  const address = parseIp(value);
  if (!address) return [];
  const canonical = formatIp(address);
  if (hasLeadingZeros(value) || (!address.isDotted && isIpv4(address))) {
    return [`${path}: non-standard IP address ${quote(value)} is invalid: use ${quote(canonical)}`];
  }
  if (address.isDotted || canonical === value) return [];
  return [`${path}: IPv6 address ${quote(value)} should be in RFC 5952 canonical format (${quote(canonical)})`];
}
