/** cidr(), isCIDR() and what networks contain. */

import { fail } from '../errors.ts';
import { method, overload } from '../environment.ts';
import type { Library } from '../environment.ts';
import * as t from '../types.ts';
import { parseNetwork } from './address.ts';
import type { Address, Network } from './address.ts';
import { ipType, toAddress } from './ip.ts';

export const cidrType = t.opaque('net.CIDR');
const { boolType: bool, stringType: string } = t;
const toNetwork = (text: string): Network =>
  parseNetwork(text) ?? fail('network address parse error during conversion from string');

export const cidrs: Library = {
  name: 'kubernetes cidr',
  types: [cidrType],
  functions: {
    cidr: [overload('string_to_cidr', [string], cidrType, toNetwork)],
    isCIDR: [overload('is_cidr', [string], bool, (text: string) => parseNetwork(text) !== undefined)],
    containsIP: [
      method('cidr_contains_ip_string', [cidrType, string], bool, (network: Network, ip: string) =>
        network.contains(toAddress(ip)),
      ),
      method('cidr_contains_ip_ip', [cidrType, ipType], bool, (network: Network, ip: Address) => network.contains(ip)),
    ],
    containsCIDR: [
      method('cidr_contains_cidr_string', [cidrType, string], bool, (network: Network, other: string) =>
        network.containsNetwork(toNetwork(other)),
      ),
      method('cidr_contains_cidr', [cidrType, cidrType], bool, (network: Network, other: Network) =>
        network.containsNetwork(other),
      ),
    ],
    ip: [method('cidr_ip', [cidrType], ipType, (network: Network) => network.address)],
    prefixLength: [method('cidr_prefix_length', [cidrType], t.intType, (network: Network) => network.prefixLength)],
    masked: [method('cidr_masked', [cidrType], cidrType, (network: Network) => network.masked())],
    string: [overload('cidr_to_string', [cidrType], string, (network: Network) => network.toString())],
  },
};
