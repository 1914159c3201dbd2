import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Client } from '@hangar/client';
import { Event } from '@hangar/client/kinds/events-v1';
import { ControlPlane } from '../api/index.ts';
import type { ControlPlanePhase, ControlPlaneStatus } from '../api/index.ts';
import { Tenant } from '../host/index.ts';
import { startTestPlatform } from '../testing/platform.ts';
import { until, untilGone, untilReady } from '../testing/until.ts';
import { eventsBetween } from './events.ts';

const statusOf = (phase: ControlPlanePhase, reason = ''): ControlPlaneStatus => ({
  phase,
  conditions: [
    {
      type: 'Ready',
      status: reason === '' ? 'True' : 'False',
      reason: reason || 'Reconciled',
      message: 'why',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ],
});
const reasons = (before: ControlPlaneStatus | undefined, after: ControlPlaneStatus): string[] =>
  eventsBetween(before, after).map(({ type = 'Normal', reason }) => `${type} ${reason}`);

describe('events between two statuses', () => {
  test('are about transitions', () => {
    const [ready, waiting] = [statusOf('Ready'), statusOf('Provisioning', 'EndpointPending')];
    const [suspended, failed] = [statusOf('Suspended', 'Suspended'), statusOf('Failed', 'ClassNotFound')];
    assert.deepEqual(reasons(undefined, waiting), ['Normal Created']);
    assert.deepEqual(reasons(waiting, ready), ['Normal Ready']);
    assert.deepEqual(reasons(ready, suspended), ['Normal Suspended']);
    assert.deepEqual(reasons(suspended, ready), ['Normal Resumed']);
    assert.deepEqual(reasons(ready, waiting), ['Warning NotReady']);
    assert.deepEqual(reasons(waiting, failed), ['Warning Failed']);
    assert.deepEqual(reasons(waiting, statusOf('Provisioning', 'HostUnavailable')), ['Warning ReconcileFailed']);
    assert.deepEqual(reasons(ready, statusOf('Deleting', 'Deleting')), ['Normal Deleting']);
    assert.deepEqual(reasons(ready, statusOf('Deleting', 'DeletionDelayed')), ['Warning DeletionDelayed']);
  });

  test('are none while the phase and the reason stay, whatever the message says', () => {
    for (const phase of ['Ready', 'Provisioning', 'Failed', 'Suspended', 'Deleting'] as const) {
      for (const reason of ['', 'HostUnavailable']) {
        assert.deepEqual(reasons(statusOf(phase, reason), statusOf(phase, reason)), []);
      }
    }
  });
});

/** Reason and count of the events about a control plane, in the order in which they were first recorded. */
async function untilEvents(client: Client, name: string, last: string): Promise<string[]> {
  const text = ({ reason, series }: Event): string => `${reason} ${series?.count ?? 1}`;
  const about = { namespace: 'default', fieldSelector: `regarding.name=${name}` };
  const { items, resourceVersion } = await client.list(Event, about);
  const all = new Map(items.map((one) => [one.metadata.name!, text(one)]));
  const isSo = (): boolean => [...all.values()].includes(last);
  if (isSo()) return [...all.values()];
  const signal = AbortSignal.timeout(20_000);
  for await (const event of client.watch(Event, { ...about, resourceVersion, signal })) {
    if (event.type === 'BOOKMARK') continue;
    all.set(event.object.metadata.name!, text(event.object));
    if (isSo()) break;
  }
  return [...all.values()];
}

test('a control plane has an event for each step of its life, and one for what happens again', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  const spec = { deletionPolicy: 'Destroy' } as const;
  await client.create(ControlPlane, { metadata: { name: 'demo' }, spec });
  await untilReady(client, 'demo');
  for (let times = 0; times < 2; times++) {
    for (const [suspension, phase] of [
      ['Offline', 'Suspended'],
      [null, 'Ready'],
    ] as const) {
      await client.patch(Tenant, { name: 'demo' }, { type: 'merge', body: { spec: { suspension } } });
      await until(client, ControlPlane, 'demo', (one) => one?.status?.phase === phase);
    }
  }
  await client.delete(ControlPlane, { name: 'demo' });
  await untilGone(client, ControlPlane, 'demo');
  const events = await untilEvents(client, 'demo', 'Deleted 1');
  assert.deepEqual(events.toSorted(), [
    'Created 1',
    'Deleted 1',
    'Deleting 1',
    'Provisioned 1',
    'Ready 1',
    'Resumed 2',
    'Suspended 2',
  ]);
});
