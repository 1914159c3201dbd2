/** DNS configuration of a pod. */

import { child, index, invalid, required } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { byteLength, dnsSubdomainWithUnderscoreReasons } from '../../formats.ts';
import { checkReasons, isEmpty } from '../base/checks.ts';
import { checkIp } from '../base/ip-addresses.ts';
import type { PodSpec } from '../types/pod.ts';

const nameserversMax = 3;
const searchesMax = 32;
const searchBytesMax = 2048;

export function checkDns(errors: FieldError[], path: string, { dnsPolicy, dnsConfig }: PodSpec): void {
  if (dnsPolicy === 'None') {
    if (!dnsConfig) {
      errors.push(required(path, 'must provide `dnsConfig` when `dnsPolicy` is None'));
      return;
    }
    if (isEmpty(dnsConfig.nameservers)) {
      const reason = 'must provide at least one DNS nameserver when `dnsPolicy` is None';
      errors.push(required(child(path, 'nameservers'), reason));
      return;
    }
  }
  const nameservers = dnsConfig?.nameservers ?? [];
  const at = child(path, 'nameservers');
  if (nameservers.length > nameserversMax) {
    errors.push(invalid(at, nameservers, `must not have more than ${nameserversMax} nameservers`));
  }
  for (const [i, address] of nameservers.entries()) checkIp(errors, index(at, i), address);
  checkSearches(errors, child(path, 'searches'), dnsConfig?.searches ?? []);
  for (const [i, { name }] of (dnsConfig?.options ?? []).entries()) {
    if (!name) errors.push(required(index(child(path, 'options'), i), 'must not be empty'));
  }
}

function checkSearches(errors: FieldError[], path: string, searches: readonly string[]): void {
  if (searches.length > searchesMax) {
    errors.push(invalid(path, searches, `must not have more than ${searchesMax} search paths`));
  }
  if (byteLength(searches.join(' ')) > searchBytesMax) {
    const reason = `must not have more than ${searchBytesMax} characters (including spaces) in the search list`;
    errors.push(invalid(path, searches, reason));
  }
  for (const [i, search] of searches.entries()) {
    if (search === '.') continue;
    const name = search.endsWith('.') ? search.slice(0, -1) : search;
    checkReasons(errors, index(path, i), name, dnsSubdomainWithUnderscoreReasons(name));
  }
}
