/**
 * Reads of metadata alone return what a real kube-apiserver returns, also for a kind whose versions keep some of their fields in
 * annotations: autoscaling/v1 has the metrics, the behavior and the conditions of autoscaling/v2 there.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startRealServer } from '@hangar/api/testing';
import { compareServers } from '../testing/both-servers.ts';
import type { Step } from '../testing/both-servers.ts';
import { startInProcess } from '../testing/in-process.ts';

const kind = 'HorizontalPodAutoscaler';
const metadata = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
const metadataList = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const pathOf = (version: string): string => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
const metric = (name: string, averageUtilization: number): object => ({
  type: 'Resource',
  resource: { name, target: { type: 'Utilization', averageUtilization } },
});
const behavior = {
  scaleDown: { stabilizationWindowSeconds: 30, policies: [{ type: 'Pods', value: 1, periodSeconds: 15 }] },
};
const annotation = JSON.stringify([{ type: 'Resource', resource: { name: 'memory', targetAverageUtilization: 40 } }]);

const written: readonly Step[] = [
  {
    method: 'POST',
    path: pathOf('v2'),
    body: {
      apiVersion: 'autoscaling/v2',
      kind,
      metadata: { name: 'two', labels: { a: 'b' }, annotations: { mine: 'yes' } },
      spec: { scaleTargetRef, maxReplicas: 3, metrics: [metric('cpu', 50), metric('memory', 60)], behavior },
    },
  },
  {
    method: 'POST',
    path: pathOf('v1'),
    body: {
      apiVersion: 'autoscaling/v1',
      kind,
      metadata: { name: 'one', annotations: { mine: 'yes', 'autoscaling.alpha.kubernetes.io/metrics': annotation } },
      spec: { scaleTargetRef, maxReplicas: 3, targetCPUUtilizationPercentage: 70 },
    },
  },
  {
    method: 'PATCH',
    path: `${pathOf('v2')}/two/status`,
    contentType: 'application/merge-patch+json',
    body: {
      status: {
        desiredReplicas: 1,
        currentReplicas: 1,
        conditions: [{ type: 'AbleToScale', status: 'True', lastTransitionTime: '2026-01-02T03:04:05Z', reason: 'r' }],
      },
    },
  },
];

// Other tests compare cells and columns.
const ignore = ['columnDefinitions', 'rows.0.cells'];

const reads = ['v1', 'v2'].flatMap((version): Step[] => [
  ...['one', 'two'].flatMap((name): Step[] => [
    { method: 'GET', path: `${pathOf(version)}/${name}` },
    { method: 'GET', path: `${pathOf(version)}/${name}`, accept: metadata },
    { method: 'GET', path: `${pathOf(version)}/${name}`, accept: table, ignore },
  ]),
  { method: 'GET', path: pathOf(version), accept: metadataList },
  { method: 'GET', path: `${pathOf(version)}/two?includeObject=Object`, accept: table, ignore },
  { method: 'GET', path: pathOf(version), accept: table, ignore: [...ignore, 'rows.1.cells'] },
  { method: 'DELETE', path: `${pathOf(version)}/none`, accept: metadata },
]);

test('metadata of autoscalers in both versions is that of a real kube-apiserver', async () => {
  await using real = await startRealServer();
  await using hangar = await startInProcess();
  const deletion: Step = { method: 'DELETE', path: `${pathOf('v1')}/two`, accept: metadata };
  assert.deepEqual(await compareServers(real, hangar, [...written, ...reads, deletion]), []);
});
