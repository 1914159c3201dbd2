import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Client } from '@hangar/client';
import { ControlPlane } from '../kinds.ts';
import type { Migration } from '../kinds.ts';
import { condition, makePlane, setStatus } from '../testing/plain-operator.ts';
import { openTestWorld } from '../testing/test-session.ts';

const name = 'shop';
const migration: Migration = { id: 'm1', from: 'Virtual', to: 'Dedicated', step: 'Provision', message: 'starting' };
const states: readonly Partial<Migration>[] = [
  {},
  { step: 'CopyAndFollow', message: 'copying', lag: 12 },
  { step: 'Verify' },
  { step: 'Switch' },
  { step: 'Switch', outcome: 'Switched' },
  { step: 'Registrations', outcome: 'Switched', pauseMs: 240, objects: 7 },
];

/** Resolves when the spec has the mode. */
async function modeSet(client: Client, mode: string): Promise<void> {
  for await (const event of client.watch(ControlPlane, { resourceVersion: '0' })) {
    if (event.type !== 'BOOKMARK' && event.object.spec?.mode === mode) return;
  }
}

const migrated = (client: Client, changes: Partial<Migration>) =>
  setStatus(client, name, {
    phase: changes.pauseMs === undefined ? 'Migrating' : 'Ready',
    migration: { ...migration, ...changes },
  });

describe('migrate', () => {
  test('sets the mode and prints each step with its time until the new side serves', async () => {
    await using world = await openTestWorld();
    await makePlane(world.client, name);
    const operating = modeSet(world.client, 'Dedicated').then(async () => {
      for (const state of states) await migrated(world.client, state);
    });
    const { code, out, err } = await world.run('migrate', name, '--to', 'dedicated', '--wait');
    await operating;
    assert.equal(code, 0, err);
    assert.equal(out, 'control plane shop has mode Dedicated; requests waited for 240 ms\n');
    const lines = err.split('\n').filter((line) => /^\w+ +\d+\.\d s$/.test(line));
    assert.deepEqual(
      lines.map((line) => line.split(' ')[0]),
      ['Provision', 'CopyAndFollow', 'Verify', 'Switch', 'Registrations'],
    );
    const described = await world.run('describe', name);
    assert.match(described.out, /^Migration:\n {2}Modes: +Virtual to Dedicated\n {2}State: +Switched, Registrations$/m);
    assert.match(described.out, /^ {2}Pause: +240 ms$/m);
    assert.match((await world.run('get', name)).out, /shop +Dedicated +True +Ready/);
    assert.match((await world.run('migrate', name, '--abort')).err, /no migration that can be aborted\n.*--rollback/);
  });

  test('--plan prints the steps and the address, and changes nothing', async () => {
    await using world = await openTestWorld();
    await makePlane(world.client, name);
    const { out } = await world.run('migrate', name, '--to', 'dedicated', '--plan');
    assert.match(out, /shop: Virtual to Dedicated\n\n {2}1\. Provision/);
    assert.match(out, /address +https:\/\/127\.0\.0\.1:6443\/clusters\/shop\/control-plane \(unchanged/);
    assert.equal((await world.client.get(ControlPlane, { name })).spec?.mode, undefined);
  });

  test('reports why a migration cannot start', async () => {
    await using world = await openTestWorld();
    await makePlane(world.client, name);
    const operating = modeSet(world.client, 'Dedicated').then(() =>
      setStatus(world.client, name, {
        conditions: [
          {
            ...condition('ModeReached', 'False', 'MigrationNotAvailable', 'no operator of hosted control planes'),
            observedGeneration: 9,
          },
        ],
      }),
    );
    const { code, err } = await world.run('migrate', name, '--to', 'dedicated');
    await operating;
    assert.equal(code, 1);
    assert.match(err, /is not migrated: MigrationNotAvailable: no operator of hosted/);
    assert.match(err, /to undo the request: hangar migrate shop --to virtual\n/);
  });

  test('--abort sets the mode back before the switch', async () => {
    await using world = await openTestWorld();
    await makePlane(world.client, name, { mode: 'Dedicated', dedicated: { version: 'v1.36.4' } });
    await migrated(world.client, {});
    const operating = modeSet(world.client, 'Virtual').then(() => migrated(world.client, { outcome: 'Aborted' }));
    const { out } = await world.run('migrate', name, '--abort');
    await operating;
    assert.equal(out, 'the migration of control plane shop was aborted: it has mode Virtual\n');
    assert.deepEqual((await world.client.get(ControlPlane, { name })).spec, { mode: 'Virtual' });
    assert.match((await world.run('migrate', name, '--rollback')).err, /no migration that can be rolled back/);
  });

  test('--rollback migrates back after the switch', async () => {
    await using world = await openTestWorld();
    await makePlane(world.client, name, { mode: 'Dedicated' });
    await migrated(world.client, { outcome: 'Switched', step: 'Decommission', completedAt: '2026-01-01T00:00:00Z' });
    const { code, out } = await world.run('migrate', name, '--rollback', '--no-wait');
    assert.deepEqual([code, out.split(';')[0]], [0, 'control plane shop is migrated to mode Virtual']);
    assert.equal((await world.client.get(ControlPlane, { name })).spec?.mode, 'Virtual');
  });

  for (const args of [[], ['--to', 'hosted'], ['--to', 'virtual', '--abort'], ['--abort', '--plan']]) {
    test(`refuses ${args.join(' ') || 'no option'}`, async () => {
      await using world = await openTestWorld();
      assert.equal((await world.run('migrate', name, ...args)).code, 2);
    });
  }

  test('refuses the mode that the control plane has', async () => {
    await using world = await openTestWorld();
    await makePlane(world.client, name);
    assert.match((await world.run('migrate', name, '--to', 'virtual')).err, /has mode Virtual already/);
  });
});
