import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Organization, OrganizationMembership } from '../api/index.ts';
import { digestOf, roleBindingsOf } from './role-bindings.ts';
import { membershipCondition } from './validity.ts';

const acme = { metadata: { name: 'acme' }, spec: {}, status: { namespace: 'organization-acme' } } as Organization;

const member = (
  subject: Pick<OrganizationMembership['spec'], 'userRef' | 'groupRef'>,
  roles: readonly string[],
  metadata: object = {},
): OrganizationMembership =>
  ({
    metadata: { namespace: 'organization-acme', name: 'm', ...metadata },
    spec: { organizationRef: { name: 'acme' }, ...subject, roles: roles.map((name) => ({ name })) },
  }) as OrganizationMembership;

const kim = { userRef: { name: 'kim' } };
const lee = { userRef: { name: 'lee' } };
const team = { groupRef: { name: 'kim' } };

const shown = (members: readonly OrganizationMembership[], organization: Organization | undefined = acme): string[] =>
  roleBindingsOf(organization, members).map(
    ({ name, clusterRole, subjects }) =>
      `${name.split(':').slice(1).join(':')}→${clusterRole} ${subjects.map((one) => `${one.kind}:${one.name}`).join(',')}`,
  );

test('each role is one binding with all its users and groups', () => {
  const members = [
    member(lee, ['viewer', 'admin']),
    member(team, ['editor', 'viewer']),
    member(kim, ['viewer', 'deployers']),
  ];
  const expected = [
    'admin→cluster-admin User:lee',
    'deployers→deployers User:kim',
    'editor→edit Group:kim',
    'viewer→view Group:kim,User:kim,User:lee',
  ];
  assert.deepEqual(shown(members), expected);
  assert.deepEqual(shown(members.toReversed()), expected);
  assert.deepEqual(shown([...members, ...members]), expected);
});

test('memberships without effect grant nothing', () => {
  const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z' };
  assert.deepEqual(shown([member(kim, ['admin'], { namespace: 'default' })]), []);
  assert.deepEqual(shown([member(kim, ['admin'], { namespace: 'organization-other' })]), []);
  assert.deepEqual(shown([member(kim, ['admin'], deleted)]), []);
  assert.deepEqual(shown([member(kim, [])]), []);
  const unready = { ...acme, status: {} } as Organization;
  assert.deepEqual(shown([member(kim, ['admin'])], unready), []);
  assert.deepEqual(roleBindingsOf(undefined, [member(kim, ['admin'])]), []);
});

test('the digest depends on the bindings and on the control plane', () => {
  const bindings = roleBindingsOf(acme, [member(kim, ['viewer'])]);
  assert.equal(digestOf('a', bindings), digestOf('a', roleBindingsOf(acme, [member(kim, ['viewer'])])));
  assert.notEqual(digestOf('a', bindings), digestOf('b', bindings));
  assert.notEqual(digestOf('a', bindings), digestOf('a', []));
});

test('the condition of a membership reports why it has no effect', () => {
  const reason = (...args: Parameters<typeof membershipCondition>) => membershipCondition(...args).reason;
  assert.equal(reason(member(kim, ['viewer']), acme), 'Accepted');
  assert.equal(reason(member(kim, ['viewer'], { namespace: 'default' }), acme), 'WrongNamespace');
  assert.equal(reason(member(kim, ['viewer']), undefined), 'OrganizationNotFound');
  assert.equal(reason(member(kim, ['viewer']), { ...acme, status: {} } as Organization), 'OrganizationNotReady');
});
