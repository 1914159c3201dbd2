/**
 * The program `hangar hosted-operator` against a Hangar: each environment variable, the flag --namespace and the ports. The workloads of
 * the control planes are a double; their API servers do not exist.
 */

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { connect as connectSocket } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { connect, find, loadKubeconfig } from '@hangar/client';
import type { Client } from '@hangar/client';
import { Lease } from '@hangar/client/kinds/coordination-v1';
import { Namespace } from '@hangar/client/kinds/core-v1';
import { findCondition } from '@hangar/runtime';
import { installCrd, testAuthority } from '@hangar/testkit';
import { definitions } from '../../operators/hosted/src/api/generated/index.ts';
import { HostedControlPlane } from '../../operators/hosted/src/api/index.ts';
import { phases } from '../../operators/hosted/src/control-plane/conditions.ts';
import { workloadDouble } from '../../operators/hosted/src/testing/workload-double.ts';
import type { WorkloadDouble } from '../../operators/hosted/src/testing/workload-double.ts';
import { startCluster } from '../conformance/components/cluster.ts';
import type { Cluster } from '../conformance/components/cluster.ts';
import { until } from '../process-runtime/testing/until.ts';
import { startOperatorProcess } from './testing/operator-process.ts';
import type { OperatorProcess } from './testing/operator-process.ts';
import { startTraceCollector } from './testing/trace-collector.ts';
import type { TraceCollector } from './testing/trace-collector.ts';

const leaseName = 'hangar-hosted-operator';
const startedText = 'starting the operator of hosted control planes';

describe('hangar hosted-operator', () => {
  let cluster: Cluster;
  let client: Client;
  let workloads: WorkloadDouble;
  let collector: TraceCollector;
  let operator: OperatorProcess | undefined;

  before(async () => {
    cluster = await startCluster({ components: [] });
    client = connect(await loadKubeconfig(cluster.kubeconfig));
    workloads = workloadDouble(client);
    collector = await startTraceCollector();
    for (const definition of definitions) await installCrd(client, definition);
    for (const name of ['team', 'elsewhere', 'operators']) await client.create(Namespace, { metadata: { name } });
  });
  after(async () => {
    await operator?.stop();
    await collector?.[Symbol.asyncDispose]();
    await workloads?.stop();
    await client?.close();
    await cluster?.stop();
  });

  const create = (namespace: string): Promise<HostedControlPlane> =>
    client.create(HostedControlPlane, {
      metadata: { namespace, name: 'demo' },
      // Nothing listens on port 1: the operator cannot reach the API server, and sends nothing outside this machine.
      spec: { version: 'v1.36.4', replicas: 1, controlPlaneEndpoint: { host: '127.0.0.1', port: 1 } },
    });
  const reconciled = (namespace: string): Promise<boolean> =>
    until(
      `the last phase of the control plane in ${namespace} was reached`,
      async () => {
        const { status } = await client.get(HostedControlPlane, { namespace, name: 'demo' });
        return findCondition(status?.conditions, 'WorkloadSetupReady')?.reason === 'APIServerUnreachable';
      },
      () => (operator?.lines ?? []).slice(-20).join('\n'),
    );
  const metric = async (name: string): Promise<string | undefined> => {
    const text = await (await fetch(`http://127.0.0.1:${operator!.ports.metrics}/metrics`)).text();
    return new RegExp(`^${name}\\{.*\\} (.*)$`, 'm').exec(text)?.[1];
  };
  const leaseIn = (namespace: string): Promise<Lease | undefined> =>
    find(client, Lease, { namespace, name: leaseName });

  test('with every variable set', async () => {
    const authority = testAuthority();
    const { certificate, key } = authority.serving();
    await writeFile(join(cluster.folder, 'tls.crt'), certificate);
    await writeFile(join(cluster.folder, 'tls.key'), key);
    await create('team');
    await create('elsewhere');
    operator = await startOperatorProcess({
      kubeconfig: cluster.kubeconfig,
      args: ['--namespace=team', '--reach=endpoint', '--service-type=ClusterIP'],
      environment: {
        LEADER_ELECTION: 'true',
        WEBHOOK_CERT_DIR: cluster.folder,
        MAX_CONCURRENT_RECONCILES: '3',
        CONTROLLER_NAMESPACE: 'operators',
        LOG_FORMAT: 'text',
        LOG_LEVEL: 'debug',
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      },
    });
    await reconciled('team');
    assert.ok(await leaseIn('operators'), 'CONTROLLER_NAMESPACE: the Lease is in that namespace');
    // The first series is that of the only control plane in the namespace.
    assert.equal(await metric('hangar_hosted_control_plane_blocked'), '1');
    assert.equal(await metric('hangar_hosted_control_plane_info'), '1');
    assert.equal(await metric('controller_runtime_max_concurrent_reconciles'), '3');
    const { ports } = operator;
    assert.equal((await fetch(`http://127.0.0.1:${ports.health}/readyz`)).status, 200);
    assert.match(
      await review(ports.webhook, authority.certificate),
      /etcd-servers of kube-apiserver are set by the operator/,
    );
    const started = operator.lines.find((line) => line.includes(startedText))!;
    assert.throws(() => JSON.parse(started), 'LOG_FORMAT: the lines are text');
    assert.ok(
      operator.lines.some((line) => /\bdebug\b/i.test(line)),
      operator.lines.join('\n'),
    );
    const { status } = await client.get(HostedControlPlane, { namespace: 'elsewhere', name: 'demo' });
    assert.equal(status, undefined, '--namespace: other namespaces are not reconciled');
    assert.equal(await operator.stop(), 0);
    operator = undefined;
    const root = collector.spans.find(({ name, parentSpanId }) => name === 'reconcile' && parentSpanId === undefined)!;
    assert.ok(root);
    const traced = new Set(collector.spans.filter(({ parentSpanId }) => parentSpanId).map(({ name }) => name));
    assert.deepEqual(
      phases.filter((phase) => !traced.has(phase)),
      [],
      'OTEL_EXPORTER_OTLP_ENDPOINT: a span for every phase',
    );
  });

  test('without variables, except LEADER_ELECTION', async () => {
    const { length } = collector.spans;
    operator = await startOperatorProcess({
      kubeconfig: cluster.kubeconfig,
      args: ['--reach=endpoint', '--service-type=ClusterIP'],
      environment: { LEADER_ELECTION: 'false' },
    });
    await reconciled('elsewhere');
    assert.equal(await leaseIn('default'), undefined);
    assert.equal(await leaseIn('kube-system'), undefined);
    assert.equal(await metric('controller_runtime_max_concurrent_reconciles'), '10');
    await assert.rejects(connected(operator.ports.webhook), { code: 'ECONNREFUSED' });
    const levels = operator.lines.map((line) => (JSON.parse(line) as { level: number }).level);
    assert.ok(levels.length > 0 && levels.every((level) => level >= 30), 'the level is info, and the format is json');
    assert.equal(await operator.stop(), 0);
    operator = undefined;
    assert.equal(collector.spans.length, length);
  });

  test('by default it elects a leader in the namespace of the kubeconfig, or in kube-system', async () => {
    operator = await startOperatorProcess({ kubeconfig: cluster.kubeconfig, args: ['--reach=endpoint'] });
    await until(
      'the Lease has a holder',
      async () => (await leaseIn('kube-system'))?.spec?.holderIdentity !== undefined,
    );
    assert.equal(await operator.stop(), 0);
    operator = undefined;
  });
});

/** Sends a review of an object with a reserved argument and returns the message of the response. */
function review(port: number, ca: string): Promise<string> {
  const { apiVersion, kind } = HostedControlPlane;
  const spec = { version: 'v1.36.4', deployment: { apiServer: { args: { 'etcd-servers': 'https://example.org' } } } };
  const [group, version] = apiVersion.split('/');
  const gvk = { group, version, kind };
  const gvr = { group, version, resource: HostedControlPlane.plural };
  const body = {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'u1',
      kind: gvk,
      resource: gvr,
      requestKind: gvk,
      requestResource: gvr,
      operation: 'CREATE',
      name: 'demo',
      namespace: 'team',
      userInfo: { username: 'tests' },
      object: { apiVersion, kind, metadata: { namespace: 'team', name: 'demo', uid: 'u2' }, spec },
      oldObject: null,
      dryRun: false,
    },
  };
  const path = '/validate-controlplane-cluster-x-k8s-io-v1alpha1-hostedcontrolplane';
  const headers = { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, ca, method: 'POST', headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve(Buffer.concat(chunks).toString()));
    });
    sent.on('error', reject);
    sent.end(JSON.stringify(body));
  });
}

/** Resolves when a connection is open. */
function connected(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket(port, '127.0.0.1', () => {
      socket.destroy();
      resolve();
    });
    socket.on('error', reject);
  });
}
