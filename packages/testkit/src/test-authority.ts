/** Certificates for tests of what is spoken over TLS: an authority, and what it issues for this machine. */

import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';

/** PEM. */
export interface TestPair {
  readonly certificate: string;
  readonly key: string;
}

export interface TestAuthority {
  /** PEM. */
  readonly certificate: string;
  /** Another one every time. Absent: for `localhost` and 127.0.0.1. */
  serving(hosts?: readonly string[]): TestPair;
  /** Of a user with these groups, as Kubernetes reads it. */
  client(commonName: string, organizations?: readonly string[]): TestPair;
}

const world = { clock: systemClock, random: systemRandom };

export function testAuthority(name = 'tests'): TestAuthority {
  const authority = createAuthority(name, 1, world);
  return {
    certificate: authority.certificate,
    serving: (hosts = ['localhost', '127.0.0.1']) =>
      issueCertificate(authority, { commonName: 'server', hosts, usage: 'server', days: 1 }, world),
    client: (commonName, organizations = []) =>
      issueCertificate(authority, { commonName, organizations, usage: 'client', days: 1 }, world),
  };
}
