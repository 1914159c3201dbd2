import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock, systemRandom } from '@hangar/core';
import { TenancyServer } from '../../testing/tenancy-server.ts';
import { planeCertificate } from './plane-certificate.ts';

test('connections at the same time get the same certificate', async () => {
  await using server = await TenancyServer.open();
  await server.make('red', { nodes: { enabled: true } });
  const tenant = server.tenancy.tenants.find('red')!;
  let hosts = ['10.7.0.1'];
  const certificate = planeCertificate(
    { store: server.store, storePrefix: '/registry', clock: systemClock, random: systemRandom, hosts: () => hosts },
    () => tenant,
  );
  const [first, ...others] = await Promise.all(Array.from({ length: 8 }, () => certificate()));
  for (const one of [...others, await certificate()]) assert.equal(one, first);
  const before = certificate();
  hosts = ['10.7.0.2'];
  const [changed, again] = await Promise.all([certificate(), certificate()]);
  assert.equal(await before, first);
  assert.notEqual(changed, first);
  assert.equal(again, changed);
});
