/** Two nodes on a control plane of Hangar, whose workload controllers are the real ones. */

import { after, before, describe } from 'node:test';
import { rotationCases, servingCertificateCases } from './cases/certificates.ts';
import { inClusterCases } from './cases/in-cluster.ts';
import { lifecycleCases } from './cases/lifecycle.ts';
import { otherTenantCases } from './cases/other-tenant.ts';
import type { OtherTenant } from './cases/other-tenant.ts';
import { streamCases } from './cases/streams.ts';
import { dnsCases, workloadCases } from './cases/workloads.ts';
import { HangarForNodes } from './control-planes/hangar.ts';
import { Nodes } from './machine/node.ts';
import type { Node } from '@hangar/cli/machine';
import type { NodeCluster } from './testing/cluster.ts';
import { Kubectl } from './testing/kubectl.ts';
import { printLogsOfFailures, withLogs } from './testing/report.ts';

describe('two nodes on a control plane of Hangar', () => {
  const opened = new AsyncDisposableStack();
  let nodes: Nodes;
  let hangar: HangarForNodes;
  let cluster: NodeCluster;
  let other: OtherTenant;
  const logs = async (): Promise<string> => `${hangar?.logs}\n${await nodes?.logs()}`;

  before(() =>
    withLogs(logs, async () => {
      nodes = opened.use(await Nodes.create());
      const starting = Promise.all(['node-a', 'node-b', 'node-c'].map((name) => nodes.start(name)));
      starting.catch(() => {});
      hangar = opened.use(await HangarForNodes.start(nodes.network));
      const [plane, otherPlane] = await Promise.all([hangar.createPlane('red'), hangar.createPlane('blue')]);
      const [a, b, c] = (await starting) as [Node, Node, Node];
      await Promise.all([a, b].map((node) => node.joinPlane(plane)));
      cluster = { plane, kubectl: await Kubectl.of(plane.kubeconfig), nodes: [a, b] };
      other = { plane: otherPlane, joinCommand: await hangar.joinCommand('blue'), node: c };
    }),
  );
  after(() => opened.disposeAsync());
  printLogsOfFailures(logs);

  workloadCases(() => cluster);
  dnsCases(() => cluster);
  servingCertificateCases(() => cluster);
  inClusterCases(() => cluster);
  streamCases(() => cluster);
  otherTenantCases(
    () => cluster,
    () => other,
  );
  rotationCases(() => cluster, ['client', 'serving']);
  lifecycleCases(() => cluster);
});
