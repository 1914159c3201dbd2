/** Namespaced kernel parameters, which a container may set. */

import type { Check, Rule } from './check.ts';

const always = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
];
const since27 = [...always, 'net.ipv4.ip_local_reserved_ports'];
const since29 = [
  ...since27,
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
];
const since32 = [...since29, 'net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem'];

const sysctls = (allowed: readonly string[]): Check => {
  const names = new Set(allowed);
  return ({ securityContext }) => {
    const bad = securityContext?.sysctls?.flatMap(({ name = '' }) => (names.has(name) ? [] : [name])) ?? [];
    return bad.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: bad.join(', ') };
  };
};

export const sysctlRules: Rule['versions'] = [
  { since: 0, check: sysctls(always) },
  { since: 27, check: sysctls(since27) },
  { since: 29, check: sysctls(since29) },
  { since: 32, check: sysctls(since32) },
];
