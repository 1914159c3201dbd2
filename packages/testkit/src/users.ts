/** Who asks in a test. In process a user is who the test says; over TLS it is a certificate that the test's authority issues. */

import { InProcessTransport } from '@hangar/client';
import type { HttpTransport, InProcessHandler } from '@hangar/client';
import type { Clock } from '@hangar/core';

export interface TestUser {
  readonly name: string;
  readonly groups?: readonly string[];
}

/** May do everything, with RBAC and without. */
export const administrator: TestUser = { name: 'administrator', groups: ['system:masters'] };

/** As the API server knows a pod of this account: for tests of an operator with exactly its own permissions. */
export const serviceAccount = (namespace: string, name: string): TestUser => ({
  name: `system:serviceaccount:${namespace}:${name}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
});

export function userTransport(handler: InProcessHandler, { name, groups = [] }: TestUser, clock: Clock): HttpTransport {
  const certificate = { commonName: name, organizations: groups, expiresAt: Infinity };
  return new InProcessTransport({ handler, peer: { address: '127.0.0.1', certificate }, clock });
}
