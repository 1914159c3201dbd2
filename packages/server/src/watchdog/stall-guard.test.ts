import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Logger } from '@hangar/core';
import type { SampledActivity, Stall } from './contract.ts';
import { StallGuard } from './stall-guard.ts';
import type { TenantIncident } from './stall-guard.ts';
import { StallPolicy } from './stall-policy.ts';

const activity = (tenant: string, isAccountable = true): SampledActivity => ({
  id: 1,
  tenant,
  user: 'ada',
  verb: 'patch',
  resource: '/apis/x',
  isAccountable,
});

function world() {
  const lines: string[] = [];
  const charged: [string, number][] = [];
  const quarantined: string[] = [];
  const clock = { now: () => 0, monotonicMs: () => 0 };
  const guard = new StallGuard({
    policy: new StallPolicy({ clock, limits: { longStallsMax: 2, longStalledMinMs: 0, graceMs: 0 } }),
    charge: (tenant, ms) => charged.push([tenant, ms]),
    quarantine: (tenant) => Promise.resolve(quarantined.push(tenant) > 0),
    isQuarantined: (tenant) => quarantined.includes(tenant),
    log: new Logger({ level: 'info', format: 'json', clock, write: (line) => lines.push(line) }),
  });
  const incidents: TenantIncident[] = [];
  guard.onIncident((incident) => incidents.push(incident));
  return { guard, lines, charged, quarantined, incidents };
}

const stall = (...parts: [SampledActivity | undefined, number][]): Stall => ({
  fromMs: 0,
  untilMs: 4_000,
  parts: parts.map(([of, ms]) => ({ activity: of, ms })),
});

test('a stall is logged with its cause, counted, charged and told; the second above a second quarantines', async () => {
  const { guard, lines, charged, quarantined, incidents } = world();
  guard.stalled(stall([activity('x'), 3_000], [activity('y'), 20]));
  assert.equal(lines.length, 1);
  const { tenant, user, verb, resource, ms } = JSON.parse(lines[0]!) as Record<string, unknown>;
  assert.deepEqual(
    { tenant, user, verb, resource, ms },
    { tenant: 'x', user: 'ada', verb: 'patch', resource: '/apis/x', ms: 3_000 },
  );
  assert.deepEqual(charged, [['x', 3_000]]);
  assert.match(guard.text(), /hangar_tenant_stalls_total\{tenant="x"\} 1/);
  assert.match(guard.text(), /hangar_event_loop_stall_seconds_count 1/);
  assert.deepEqual(incidents, [
    { tenant: 'x', reason: 'EventLoopStall', message: 'patch /apis/x by "ada" blocked the server for 3000 ms' },
  ]);
  guard.stalled(stall([activity('x'), 1_000]));
  await Promise.resolve();
  await Promise.resolve();
  assert.deepEqual(quarantined, ['x']);
  assert.equal(incidents.at(-1)?.reason, 'Quarantined');
  for (let at = 0; at < 4; at++) guard.stalled(stall([activity('x'), 5_000]));
  await Promise.resolve();
  assert.deepEqual(quarantined, ['x'], 'stalls during a quarantine do not prolong it');
  assert.equal(charged.length, 6);
});

test('neither the management plane nor a platform administrator in a tenant is charged or quarantined', async () => {
  const { guard, lines, charged, quarantined } = world();
  for (let at = 0; at < 20; at++) guard.stalled(stall([activity('root'), 3_000], [activity('x', false), 3_000]));
  const record = { at: 0, isCertain: true, reason: 'why' };
  await guard.crashed({ ...record, activity: activity('root') });
  await guard.crashed({ ...record, activity: activity('x', false) });
  assert.deepEqual([charged, quarantined], [[], []]);
  assert.equal(lines.length, 42);
});

test('a stall of no request is counted, and nothing else', () => {
  const { guard, lines, charged } = world();
  guard.stalled(stall([undefined, 4_000]));
  assert.deepEqual([lines, charged], [[], []]);
  assert.match(guard.text(), /hangar_event_loop_stall_seconds_count 1/);
});

test('the series of tenants are bounded', () => {
  const { guard } = world();
  for (let at = 0; at < 300; at++) guard.stalled(stall([activity(`tenant-${at}`), 200]));
  assert.equal(guard.text().match(/hangar_tenant_stalls_total\{/g)?.length, 101);
  assert.match(guard.text(), /hangar_tenant_stalls_total\{tenant="other"\} 200/);
});

test('a crash of the previous process never prevents the start', async () => {
  const { guard, lines } = world();
  guard.onIncident(() => {
    throw new Error('planted');
  });
  await guard.crashed({ at: 0, isCertain: true, reason: 'why', activity: activity('x') });
  assert.match(lines.at(-1)!, /planted/);
});
