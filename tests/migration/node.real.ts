/**
 * A control plane with a real node and real controllers moves from virtual to dedicated and back: the node stays ready, pods reach the API
 * server, and the controllers of the side that serves act.
 */

import { after, before, describe, test } from 'node:test';
import { Nodes } from '../nodes/machine/node.ts';
import { printLogsOfFailures, withLogs } from '../nodes/testing/report.ts';
import { NodeWorkload } from './testing/node-workload.ts';
import { HostedPlatform } from './testing/platform.ts';

describe('migration of a control plane with a node', () => {
  const opened = new AsyncDisposableStack();
  let nodes: Nodes;
  let platform: HostedPlatform;
  let workload: NodeWorkload;
  const logs = async (): Promise<string> => [workload?.log, await platform?.describe(), await nodes?.logs()].join('\n');

  before(() =>
    withLogs(logs, async () => {
      nodes = opened.use(await Nodes.create());
      platform = opened.use(await HostedPlatform.start([`--listen=${nodes.network.hostAddress}:0`]));
      workload = opened.use(await NodeWorkload.start({ platform, nodes, name: 'app' }));
      await workload.deploy(2);
    }),
  );
  after(() => opened.disposeAsync());
  printLogsOfFailures(logs);

  for (const side of ['dedicated', 'virtual'] as const) {
    test(`node and controllers work after the switch to ${side}`, async () => {
      const migrating = platform.migrate('app', side);
      migrating.catch(() => {});
      await workload.scale(4);
      await workload.scale(2);
      await migrating;
      await workload.check(side);
    });
  }
});
