/** Settings for nodes, from a class and a ControlPlane to the Tenant. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { ControlPlane, ControlPlaneClass } from '../api/index.ts';
import { Tenant } from '../host/index.ts';
import { startTestPlatform } from '../testing/platform.ts';
import { until, untilReady } from '../testing/until.ts';
import { nodesOf } from './nodes.ts';

test('the settings of a control plane override those of its class, field by field', () => {
  const given = (nodes: object | undefined, ofClass: object | undefined) =>
    nodesOf({
      controlPlane: { spec: { virtual: nodes ? { nodes } : {} } } as ControlPlane,
      class: ofClass ? ({ spec: { nodes: ofClass } } as ControlPlaneClass) : undefined,
    });
  const networks = ['10.0.0.0/8'];
  assert.equal(given(undefined, undefined), undefined);
  assert.equal(given({ networks }, undefined), undefined);
  assert.deepEqual(given(undefined, { enabled: true, networks }), { enabled: true, networks });
  assert.deepEqual(given({ enabled: true }, { networks }), { enabled: true, networks });
  assert.deepEqual(given({ networks: [] }, { enabled: true, networks }), { enabled: true });
  assert.equal(given({ enabled: false }, { enabled: true, networks }), undefined);
});

test('a Tenant has the settings of its control plane and of the class, and follows both', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  const untilNodes = (nodes: object | undefined): Promise<unknown> =>
    until(client, Tenant, 'demo', (one) => isDeepStrictEqual(one?.spec?.nodes, nodes));
  const networks = ['10.0.0.0/8'];
  await client.create(ControlPlaneClass, { metadata: { name: 'nodes' }, spec: { nodes: { enabled: true, networks } } });
  await client.create(ControlPlane, { metadata: { name: 'demo' }, spec: { classRef: { name: 'nodes' } } });
  await untilReady(client, 'demo');
  await untilNodes({ enabled: true, networks });
  const patch = (kind: typeof ControlPlane | typeof ControlPlaneClass, name: string, spec: object) =>
    client.patch(kind as typeof ControlPlane, { name }, { type: 'merge', body: { spec } });
  await patch(ControlPlane, 'demo', { virtual: { nodes: { networks: ['fd00::/8'] } } });
  await untilNodes({ enabled: true, networks: ['fd00::/8'] });
  await patch(ControlPlaneClass, 'nodes', { nodes: { enabled: false } });
  await untilNodes(undefined);
});
