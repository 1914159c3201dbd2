/** Maps the usages of Kubernetes to those of certificates (RFC 5280). */

import { quote } from '@hangar/api';

/** Bit 0 is 1: digitalSignature, contentCommitment, keyEncipherment, dataEncipherment, keyAgreement, … */
const keyUsages: Readonly<Record<string, number>> = {
  signing: 1 << 0,
  'digital signature': 1 << 0,
  'content commitment': 1 << 1,
  'key encipherment': 1 << 2,
  'data encipherment': 1 << 3,
  'key agreement': 1 << 4,
  'cert sign': 1 << 5,
  'crl sign': 1 << 6,
  'encipher only': 1 << 7,
  'decipher only': 1 << 8,
};

/** In the order of encoding. */
const extendedKeyUsages: Readonly<Record<string, string>> = {
  any: '2.5.29.37.0',
  'server auth': '1.3.6.1.5.5.7.3.1',
  'client auth': '1.3.6.1.5.5.7.3.2',
  'code signing': '1.3.6.1.5.5.7.3.3',
  'email protection': '1.3.6.1.5.5.7.3.4',
  's/mime': '1.3.6.1.5.5.7.3.4',
  'ipsec end system': '1.3.6.1.5.5.7.3.5',
  'ipsec tunnel': '1.3.6.1.5.5.7.3.6',
  'ipsec user': '1.3.6.1.5.5.7.3.7',
  timestamping: '1.3.6.1.5.5.7.3.8',
  'ocsp signing': '1.3.6.1.5.5.7.3.9',
  'microsoft sgc': '1.3.6.1.4.1.311.10.3.3',
  'netscape sgc': '2.16.840.1.113730.4.1',
};

export interface Usages {
  readonly keyUsage: number;
  /** Object identifiers. */
  readonly extendedKeyUsage: readonly string[];
}

/** Returns a text with the reason if a usage is invalid. */
export function usagesOf(names: readonly string[]): Usages | string {
  const isKnown = (name: string): boolean => Object.hasOwn(keyUsages, name) || Object.hasOwn(extendedKeyUsages, name);
  const unknown = names.filter((name) => !isKnown(name));
  if (unknown.length > 0) return `unrecognized usage values: [${unknown.map((name) => quote(name)).join(' ')}]`;
  const wanted = new Set(names);
  const extended = Object.entries(extendedKeyUsages).flatMap(([name, id]) => (wanted.has(name) ? [id] : []));
  return {
    keyUsage: names.reduce((bits, name) => bits | (keyUsages[name] ?? 0), 0),
    extendedKeyUsage: [...new Set(extended)],
  };
}
