/** The real kube-apiserver accepts the events of the recorder, in both APIs. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startRealServer } from '@hangar/api/testing';
import { connect } from '@hangar/client';
import { ConfigMap, Event as CoreEvent, Namespace } from '@hangar/client/kinds/core-v1';
import { Event } from '@hangar/client/kinds/events-v1';
import { MetricsRegistry } from '../metrics/registry.ts';
import { EventRecorder } from './event-recorder.ts';

const token = 'of-the-test';

for (const api of ['events.k8s.io/v1', 'v1'] as const) {
  test(`${api}: events, series, long notes, strange names`, { timeout: 120_000 }, async (context) => {
    await using real = await startRealServer([], [{ token, user: 'test', groups: ['system:masters'] }]);
    const credentials = { headers: () => ({ authorization: `Bearer ${token}` }) };
    const client = connect({ server: real.url, isInsecure: true, credentials });
    context.after(() => client.close());
    const metrics = new MetricsRegistry();
    const recorder = new EventRecorder({ component: 'example.org/tester', api, metrics });
    const events = recorder.for({ client });
    const map = await client.create(ConfigMap, { metadata: { namespace: 'default', name: 'one' } });
    for (let i = 0; i < 5; i++) events.normal(map, 'Repeated', `number ${i}`);
    events.warning(map, 'Long'.repeat(100), 'ä€😀'.repeat(10_000));
    events.event(map, { reason: 'Related', note: 'x', action: 'Looking', related: map });
    events.normal(await client.get(Namespace, { name: 'default' }), 'Seen', 'x');
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'system:Node' } };
    events.normal(role, 'Seen', 'x');
    await recorder.close();
    assert.doesNotMatch(metrics.text(), /event_recorder_dropped_total\{/);
    const core = (await client.list(CoreEvent, { namespace: 'default' })).items;
    const found = (await client.list(Event, { namespace: 'default' })).items;
    const reported = found.filter(({ reportingController }) => reportingController === 'example.org/tester');
    assert.equal(reported.length, 5);
    const repeated = reported.find(({ reason }) => reason === 'Repeated')!;
    if (api === 'v1') assert.equal(core.find(({ metadata }) => metadata.name === repeated.metadata.name)!.count, 5);
    else assert.equal(repeated.series!.count, 5);
  });
}
