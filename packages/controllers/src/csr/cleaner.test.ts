import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemRandom } from '@hangar/core';
import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { CertificateSigningRequest } from '@hangar/client/kinds/certificates-v1';
import { createAuthority, readCertificateRequest, signRequest } from '@hangar/pki';
import { newRequest } from '@hangar/pki/testing';
import { startTestFleet, virtualClock } from '@hangar/testkit';
import type { VirtualClock } from '@hangar/testkit';
import type { ControllerWorld } from '../contract.ts';
import { countedClients } from '../testing/counted-clients.ts';
import { runControllers } from '../testing/run-controllers.ts';
import { CsrCleanerController } from './cleaner.ts';

const controllers = (world: ControllerWorld) => [new CsrCleanerController(world)];
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const { pem } = newRequest('jane');

const csr = (name: string) => ({
  metadata: { name },
  spec: {
    signerName: 'example.com/mine',
    request: Buffer.from(pem).toString('base64'),
    usages: ['client auth'] as never,
  },
});

async function decide(client: Client, clock: VirtualClock, name: string, type: string): Promise<void> {
  const live = await client.get(CertificateSigningRequest, { name });
  // Otherwise the server writes the time of the system clock, which differs.
  const lastUpdateTime = `${new Date(clock.now()).toISOString().slice(0, 19)}Z`;
  const condition = { type, status: 'True' as const, reason: 'Test', lastUpdateTime };
  const conditions = [...(live.status?.conditions ?? []), condition];
  const changed = { ...live, status: { ...live.status, conditions } };
  const subresource = type === 'Failed' ? 'status' : 'approval';
  await client.subresource(subresource).update(CertificateSigningRequest, changed);
}

async function issue(client: Client, clock: VirtualClock, name: string, lifeMs: number): Promise<void> {
  const live = await client.get(CertificateSigningRequest, { name });
  const now = clock.now();
  const world = { clock, random: systemRandom };
  const certificate = signRequest(
    createAuthority('mine', 100, world),
    {
      request: readCertificateRequest(pem),
      keyUsage: 1,
      extendedKeyUsage: [],
      validity: { notBeforeMs: now - 1_000, notAfterMs: now + lifeMs },
    },
    world,
  );
  const status = { ...live.status, certificate: Buffer.from(certificate).toString('base64') };
  await client.status.update(CertificateSigningRequest, { ...live, status });
}

describe('requests that nobody needs any more', () => {
  test('go each at its time, and nothing is asked before', async () => {
    const clock = virtualClock();
    await using fleet = await startTestFleet({ clusters: ['red'], clock });
    const { clientOf, requests } = countedClients(fleet);
    const running = runControllers(fleet, { clock, controllers, clientOf });
    await clock.run(running.synced);
    const red = fleet.clientOf('red');
    const names = ['pending', 'denied', 'failed', 'issued', 'expired', 'unissued'];
    for (const name of names) await clock.run(red.create(CertificateSigningRequest, csr(name)));
    await clock.run(decide(red, clock, 'denied', 'Denied'));
    for (const name of ['failed', 'issued', 'expired', 'unissued'])
      await clock.run(decide(red, clock, name, 'Approved'));
    await clock.run(decide(red, clock, 'failed', 'Failed'));
    await clock.run(issue(red, clock, 'issued', 100 * hourMs));
    await clock.run(issue(red, clock, 'expired', 20 * minuteMs));
    const left = async (): Promise<string[]> => {
      const { items } = await clock.run(red.list(CertificateSigningRequest));
      return items.map(({ metadata }) => metadata.name!).sort();
    };
    await clock.advance(15 * minuteMs);
    assert.deepEqual(requests, []);
    assert.deepEqual(await left(), [...names].sort());
    await clock.advance(10 * minuteMs);
    assert.deepEqual(await left(), ['denied', 'failed', 'issued', 'pending', 'unissued']);
    await clock.advance(40 * minuteMs);
    assert.deepEqual(await left(), ['pending', 'unissued']);
    await clock.advance(22 * hourMs);
    assert.deepEqual(await left(), ['pending', 'unissued']);
    await clock.advance(2 * hourMs);
    assert.deepEqual(await left(), []);
    await clock.run(running.stop());
  });

  test('that are decided on at the last moment stay, and after a restart the time goes on', async () => {
    const clock = virtualClock();
    await using fleet = await startTestFleet({ clusters: ['red'], clock });
    const red = fleet.clientOf('red');
    const first = runControllers(fleet, { clock, controllers });
    await clock.run(first.synced);
    await clock.run(red.create(CertificateSigningRequest, csr('late')));
    await clock.advance(23 * hourMs);
    await clock.run(decide(red, clock, 'late', 'Approved'));
    await clock.run(first.stop());
    const second = runControllers(fleet, { clock, controllers });
    await clock.run(second.synced);
    const isThere = async (): Promise<boolean> =>
      (await clock.run(find(red, CertificateSigningRequest, { name: 'late' }))) !== undefined;
    await clock.advance(23 * hourMs);
    assert.ok(await isThere());
    await clock.advance(2 * hourMs);
    assert.ok(!(await isThere()));
    await clock.run(second.stop());
  });
});
