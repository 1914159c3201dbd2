import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Client } from '@hangar/client';
import { ConfigMap, Namespace } from '@hangar/client/kinds/core-v1';
import { systemClock } from '@hangar/core';
import { findCondition } from '@hangar/runtime';
import { ControlPlaneClass, labels } from '../api/index.ts';
import type { ControlPlaneClassSpec } from '../api/index.ts';
import { startLoneOperator } from '../testing/lone-operator.ts';
import { until } from '../testing/until.ts';
import { accepted } from './check.ts';
import { classController } from './controller.ts';

describe('a class', () => {
  const addons = new Set(['starter', 'mesh']);
  const table: [ControlPlaneClassSpec, string][] = [
    [{}, 'Accepted'],
    [{ addons: ['starter', 'mesh'], auth: { model: 'v0' } }, 'Accepted'],
    ...['certificate', 'token', 'v0', 'basic'].map((model): [ControlPlaneClassSpec, string] => [
      { auth: { model } },
      'Accepted',
    ]),
    [{ auth: { model: 'oidc' } }, 'UnsupportedAuthModel'],
    [{ auth: { model: 'constructor' } }, 'UnsupportedAuthModel'],
    [{ addons: ['starter', 'nope'] }, 'AddonNotFound'],
    [{ gateway: { hostnameTemplate: '{name}.example' } }, 'Accepted'],
    [{ gateway: { hostnameTemplate: '{path}.example' } }, 'Accepted'],
    [{ gateway: { hostnameTemplate: 'hangar.example' } }, 'InvalidHostnameTemplate'],
  ];
  for (const [spec, reason] of table) {
    test(`${JSON.stringify(spec)}: ${reason}`, () => {
      const condition = accepted({ apiVersion: '', kind: '', metadata: { name: 'c' }, spec }, addons);
      assert.equal(condition.reason, reason);
      assert.equal(condition.status, reason === 'Accepted');
      assert.equal(Boolean(condition.message), reason !== 'Accepted', 'a refusal says why');
    });
  }
});

const because = (client: Client, reason: string, name = 'c') =>
  until(
    client,
    ControlPlaneClass,
    name,
    (one) => findCondition(one?.status?.conditions, 'Accepted')?.reason === reason,
  );

test('a class is looked at again when an addon comes and goes, and written only when that changes it', async () => {
  await using operator = await startLoneOperator(({ manager }) => {
    const world = { clock: systemClock, builtinAddons: ['starter'], addonNamespace: 'kplane-system' };
    manager.controller(classController(world));
  });
  const { client } = operator;
  await client.create(ControlPlaneClass, { metadata: { name: 'c' }, spec: { addons: ['starter', 'mesh'] } });
  const { status } = (await because(client, 'AddonNotFound'))!;
  assert.match(status!.conditions![0]!.message, /mesh/);
  assert.doesNotMatch(status!.conditions![0]!.message, /addon starter/);
  for (const name of ['kplane-system', 'elsewhere'])
    await client.create(Namespace, { metadata: { name } }).catch(() => {});
  const addon = (namespace: string) => ({
    metadata: { namespace, name: 'm', labels: { [labels.addon]: 'mesh' } },
    data: {},
  });
  await client.create(ConfigMap, addon('elsewhere'));
  await client.create(ConfigMap, addon('kplane-system'));
  const known = (await because(client, 'Accepted'))!;
  assert.equal(known.status!.observedGeneration, known.metadata.generation);
  await client.delete(ConfigMap, { namespace: 'kplane-system', name: 'm' });
  await because(client, 'AddonNotFound');
  await operator.restart(() => Promise.resolve(operator.forget()));
  await client.create(ControlPlaneClass, { metadata: { name: 'd' }, spec: {} });
  await because(client, 'Accepted', 'd');
  assert.equal(operator.writes.length, 1, operator.writes.join('\n'));
});
