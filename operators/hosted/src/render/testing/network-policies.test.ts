/** The semantics of NetworkPolicies in the API reference, one statement each. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NetworkPolicy, NetworkPolicySpec } from '@hangar/client/kinds/networking-v1';
import { isAllowed } from './network-policies.ts';
import type { PolicyPod } from './network-policies.ts';

const policy = (spec: Partial<NetworkPolicySpec>): NetworkPolicy => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { namespace: 'a', name: 'policy' },
  spec: { podSelector: { matchLabels: { app: 'web' } }, ...spec },
});
const pod = (app: string, namespace = 'a', more: Partial<PolicyPod> = {}): PolicyPod => ({
  namespace,
  labels: { app },
  address: '10.0.0.1',
  ...more,
});
const [web, client, outside] = [pod('web', 'a', { ports: { http: 8080 } }), pod('client'), { address: '192.0.2.9' }];

/** Whether `from` reaches port 80 of the pod `web`. */
const reaches = (spec: Partial<NetworkPolicySpec>, from: PolicyPod | { address: string }, port = 80): boolean =>
  isAllowed({ policies: [policy(spec)], namespaces: { b: { team: 'red' } } }, { from, to: web, port });

test('without a policy of the direction everything is allowed; with one, only what a rule allows', () => {
  assert.ok(isAllowed({ policies: [] }, { from: client, to: web, port: 80 }));
  assert.ok(reaches({ podSelector: { matchLabels: { app: 'other' } } }, client));
  assert.equal(reaches({}, client), false);
  assert.equal(reaches({ ingress: [] }, outside), false);
  assert.ok(reaches({ ingress: [{}] }, outside));
});

test('a policy with egress rules limits both directions, unless policyTypes names them', () => {
  const both = policy({ egress: [{}] });
  assert.equal(isAllowed({ policies: [both] }, { from: client, to: web, port: 80 }), false);
  const egress = policy({ egress: [{}], policyTypes: ['Egress'] });
  assert.ok(isAllowed({ policies: [egress] }, { from: client, to: web, port: 80 }));
  const none = policy({ policyTypes: ['Egress'] });
  assert.equal(isAllowed({ policies: [none] }, { from: web, to: outside, port: 80 }), false);
});

test('a connection needs the egress of its source and the ingress of its target', () => {
  const ingress = policy({ ingress: [{}] });
  const egress = policy({ podSelector: { matchLabels: { app: 'client' } }, policyTypes: ['Egress'], egress: [] });
  assert.ok(isAllowed({ policies: [ingress] }, { from: client, to: web, port: 80 }));
  assert.equal(isAllowed({ policies: [ingress, egress] }, { from: client, to: web, port: 80 }), false);
});

test('policies add up', () => {
  const [one, other] = [80, 81].map((port) => policy({ ingress: [{ ports: [{ port }] }] }));
  const world = { policies: [one!, other!] };
  assert.deepEqual(
    [80, 81, 82].map((port) => isAllowed(world, { from: client, to: web, port })),
    [true, true, false],
  );
});

test('a pod selector alone is of the namespace of the policy; with a namespace selector both must match', () => {
  const from = (peer: object) => ({ ingress: [{ from: [peer] }] });
  const pods = { podSelector: { matchLabels: { app: 'client' } } };
  assert.ok(reaches(from(pods), client));
  assert.equal(reaches(from(pods), pod('client', 'b')), false);
  const namespaces = { namespaceSelector: { matchLabels: { team: 'red' } } };
  assert.ok(reaches(from(namespaces), pod('any', 'b')));
  assert.equal(reaches(from(namespaces), client), false);
  assert.deepEqual(
    [pod('client', 'b'), pod('any', 'b'), client].map((one) => reaches(from({ ...pods, ...namespaces }), one)),
    [true, false, false],
  );
  const named = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'c' } } };
  assert.ok(reaches(from(named), pod('any', 'c')));
  assert.equal(reaches(from({ namespaceSelector: {} }), outside), false);
});

test('an IP block has exceptions, and no other peer matches addresses outside of the cluster', () => {
  const ipBlock = { cidr: '192.0.2.0/24', except: ['192.0.2.128/25'] };
  const rule = { ingress: [{ from: [{ ipBlock }] }] };
  assert.deepEqual(
    ['192.0.2.9', '192.0.2.200', '198.51.100.1', '2001:db8::1'].map((address) => reaches(rule, { address })),
    [true, false, false, false],
  );
  assert.equal(reaches({ ingress: [{ from: [{ podSelector: {} }] }] }, outside), false);
});

test('ports have protocols, names and ranges', () => {
  const ports = (...all: NonNullable<NetworkPolicySpec['ingress']>[number]['ports'] & object) => ({
    ingress: [{ ports: all }],
  });
  assert.deepEqual(
    [80, 81].map((port) => reaches(ports({ port: 80 }), client, port)),
    [true, false],
  );
  assert.deepEqual(
    [79, 80, 90, 91].map((port) => reaches(ports({ port: 80, endPort: 90 }), client, port)),
    [false, true, true, false],
  );
  assert.deepEqual(
    [80, 8080].map((port) => reaches(ports({ port: 'http' }), client, port)),
    [false, true],
  );
  assert.equal(reaches(ports({ port: 'other' }), client, 8080), false);
  assert.equal(reaches(ports({ port: 80, protocol: 'UDP' }), client), false);
  assert.ok(reaches(ports({ protocol: 'TCP' }), client, 12_345));
});
