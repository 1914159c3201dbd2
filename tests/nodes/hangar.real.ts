/** Two nodes on a control plane of Hangar, whose workload controllers are the real ones. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { HangarForNodes } from './control-planes/hangar.ts';
import { imageName } from './images/images.ts';
import { Nodes } from './machine/node.ts';
import { Kubectl } from './testing/kubectl.ts';
import { printLogsOfFailures, withLogs } from './testing/report.ts';

describe('two nodes on a control plane of Hangar', () => {
  const opened = new AsyncDisposableStack();
  let nodes: Nodes;
  let hangar: HangarForNodes;
  let kubectl: Kubectl;
  const logs = async (): Promise<string> => `${hangar?.logs}\n${await nodes?.logs()}`;

  before(() =>
    withLogs(logs, async () => {
      nodes = opened.use(await Nodes.create());
      hangar = opened.use(await HangarForNodes.start(nodes.network));
      const plane = await hangar.createPlane('red');
      kubectl = await Kubectl.of(plane.kubeconfig);
      for (const name of ['node-a', 'node-b']) await nodes.startMember(name, plane);
    }),
  );
  after(() => opened.disposeAsync());
  printLogsOfFailures(logs);

  test('both join with a bootstrap token and become ready', async () => {
    await kubectl.wait('create', 'node/node-a', 'node/node-b');
    await kubectl.wait('condition=Ready', 'node/node-a', 'node/node-b');
  });

  test('the scheduler places the pods of a Deployment, and they run', async () => {
    await kubectl.wait('create', 'serviceaccount/default');
    const command = ['--', '/agnhost', 'netexec', '--http-port=8080'];
    await kubectl.run('create', 'deployment', 'web', `--image=${imageName('agnhost')}`, '--replicas=4', ...command);
    await kubectl.run('rollout', 'status', 'deployment/web', '--timeout=110s');
    const names = await kubectl.value('{.items[*].spec.nodeName}', 'pods', '--selector=app=web');
    assert.deepEqual(new Set(names.split(' ')), new Set(['node-a', 'node-b']));
  });
});
