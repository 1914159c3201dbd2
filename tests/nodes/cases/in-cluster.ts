/** Cases: clients in pods that use the service kubernetes. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterOf } from '../testing/cluster.ts';
import { pod } from '../testing/objects.ts';
import { Session } from '../testing/session.ts';

export function inClusterCases(cluster: ClusterOf): void {
  test('the service kubernetes leads to the port that nodes join', async () => {
    const { kubectl, plane } = cluster();
    const field = '{.endpoints[0].addresses[0]}:{.ports[0].port}';
    assert.equal(`https://${await kubectl.value(field, 'endpointslice/kubernetes')}`, plane.server);
  });

  test('client-go in a pod reads the API with the token and CA of its service account', async () => {
    const { kubectl } = cluster();
    const command = ['/agnhost', 'inclusterclient', '--poll-interval=1'];
    await kubectl.apply(pod('client', { image: 'agnhost', command }));
    await kubectl.wait('condition=Ready', 'pod/client');
    await using session = new Session(kubectl.start('logs', '--follow', 'client'));
    // The second call follows the result of the first one.
    const [output] = await session.until(/calling \/healthz[^]*calling \/healthz/);
    assert.match(output, /authz_header=[-_\w]+/);
    assert.doesNotMatch(output, /status=failed/);
  });
}
