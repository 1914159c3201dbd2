import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { annotations } from '../api/index.ts';
import type { HostedControlPlane } from '../api/index.ts';
import { hostedControlPlane } from '../render/testing/planes.ts';
import { byCreation, claimedHosts, hostFault } from './hosts.ts';

const settings = { domains: ['hosted.example.com', 'old.example.com'] };
const reasonOf = (host: string, namespace = 'team', given: Parameters<typeof hostFault>[2] = settings) =>
  hostFault(host, namespace, given)?.reason;

describe('a host name', () => {
  test('below the namespace of the control plane, or with one label, is allowed', () => {
    for (const host of ['demo.team.hosted.example.com', 'a.b.team.old.example.com', 'shop.hosted.example.com']) {
      assert.equal(reasonOf(host), undefined, host);
    }
  });

  test('below another namespace is reserved', () => {
    assert.equal(reasonOf('demo.other.hosted.example.com'), 'HostNotAllowed');
    assert.equal(reasonOf('team.other.hosted.example.com'), 'HostNotAllowed');
    assert.match(
      hostFault('demo.other.hosted.example.com', 'team', settings)!.message,
      /reserved for namespace "other"/,
    );
  });

  test('is checked with the longest domain', () => {
    const nested = { domains: ['example.com', 'hosted.example.com'] };
    assert.equal(reasonOf('shop.hosted.example.com', 'team', nested), undefined);
    assert.equal(reasonOf('shop.team.hosted.example.com', 'hosted', nested), 'HostNotAllowed');
  });

  test('outside of the domains needs the permission of the operator', () => {
    const any = { ...settings, allowsAnyHost: true };
    for (const host of ['shop.example.org', 'nothosted.example.com']) {
      assert.equal(reasonOf(host), 'HostNotAllowed', host);
      assert.equal(reasonOf(host, 'team', any), undefined, host);
    }
    assert.equal(reasonOf('hosted.example.com', 'team', any), 'HostNotAllowed');
    assert.equal(reasonOf('demo.other.hosted.example.com', 'team', any), 'HostNotAllowed');
  });

  test('that is too long is a fault', () => {
    assert.equal(reasonOf(`${'a.'.repeat(120)}team.hosted.example.com`), 'NameTooLong');
  });
});

describe('claimed host names', () => {
  const names = (domain: string) => [`demo.team.${domain}`, `konnectivity.demo.team.${domain}`];

  test('are those of the name and namespace below all domains', () => {
    const expected = [...names('hosted.example.com'), ...names('old.example.com')];
    assert.deepEqual(claimedHosts(hostedControlPlane({ frontDoor: {} }), settings), expected);
    const byDefault = hostedControlPlane();
    byDefault.metadata.annotations = { [annotations.exposure]: 'front-door' };
    assert.deepEqual(claimedHosts(byDefault, settings), expected);
  });

  test('are the host of the spec, if it is allowed', () => {
    const claims = (host: string) => claimedHosts(hostedControlPlane({ frontDoor: { host } }), settings);
    assert.deepEqual(claims('a.hosted.example.com'), ['a.hosted.example.com', 'konnectivity.a.hosted.example.com']);
    assert.deepEqual(claims('a.other.hosted.example.com'), []);
  });

  test('do not depend on the endpoint, which a user can set later', () => {
    const spec = { frontDoor: {}, controlPlaneEndpoint: { host: 'shop.hosted.example.com', port: 6443 } };
    assert.ok(!claimedHosts(hostedControlPlane(spec), settings).includes('shop.hosted.example.com'));
    const { controlPlaneEndpoint } = spec;
    assert.deepEqual(claimedHosts(hostedControlPlane({ controlPlaneEndpoint }), settings), []);
  });
});

test('the first control plane is the one that was created first, then the one with the lower uid', () => {
  const at = (creationTimestamp: string, uid: string): HostedControlPlane => ({
    ...hostedControlPlane(),
    metadata: { creationTimestamp, uid },
  });
  const [a, b, c] = [at('2026-01-01T00:00:00Z', '3'), at('2026-01-01T00:00:01Z', '1'), at('2026-01-01T00:00:01Z', '2')];
  assert.deepEqual([c, b, a].sort(byCreation), [a, b, c]);
});
