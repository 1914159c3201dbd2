/**
 * The number of API servers of a HostedControlPlane follows the load of real API servers, and the real HorizontalPodAutoscaler and kubectl
 * change it through the scale subresource.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { configOfKubeconfig, connect } from '@hangar/client';
import { HorizontalPodAutoscaler } from '@hangar/client/kinds/autoscaling-v2';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { findCondition, MetricsRegistry } from '@hangar/runtime';
import { HostedControlPlane } from '../../operators/hosted/src/api/index.ts';
import { tool } from '../../tools/tool.ts';
import { until } from '../process-runtime/testing/until.ts';
import { key, namespace, ProcessCluster } from './testing/process-cluster.ts';

const run = promisify(execFile);
const reasonOf = ({ status }: HostedControlPlane) => findCondition(status?.conditions, 'AutoscalingActive')?.reason;

describe('scaling of a HostedControlPlane', () => {
  const registry = new MetricsRegistry();
  let cluster: ProcessCluster;

  /** Returns the value of a metric of the operator. */
  const figure = (series: string): number =>
    Number(
      registry
        .text()
        .split('\n')
        .find((line) => line.startsWith(`hangar_hosted_${series} `))
        ?.split(' ')[1],
    );
  const kubectl = async (...args: readonly string[]): Promise<string> =>
    (await run(await tool('kubectl'), [`--kubeconfig=${cluster.kubeconfig}`, `--namespace=${namespace}`, ...args]))
      .stdout;

  before(async () => {
    cluster = await ProcessCluster.start({ registry, autoscaling: { periodMs: 500, warmUpMs: 0 } });
    await cluster.client.create(HostedControlPlane, {
      metadata: { ...key },
      spec: {
        version: 'v1.36.4',
        replicas: 1,
        etcd: { replicas: 1 },
        autoscaling: {
          minReplicas: 1,
          maxReplicas: 2,
          targetInFlightRequests: 40,
          scaleUpDelay: '1s',
          scaleDownDelay: '3s',
        },
      },
    });
    await cluster.ready();
  });
  after(() => cluster?.[Symbol.asyncDispose]());

  test('a stable control plane is measured without writes', async () => {
    await cluster.until('it is at its minimum', (object) => reasonOf(object) === 'AtMinimum');
    const version = async (): Promise<string | undefined> =>
      (await cluster.client.get(HostedControlPlane, key)).metadata.resourceVersion;
    // Other parts of the status can follow the start for some seconds.
    await until('ten measurements have changed nothing', async () => {
      const [before, from] = [await version(), figure('scrape_duration_seconds_count')];
      await until('it is measured again', () => figure('scrape_duration_seconds_count') >= from + 10);
      return (await version()) === before;
    });
    assert.equal(figure('scrape_errors_total'), 0);
    assert.ok(figure('control_plane_autoscaling_cpu_cores{namespace="team",name="demo"}') > 0);
    assert.ok(figure('control_plane_autoscaling_in_flight_requests{namespace="team",name="demo"}') > 0);
  });

  test('requests in flight add an API server, and their end removes it', async () => {
    const client = connect(await configOfKubeconfig(await cluster.secret('demo-kubeconfig', 'value')));
    const published = { namespace: 'kube-system', name: 'extension-apiserver-authentication' };
    const load = new AbortController();
    const { signal } = load;
    const requests = Array.from({ length: 100 }, async () => {
      while (!signal.aborted) {
        await client.list(ConfigMap, { signal }).catch(() => undefined);
        await client.get(ConfigMap, published, { signal }).catch(() => undefined);
      }
    });
    try {
      const latency = 'control_plane_autoscaling_latency_seconds{namespace="team",name="demo"}';
      await until('the latency is measured', () => figure(latency) > 0);
      const { status } = await cluster.until('a second API server is ready', (object) => {
        return object.spec.replicas === 2 && object.status?.readyReplicas === 2 && reasonOf(object) === 'AtMaximum';
      });
      assert.equal(status!.autoscaling!.desiredReplicas, 2);
      const { inFlightRequests } = status!.autoscaling!.lastScaleLoad!;
      assert.ok(Number.parseInt(String(inFlightRequests), 10) > 40, String(inFlightRequests));
    } finally {
      load.abort();
      await Promise.all(requests);
      await client.close();
    }
    await cluster.until('one API server remains', (object) => {
      return object.spec.replicas === 1 && object.status?.replicas === 1 && reasonOf(object) === 'AtMinimum';
    });
    const scalings = (direction: string) => figure(`scalings_total{direction="${direction}"}`);
    assert.ok(scalings('up') >= 1);
    assert.equal(scalings('down'), scalings('up'));
  });

  test('kubectl scale and a HorizontalPodAutoscaler use the scale subresource', async () => {
    // With autoscaling, a number outside of the bounds is corrected.
    assert.match(await kubectl('scale', 'hostedcontrolplane', 'demo', '--replicas=5'), /scaled/);
    await cluster.until('the maximum applies', ({ spec }) => spec.replicas === 2);
    const body = { spec: { autoscaling: null, replicas: 1 } };
    await cluster.client.patch(HostedControlPlane, key, { type: 'merge', body });
    await kubectl('autoscale', 'hostedcontrolplane', 'demo', '--min=2', '--max=3', '--cpu=50%');
    // The controller of kube-controller-manager applies the minimum without metrics of pods.
    await cluster.until('the HorizontalPodAutoscaler has changed the number', ({ spec }) => spec.replicas === 2);
    await until('the HorizontalPodAutoscaler is able to scale', async () => {
      const { status } = await cluster.client.get(HorizontalPodAutoscaler, key);
      return status?.conditions?.find(({ type }) => type === 'AbleToScale')?.status === 'True';
    });
    const path = `/apis/controlplane.cluster.x-k8s.io/v1alpha1/namespaces/${namespace}/hostedcontrolplanes/demo/scale`;
    const scale = JSON.parse(await kubectl('get', '--raw', path)) as { spec: object; status: { selector: string } };
    assert.deepEqual(scale.spec, { replicas: 2 });
    const pods = await kubectl('get', 'pods', '-l', scale.status.selector, '-o', 'name');
    assert.match(pods, /^pod\/demo-apiserver-/);
  });
});
