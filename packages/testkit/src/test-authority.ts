/** Issues certificates for tests that use TLS. */

import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';

/** A certificate and its private key, both in PEM. */
export interface TestPair {
  readonly certificate: string;
  readonly key: string;
}

/** A certificate authority. */
export interface TestAuthority {
  /** Certificate of the authority, in PEM. */
  readonly certificate: string;
  /** Issues a new serving certificate. Absent: for `localhost` and 127.0.0.1. */
  serving(hosts?: readonly string[]): TestPair;
  /** Issues a client certificate. Kubernetes reads the common name as the user and the organizations as groups. */
  client(commonName: string, organizations?: readonly string[]): TestPair;
}

const world = { clock: systemClock, random: systemRandom };

/** Creates a certificate authority that is valid for one day. */
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
