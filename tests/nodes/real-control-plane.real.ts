/**
 * Two nodes on the real control plane, the reference for control planes of Hangar.
 *
 * HANGAR_NODES_REFERENCE=1  runs the long cases, too, to check the cases themselves
 */

import { after, before, describe } from 'node:test';
import { rotationCases } from './cases/certificates.ts';
import { inClusterCases } from './cases/in-cluster.ts';
import { lifecycleCases } from './cases/lifecycle.ts';
import { streamCases } from './cases/streams.ts';
import { dnsCases, workloadCases } from './cases/workloads.ts';
import { startRealNodePlane } from './control-planes/real.ts';
import { Nodes } from './machine/node.ts';
import type { Node } from '@hangar/cli/machine';
import type { NodeCluster } from './testing/cluster.ts';
import { Kubectl } from './testing/kubectl.ts';
import { printLogsOfFailures, withLogs } from './testing/report.ts';

describe('two nodes on the real control plane', () => {
  const opened = new AsyncDisposableStack();
  let nodes: Nodes;
  let cluster: NodeCluster;
  const logs = async (): Promise<string> => (await nodes?.logs()) ?? '';

  before(() =>
    withLogs(logs, async () => {
      nodes = opened.use(await Nodes.create());
      const starting = Promise.all(['node-a', 'node-b'].map((name) => nodes.start(name)));
      starting.catch(() => {});
      const plane = opened.use(await startRealNodePlane(nodes.network.hostAddress));
      const [a, b] = (await starting) as [Node, Node];
      await Promise.all([a, b].map((node) => node.joinPlane(plane)));
      cluster = { plane, kubectl: await Kubectl.of(plane.kubeconfig), nodes: [a, b] };
    }),
  );
  after(() => opened.disposeAsync());
  printLogsOfFailures(logs);

  workloadCases(() => cluster);
  dnsCases(() => cluster);
  inClusterCases(() => cluster);
  streamCases(() => cluster);
  if (process.env['HANGAR_NODES_REFERENCE'] === '1') {
    rotationCases(() => cluster, ['client']);
    lifecycleCases(() => cluster);
  }
});
