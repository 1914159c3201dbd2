/** A server with policies, for tests in this process. */

import assert from 'node:assert/strict';
import type { Data, TestServer } from '../../../testing/test-server.ts';

const registration = '/apis/admissionregistration.k8s.io/v1';
const apiVersion = 'admissionregistration.k8s.io/v1';
export const policies = (kind: PolicyKind): string => `${registration}/${kind.toLowerCase()}admissionpolicies`;

type PolicyKind = 'Validating' | 'Mutating';

const constraints = {
  resourceRules: [
    { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] },
  ],
};

export const policyObject = (kind: PolicyKind, name: string, spec: object): Data => ({
  kind: `${kind}AdmissionPolicy`,
  apiVersion,
  metadata: { name },
  spec: {
    matchConstraints: constraints,
    ...(kind === 'Mutating' ? { reinvocationPolicy: 'Never' } : {}),
    ...spec,
  },
});

export const bindingObject = (kind: PolicyKind, policyName: string, spec: object = {}): Data => ({
  kind: `${kind}AdmissionPolicyBinding`,
  apiVersion,
  metadata: { name: `${policyName}-binding` },
  spec: { policyName, ...(kind === 'Validating' ? { validationActions: ['Deny'] } : {}), ...spec },
});

/** Creates a policy and waits until it is in force. */
export async function inForce(
  server: TestServer,
  kind: PolicyKind,
  name: string,
  { policy, binding = {} }: { readonly policy: object; readonly binding?: object },
): Promise<void> {
  await server.create(policies(kind), policyObject(kind, name, policy));
  await server.create(
    `${registration}/${kind.toLowerCase()}admissionpolicybindings`,
    bindingObject(kind, name, binding),
  );
  await followed(server);
}

/** Watchers receive a write within a few turns of the event loop. */
export async function followed(server: TestServer): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(server.problems.length, 0);
}

export const jsonPatch = (expression: string): object => ({ patchType: 'JSONPatch', jsonPatch: { expression } });
export const applyConfiguration = (expression: string): object => ({
  patchType: 'ApplyConfiguration',
  applyConfiguration: { expression },
});
