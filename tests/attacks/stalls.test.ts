/**
 * Requests that take the event loop for themselves. How long each kind of input may take is bounded beside the code that works
 * on it; here a failpoint takes the loop instead, and the server must find out which tenant it was, and keep it from doing so.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Failpoints, systemClock } from '@hangar/core';
import { threadCpuMs } from '@hangar/server/watchdog';
import type { Client } from './testing/client.ts';
import { Victim } from './testing/victim.ts';

const tenants = '/apis/tenancy.hangar.dev/v1alpha1/tenants';
const plane = (tenant: string): string => `/clusters/${tenant}/control-plane`;
const namespaces = (tenant: string): string => `${plane(tenant)}/api/v1/namespaces`;
/** CPU time of a request, so that a busy machine does not make it shorter. */
const stallMs = 300;

const failpoints = new Failpoints();
let victim: Victim;
before(async () => {
  victim = await Victim.start({
    failpoints,
    flags: () => ['--tenant-stalls-max=3'],
    quarantine: { stalledMinMs: 300, graceMs: 0 },
  });
});
after(() => victim[Symbol.asyncDispose]());

function takeLoop(): void {
  const endMs = threadCpuMs() + stallMs;
  while (threadCpuMs() < endMs);
}

/** A tenant, and its own administrator. */
async function made(name: string): Promise<Client> {
  await victim.administrator.create(tenants, {
    apiVersion: 'tenancy.hangar.dev/v1alpha1',
    kind: 'Tenant',
    metadata: { name },
  });
  const { status } = await victim.administrator.create(`${tenants}/${name}/kubeconfig`, { spec: { user: 'ada' } });
  const text = (field: string): string => {
    const [, base64] = new RegExp(`${field}: (\\S+)`).exec(status.kubeconfig as string)!;
    return Buffer.from(base64!, 'base64').toString();
  };
  return victim.client({ certificate: { certificate: text('client-certificate-data'), key: text('client-key-data') } });
}

interface Line {
  readonly msg: string;
  readonly tenant?: string;
  readonly user?: string;
  readonly verb?: string;
  readonly resource?: string;
  readonly ms?: number;
}

const lines = (message: string, tenant: string): Line[] =>
  victim.log.map((line) => JSON.parse(line) as Line).filter((line) => line.msg === message && line.tenant === tenant);

const statusOf = async (client: Client, path: string): Promise<number> => (await client.request('GET', path)).status;

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise<void>((resolve) => systemClock.after(20, resolve));
}

describe('a tenant whose requests take the loop', () => {
  test('is named in the log and in a metric, and is quarantined; its neighbour is served', async () => {
    const [attacker, neighbour] = [await made('attacker'), await made('neighbour')];
    failpoints.arm('request attacker ada', { run: takeLoop });
    const seen = new Set<number>();
    await until(async () => {
      seen.add(await statusOf(attacker, namespaces('attacker')));
      assert.equal(await statusOf(neighbour, namespaces('neighbour')), 200);
      return seen.has(503);
    });
    failpoints.disarm('request attacker ada');
    assert.deepEqual([...seen].toSorted(), [200, 503]);
    const stalls = lines('event loop stalled', 'attacker');
    assert.ok(stalls.length >= 3);
    for (const { user, verb, resource, ms } of stalls) {
      assert.deepEqual([user, verb], ['ada', 'list']);
      assert.equal(resource, namespaces('attacker'));
      assert.ok(ms! >= 100, `${ms} ms`);
    }
    assert.deepEqual(lines('event loop stalled', 'neighbour'), []);
    assert.equal(lines('tenant quarantined', 'attacker').length, 1);
    const metrics = (await victim.administrator.request('GET', '/metrics')).text;
    assert.match(metrics, /hangar_tenant_stalls_total\{tenant="attacker"\} [3-9]/);
    assert.match(metrics, /hangar_event_loop_stall_seconds_count [3-9]/);
    const { status } = await victim.administrator.get(`${tenants}/attacker`);
    assert.equal(status.quarantine.reason, 'EventLoopStalls');
    assert.match(status.quarantine.message, /^3 requests blocked the server for more than 100 ms/);
  });

  test('is not blamed for what a platform administrator does in it', async () => {
    await made('visited');
    failpoints.arm('request visited kubernetes-admin', { run: takeLoop });
    await until(async () => {
      assert.equal(await statusOf(victim.administrator, namespaces('visited')), 200);
      return lines('event loop stalled', 'visited').length >= 4;
    });
    failpoints.disarm('request visited kubernetes-admin');
    assert.deepEqual(lines('tenant quarantined', 'visited'), []);
    assert.equal((await victim.administrator.get(`${tenants}/visited`)).status.quarantine, undefined);
  });
});
