/**
 * The management cluster of the benchmark: a Hangar with the process runtime as its node, and `hangar hosted-operator` as a separate
 * process. The audit log of the Hangar has all writes of the operator.
 */

import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyOf } from '@hangar/client';
import type { Client } from '@hangar/client';
import { StatefulSet } from '@hangar/client/kinds/apps-v1';
import { Pod } from '@hangar/client/kinds/core-v1';
import { HostedControlPlane } from '../../operators/hosted/src/api/index.ts';
import { startOperatorProcess } from '../../tests/hosted/testing/operator-process.ts';
import type { OperatorProcess } from '../../tests/hosted/testing/operator-process.ts';
import { namespace, ProcessCluster } from '../../tests/hosted/testing/process-cluster.ts';
import { until } from '../../tests/process-runtime/testing/until.ts';
import { proportionalMiB } from '../tenants/footprint.ts';
import { createPlanes } from './create-planes.ts';
import type { PlaneOptions } from './create-planes.ts';

const userAgent = 'hangar-hosted-operator';
const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata', verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'] }, { level: 'None' }],
};

export class Platform implements AsyncDisposable {
  readonly operator: OperatorProcess;
  readonly #cluster: ProcessCluster;
  readonly #auditLog: string;
  readonly #opened: AsyncDisposableStack;

  private constructor(
    { operator, cluster, auditLog }: { operator: OperatorProcess; cluster: ProcessCluster; auditLog: string },
    opened: AsyncDisposableStack,
  ) {
    this.operator = operator;
    this.#cluster = cluster;
    this.#auditLog = auditLog;
    this.#opened = opened;
  }

  static async start(): Promise<Platform> {
    await using opened = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), 'hangar-bench-hosted-'));
    opened.defer(() => rm(folder, { recursive: true, force: true }));
    const [policy, auditLog] = [join(folder, 'policy.json'), join(folder, 'audit.log')];
    await writeFile(policy, JSON.stringify(auditPolicy));
    const serverArguments = [`--audit-policy-file=${policy}`, `--audit-log-path=${auditLog}`];
    const cluster = opened.use(await ProcessCluster.start({ runsOperator: false, serverArguments }));
    const options = {
      kubeconfig: cluster.kubeconfig,
      args: ['--service-type=NodePort', '--reach=endpoint', '--leader-elect=false', '--konnectivity=requested'],
    };
    // In a checkout, the first start strips the types of all sources, and keeps 20 MB of memory that a release does not need.
    const compiling = await startOperatorProcess(options);
    await operatorReady(compiling).finally(() => compiling.stop());
    const operator = await startOperatorProcess(options);
    opened.defer(() => operator.stop().then(() => undefined));
    await Promise.all([operatorReady(operator), controllersRun(cluster.client)]);
    return new Platform({ operator, cluster, auditLog }, opened.move());
  }

  /** Creates control planes concurrently. Resolves with the time in milliseconds when all have the condition. */
  create(options: PlaneOptions): Promise<number> {
    return createPlanes(this.#cluster.client, namespace, options);
  }

  /** Deletes a control plane. Resolves when its pods are deleted. */
  async remove(name: string): Promise<void> {
    const { client } = this.#cluster;
    await client.delete(HostedControlPlane, { namespace, name });
    await until(`the pods of "${name}" are deleted`, async () => (await this.#podsOf(name)).length === 0);
  }

  /** Returns the proportional set size of the components of a control plane, in MiB. */
  async memoryOf(name: string): Promise<number> {
    const pids = await Promise.all((await this.#podsOf(name)).map((pod) => this.#cluster.pids(pod)));
    return pids.flat().reduce((sum, pid) => sum + proportionalMiB(pid), 0);
  }

  /** Returns the number of write requests of the operator to the management cluster so far, including writes that changed nothing. */
  writes(): number {
    const lines = readFileSync(this.#auditLog, 'utf8').split('\n').filter(Boolean);
    return lines.filter((line) => (JSON.parse(line) as { userAgent?: string }).userAgent?.startsWith(userAgent)).length;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#opened.disposeAsync();
  }

  async #podsOf(name: string): Promise<readonly Pod[]> {
    const pods = await this.#cluster.pods();
    return pods.filter(({ metadata }) => metadata.name!.startsWith(`${name}-`));
  }
}

const operatorReady = ({ ports }: OperatorProcess): Promise<boolean> =>
  until('the operator is ready', () =>
    fetch(`http://127.0.0.1:${ports.health}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );

/**
 * Resolves when kube-controller-manager and kube-scheduler of the management cluster work, which takes seconds after their start: the pod of
 * a StatefulSet exists, and the scheduler has tried it.
 */
async function controllersRun(client: Client): Promise<void> {
  const matchLabels = { app: 'controllers-run' };
  const resources = { requests: { cpu: '1000' } };
  const set = await client.create(StatefulSet, {
    metadata: { namespace, name: 'controllers-run' },
    spec: {
      serviceName: 'controllers-run',
      selector: { matchLabels },
      template: {
        metadata: { labels: matchLabels },
        spec: { containers: [{ name: 'never-runs', image: 'none', resources }] },
      },
    },
  });
  await until('the scheduler has tried the pod of a StatefulSet', async () => {
    const { items } = await client.list(Pod, { namespace, labelSelector: matchLabels });
    return items.some(({ status }) => status?.conditions?.some(({ type }) => type === 'PodScheduled'));
  });
  await client.delete(StatefulSet, keyOf(set));
}
