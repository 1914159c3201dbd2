import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dedicatedOf, settingsFault, wantedHosted } from './settings.ts';
import type { HostedInputs } from './settings.ts';

const apiGroup = 'controlplane.cluster.x-k8s.io';

test('a field of the control plane takes precedence over that of its class', () => {
  const ofClass = { spec: { dedicated: { version: 'v1.35.0', replicas: 3 } } };
  assert.deepEqual(dedicatedOf({ spec: {} }, undefined), {});
  assert.deepEqual(dedicatedOf({ spec: {} }, ofClass), { version: 'v1.35.0', replicas: 3 });
  assert.deepEqual(dedicatedOf({ spec: { dedicated: { version: 'v1.36.4' } } }, ofClass), {
    version: 'v1.36.4',
    replicas: 3,
  });
});

describe('references', () => {
  const table: [string, object, string | undefined][] = [
    ['none', {}, undefined],
    ['the provider', { providerRef: { apiGroup, kind: 'HostedControlPlane', name: 'x' } }, undefined],
    ['another group', { providerRef: { kind: 'HostedControlPlane', name: 'x' } }, 'ProviderNotSupported'],
    ['another kind', { providerRef: { apiGroup, kind: 'KubeadmControlPlane', name: 'x' } }, 'ProviderNotSupported'],
    ['a template', { parametersRef: { apiGroup, kind: 'HostedControlPlaneTemplate', name: 'x' } }, undefined],
    ['a ConfigMap', { parametersRef: { kind: 'ConfigMap', name: 'x' } }, 'ParametersNotSupported'],
  ];
  for (const [title, settings, reason] of table) {
    test(`${title}: ${reason ?? 'accepted'}`, () => assert.equal(settingsFault(settings)?.reason, reason));
  }
});

describe('the spec of a HostedControlPlane', () => {
  const template = { apiVersion: '', kind: '', metadata: {}, spec: { template: { spec: { etcd: { replicas: 3 } } } } };
  const table: [string, Partial<HostedInputs>, object][] = [
    ['defaults of the platform', {}, { version: 'v1.36.4' }],
    [
      'replicas of the platform',
      { defaults: { version: 'v1.36.4', replicas: 1 } },
      { version: 'v1.36.4', replicas: 1 },
    ],
    ['its own settings', { settings: { version: 'v1.34.0', replicas: 2 } }, { version: 'v1.34.0', replicas: 2 }],
    ['the version that it has', { existing: { version: 'v1.35.0' } }, { version: 'v1.35.0' }],
    ['an upgrade', { existing: { version: 'v1.35.0' }, settings: { version: 'v1.36.4' } }, { version: 'v1.36.4' }],
    ['external users', { authentication: { jwt: [] } }, { version: 'v1.36.4', authentication: { jwt: [] } }],
    ['a template', { template }, { etcd: { replicas: 3 }, version: 'v1.36.4' }],
  ];
  for (const [title, inputs, spec] of table) {
    test(`has ${title}`, () => {
      const all = { settings: {}, defaults: { version: 'v1.36.4' }, ...inputs };
      assert.deepEqual(wantedHosted(all).spec, spec);
    });
  }
});
