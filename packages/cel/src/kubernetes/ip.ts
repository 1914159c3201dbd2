/** ip(), isIP() and the methods of addresses. */

import { fail } from '../errors.ts';
import { method, overload } from '../environment.ts';
import type { Library } from '../environment.ts';
import * as t from '../types.ts';
import { parseAddress } from './address.ts';
import type { Address } from './address.ts';

export const ipType = t.opaque('net.IP');
const { boolType: bool, stringType: string } = t;

export function toAddress(text: string): Address {
  const address = parseAddress(text);
  if (address !== undefined) return address;
  const shown = JSON.stringify(text);
  if (/^[^%]+%.+/.test(text) && text.includes(':')) fail(`IP address ${shown} with zone value is not allowed`);
  if (/^::ffff:[\d.]+$/i.test(text)) fail(`IPv4-mapped IPv6 address ${shown} is not allowed`);
  return fail(`IP Address ${shown} parse error during conversion from string: ParseAddr(${shown}): unable to parse IP`);
}

const first = ({ bytes }: Address): number => bytes[0]!;
const allZero = ({ bytes }: Address): boolean => bytes.every((byte) => byte === 0);
const isLoopback = (ip: Address): boolean =>
  ip.family === 4 ? first(ip) === 127 : ip.bytes.every((byte, index) => byte === (index === 15 ? 1 : 0));
const isMulticast = (ip: Address): boolean => (ip.family === 4 ? (first(ip) & 0xf0) === 0xe0 : first(ip) === 0xff);
const isLinkLocalMulticast = (ip: Address): boolean =>
  ip.family === 4
    ? first(ip) === 224 && ip.bytes[1] === 0 && ip.bytes[2] === 0
    : first(ip) === 0xff && (ip.bytes[1]! & 0x0f) === 2;
const isLinkLocalUnicast = (ip: Address): boolean =>
  ip.family === 4 ? first(ip) === 169 && ip.bytes[1] === 254 : first(ip) === 0xfe && (ip.bytes[1]! & 0xc0) === 0x80;
const isBroadcast = (ip: Address): boolean => ip.family === 4 && ip.bytes.every((byte) => byte === 255);
const isGlobalUnicast = (ip: Address): boolean =>
  !allZero(ip) && !isBroadcast(ip) && !isLoopback(ip) && !isMulticast(ip) && !isLinkLocalUnicast(ip);

export const ips: Library = {
  name: 'kubernetes ip',
  types: [ipType],
  functions: {
    ip: [overload('string_to_ip', [string], ipType, toAddress)],
    isIP: [overload('is_ip', [string], bool, (text: string) => parseAddress(text) !== undefined)],
    'ip.isCanonical': [
      overload('ip_is_canonical', [string], bool, (text: string) => toAddress(text).toString() === text),
    ],
    family: [method('ip_family', [ipType], t.intType, (ip: Address) => ip.family)],
    isUnspecified: [method('ip_is_unspecified', [ipType], bool, allZero)],
    isLoopback: [method('ip_is_loopback', [ipType], bool, isLoopback)],
    isLinkLocalMulticast: [method('ip_is_link_local_multicast', [ipType], bool, isLinkLocalMulticast)],
    isLinkLocalUnicast: [method('ip_is_link_local_unicast', [ipType], bool, isLinkLocalUnicast)],
    isGlobalUnicast: [method('ip_is_global_unicast', [ipType], bool, isGlobalUnicast)],
    string: [overload('ip_to_string', [ipType], string, (ip: Address) => ip.toString())],
  },
};
