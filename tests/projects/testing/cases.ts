/** Cases of the isolation suites: each is one request, whose answer must not cross the border of an organization. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answered, Asked, Members, Person } from './members.ts';

export interface Case extends Asked {
  readonly name: string;
  readonly person: Person;
  readonly target: string;
  readonly status: number;
}

export const configMaps = '/api/v1/namespaces/default/configmaps';

const apiVersion = 'resourcemanager.miloapis.com/v1alpha1';

export const projectOf = (name: string, organization: string, metadata: object = {}) => ({
  apiVersion,
  kind: 'Project',
  metadata: { name, ...metadata },
  spec: { ownerRef: { kind: 'Organization' as const, name: organization } },
});

export const membershipOf = (namespace: string, organization: string, user: string) => ({
  apiVersion,
  kind: 'OrganizationMembership',
  metadata: { name: 'planted', namespace },
  spec: { organizationRef: { name: organization }, userRef: { name: user }, roles: [{ name: 'admin' }] },
});

/** Each case is a test. */
export function runCases(members: () => Members, cases: readonly Case[]): void {
  for (const { name, person, target, status, ...asked } of cases) {
    test(name, async () => {
      const answer = await members().ask(person, target, asked);
      assert.equal(answer.status, status, answer.text);
    });
  }
}

/** Returns everything of an answer that a client sees, without the name that it sent. */
export const seen = ({ status, text }: Answered, name: string): string => `${status} ${text.replaceAll(name, 'NAME')}`;
