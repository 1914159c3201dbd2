/**
 * Two nodes on the real control plane, the reference for control planes of Hangar.
 *
 * HANGAR_NODES_REFERENCE=1  runs the long cases, too, to check the cases themselves
 */

import { after, before, describe } from 'node:test';
import { rotationCases } from './cases/certificates.ts';
import { lifecycleCases } from './cases/lifecycle.ts';
import { streamCases } from './cases/streams.ts';
import { dnsCases, workloadCases } from './cases/workloads.ts';
import { startRealNodePlane } from './control-planes/real.ts';
import { Nodes } from './machine/node.ts';
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
      const plane = opened.use(await startRealNodePlane(nodes.network.hostAddress));
      const kubectl = await Kubectl.of(plane.kubeconfig);
      cluster = {
        plane,
        kubectl,
        nodes: [await nodes.startMember('node-a', plane), await nodes.startMember('node-b', plane)],
      };
    }),
  );
  after(() => opened.disposeAsync());
  printLogsOfFailures(logs);

  workloadCases(() => cluster);
  dnsCases(() => cluster);
  streamCases(() => cluster);
  if (process.env['HANGAR_NODES_REFERENCE'] === '1') {
    rotationCases(() => cluster);
    lifecycleCases(() => cluster);
  }
});
