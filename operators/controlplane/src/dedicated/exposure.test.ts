import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ControlPlane, ControlPlaneClass, ControlPlaneEndpoint } from '../api/index.ts';
import type { ControlPlaneSpec } from '../api/index.ts';
import { until, untilReady, untilReason } from '../testing/until.ts';
import { settledExposure, wantedExposure } from './exposure.ts';
import type { Exposure } from './exposure.ts';
import { HostedControlPlane } from './hosted-control-plane.ts';
import { startDedicatedPlatform } from './testing/dedicated-platform.ts';

const parentRef = { namespace: 'gateways', name: 'edge' };
const plane = (spec: ControlPlaneSpec) => ({ metadata: { name: 'big' }, spec }) as ControlPlane;
const ofClass = (gateway: object) => ({ metadata: { name: 'gold' }, spec: { gateway } }) as ControlPlaneClass;
const endpoint = (spec: object) => ({ metadata: { name: 'e' }, spec }) as ControlPlaneEndpoint;

describe('the desired exposure', () => {
  const hostname = 'big.planes.example';
  const hostnameTemplate = '{name}.planes.example';
  const byRef = { endpointRef: { name: 'e' } };
  const table: [string, ControlPlaneSpec, object | undefined, object | undefined, Exposure | string][] = [
    ['is empty without a wish', {}, undefined, undefined, {}],
    [
      'is a name at the front door',
      { endpointPolicy: { hostname } },
      undefined,
      undefined,
      { frontDoor: { host: hostname } },
    ],
    ['is a name by the template of the class', {}, { hostnameTemplate }, undefined, { frontDoor: { host: hostname } }],
    [
      'is a name at the Gateway',
      {},
      { parentRef, hostnameTemplate },
      undefined,
      { gateway: { ...parentRef, host: hostname } },
    ],
    ['is the Gateway', {}, { parentRef }, undefined, { gateway: parentRef }],
    [
      'is not a name of another domain',
      { endpointPolicy: { hostname: 'shop.example' } },
      { parentRef, hostnameTemplate },
      undefined,
      'HostnameNotAllowed',
    ],
    [
      'is not a name that is invalid',
      { endpointPolicy: { hostnameTemplate: '-{name}' } },
      undefined,
      undefined,
      'InvalidHostname',
    ],
    [
      'is not of another provider',
      { endpointPolicy: { provider: 'aws' } },
      undefined,
      undefined,
      'EndpointNotSupported',
    ],
    [
      'is the address of an endpoint',
      byRef,
      undefined,
      { endpoint: 'https://lb.example:8443' },
      { controlPlaneEndpoint: { host: 'lb.example', port: 8443 } },
    ],
    [
      'has the default port',
      byRef,
      undefined,
      { endpoint: 'https://10.0.0.1/' },
      { controlPlaneEndpoint: { host: '10.0.0.1', port: 443 } },
    ],
    [
      'is an IPv6 address',
      byRef,
      undefined,
      { endpoint: 'https://[fd00::1]:6443' },
      { controlPlaneEndpoint: { host: 'fd00::1', port: 6443 } },
    ],
    ['waits for the endpoint', byRef, undefined, undefined, 'EndpointPending'],
    ['waits for the address', byRef, undefined, {}, 'EndpointPending'],
    [
      'has no path',
      byRef,
      undefined,
      { endpoint: 'https://a.example/clusters/big/control-plane' },
      'EndpointNotSupported',
    ],
    [
      'has one address',
      byRef,
      undefined,
      { endpoint: 'https://a.example', externalEndpoint: 'https://b.example' },
      'EndpointNotSupported',
    ],
  ];
  for (const [title, spec, gateway, address, expected] of table) {
    test(title, () => {
      const found = wantedExposure({
        controlPlane: plane(spec),
        class: gateway && ofClass(gateway),
        endpoint: address && endpoint(address),
      });
      if (typeof expected === 'string') assert.equal('reason' in found && found.reason, expected);
      else assert.deepEqual(found, expected);
    });
  }
});

describe('the exposure of an existing HostedControlPlane', () => {
  const frontDoor = { host: 'a.example' };
  const controlPlaneEndpoint = { host: 'a.example', port: 443 };
  const table: [string, Exposure, Exposure, Exposure, boolean][] = [
    ['stays without a wish', {}, { frontDoor }, { frontDoor }, false],
    ['stays when it is the same', { frontDoor }, { frontDoor, controlPlaneEndpoint }, { frontDoor }, false],
    ['stays when another is wanted', { frontDoor: { host: 'b.example' } }, { frontDoor }, { frontDoor }, true],
    ['stays when one is added', { gateway: parentRef }, {}, {}, true],
    ['gets its first address', { controlPlaneEndpoint }, {}, { controlPlaneEndpoint }, false],
    [
      'keeps its address',
      { controlPlaneEndpoint: { host: 'b', port: 1 } },
      { controlPlaneEndpoint },
      { controlPlaneEndpoint },
      true,
    ],
  ];
  for (const [title, wanted, existing, exposure, isImmutable] of table) {
    test(title, () => assert.deepEqual(settledExposure(wanted, existing), { exposure, isImmutable }));
  }
});

test('a host name, a Gateway and an endpoint become those of the HostedControlPlane, and a later change is reported', async () => {
  await using the = await startDedicatedPlatform();
  const { client } = the;
  the.platform.start();
  const make = async (name: string, spec: ControlPlaneSpec) => {
    const dedicated = { mode: 'Dedicated' as const, deletionPolicy: 'Destroy' as const };
    await client.create(ControlPlane, { metadata: { name }, spec: { ...dedicated, ...spec } });
  };
  const hosted = async (name: string) =>
    (await client.get(HostedControlPlane, { namespace: `kplane-cp-${name}`, name })).spec!;

  await make('door', { endpointPolicy: { hostname: 'door.example' } });
  await untilReady(client, 'door');
  assert.deepEqual((await hosted('door')).frontDoor, { host: 'door.example' });

  const gateway = { parentRef, hostnameTemplate: '{name}.planes.example', apiServerRef: { name: 'api' } };
  await client.create(ControlPlaneClass, { metadata: { name: 'edge' }, spec: { gateway } });
  await make('routed', { classRef: { name: 'edge' } });
  await untilReady(client, 'routed');
  assert.deepEqual((await hosted('routed')).gateway, { ...parentRef, host: 'routed.planes.example' });

  await make('named', { endpointRef: { name: 'lb' } });
  await untilReason(client, 'named', 'EndpointPending', 'Programmed');
  await client.create(ControlPlaneEndpoint, {
    metadata: { name: 'lb' },
    spec: { endpoint: 'https://named.hosted.test:8443' },
  });
  const { status } = await untilReady(client, 'named');
  assert.deepEqual((await hosted('named')).controlPlaneEndpoint, { host: 'named.hosted.test', port: 8443 });
  assert.equal(status!.endpoints!.find(({ type }) => type === 'Join')!.url, 'https://named.hosted.test:8443');

  const body = { spec: { endpointPolicy: { hostname: 'other.example' } } };
  await client.patch(ControlPlane, { name: 'door' }, { type: 'merge', body });
  await untilReason(client, 'door', 'EndpointImmutable', 'EndpointApplied');
  await untilReady(client, 'door');
  assert.deepEqual((await hosted('door')).frontDoor, { host: 'door.example' });
  await client.patch(ControlPlane, { name: 'door' }, { type: 'merge', body: { spec: { endpointPolicy: null } } });
  await until(
    client,
    ControlPlane,
    'door',
    (one) => !one?.status?.conditions?.some(({ type }) => type === 'EndpointApplied'),
  );
});
