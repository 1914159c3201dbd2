/** Users of a test. In process, the transport sets the user; over TLS, a certificate of the test's authority identifies the user. */

import { InProcessTransport } from '@hangar/client';
import type { HttpTransport, InProcessHandler } from '@hangar/client';
import type { Clock } from '@hangar/core';

/** Name and groups of a user. */
export interface TestUser {
  readonly name: string;
  readonly groups?: readonly string[];
}

/** A member of `system:masters`, who may do everything. */
export const administrator: TestUser = { name: 'administrator', groups: ['system:masters'] };

/** Returns the user of a service account, for tests of an operator with exactly its own permissions. */
export const serviceAccount = (namespace: string, name: string): TestUser => ({
  name: `system:serviceaccount:${namespace}:${name}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
});

export function userTransport(handler: InProcessHandler, { name, groups = [] }: TestUser, clock: Clock): HttpTransport {
  const certificate = { commonName: name, organizations: groups, expiresAt: Infinity };
  return new InProcessTransport({ handler, peer: { address: '127.0.0.1', certificate }, clock });
}
