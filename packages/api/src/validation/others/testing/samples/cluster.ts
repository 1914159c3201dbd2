/** Nodes, limits, scaling, priorities. */

import { meta, namespaced, withStatus } from './sample.ts';
import type { JsonObject } from '../../../../object.ts';
import type { Sample } from './sample.ts';

const limitOf = (limits: readonly JsonObject[]): JsonObject => ({
  apiVersion: 'v1',
  kind: 'LimitRange',
  metadata: meta('limits'),
  spec: { limits },
});
const quotaOf = (spec: JsonObject): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: meta('quota'),
  spec,
});
const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
const autoscalerOf = (metrics: readonly JsonObject[]): JsonObject => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: meta('scaler'),
  spec: { scaleTargetRef, minReplicas: 1, maxReplicas: 3, metrics },
});
const priorityOf = (name: string, value: number, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: meta(name),
  value,
  ...more,
});

const condition = {
  type: 'Ready',
  status: 'True',
  reason: 'Fine',
  message: 'm',
  lastTransitionTime: '2024-01-01T00:00:00Z',
  observedGeneration: 1,
};

export const clusterSamples: readonly Sample[] = [
  {
    path: '/api/v1/nodes',
    object: {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: meta('node'),
      spec: {
        podCIDRs: ['10.1.0.0/24', '2001:db8::/64'],
        podCIDR: '10.1.0.0/24',
        providerID: 'x://y',
        taints: [{ key: 'a', value: 'b', effect: 'NoSchedule' }],
      },
    },
    more: [
      ['10.1.0.0/24', '10.2.0.0/24'],
      ['10.1.0.0/24', 'x'],
    ].map((podCIDRs) => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: meta('node'),
      spec: { podCIDRs },
    })),
    statuses: [
      [
        'status',
        withStatus({
          capacity: { cpu: '1', pods: '10' },
          allocatable: { 'a.b/c': '2' },
          addresses: [{ type: 'InternalIP', address: '1.2.3.4' }],
          declaredFeatures: ['Abc', 'Abd/x'],
        }),
      ],
    ],
  },
  {
    path: namespaced('/api/v1', 'limitranges'),
    object: limitOf([
      {
        type: 'Container',
        max: { cpu: '2' },
        min: { cpu: '1' },
        default: { cpu: '2' },
        defaultRequest: { cpu: '1' },
        maxLimitRequestRatio: { cpu: '2' },
      },
      { type: 'PersistentVolumeClaim', max: { storage: '1Gi' } },
      { type: 'a.b/C', max: { 'a.b/c': '1' } },
    ]),
    more: [
      limitOf([{ type: 'Pod', default: { cpu: '1' }, defaultRequest: { cpu: '1' } }]),
      limitOf([{ type: 'PersistentVolumeClaim', max: { cpu: '1' } }]),
      limitOf([{ type: 'Container', max: { storage: '1' } }]),
      limitOf([{ type: 'Container', max: { cpu: '1' }, min: { cpu: '2' } }]),
      limitOf([{ type: 'Container', max: { cpu: '1' }, default: { cpu: '2' }, defaultRequest: { cpu: '3' } }]),
      limitOf([{ type: 'Container', min: { cpu: '3' }, default: { cpu: '2' }, defaultRequest: { cpu: '1' } }]),
      limitOf([{ type: 'Container', max: { cpu: '3' }, min: { cpu: '2' }, maxLimitRequestRatio: { cpu: '2' } }]),
      limitOf([{ type: 'Container', maxLimitRequestRatio: { cpu: '500m' } }]),
      limitOf([{ type: 'Container', default: { 'a.b/c': '2' }, defaultRequest: { 'a.b/c': '1' } }]),
      limitOf([{ type: 'Wrong' }]),
      limitOf([{ type: 'Pod' }, { type: 'Pod' }]),
    ],
  },
  {
    path: namespaced('/api/v1', 'resourcequotas'),
    object: quotaOf({
      hard: { pods: '10', 'requests.cpu': '1' },
      scopes: ['NotBestEffort'],
      scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['a'] }] },
    }),
    more: [
      quotaOf({ hard: { pods: '1500m' } }),
      quotaOf({ hard: { pods: '-1' } }),
      quotaOf({ hard: { wrong: '1' } }),
      quotaOf({ hard: { storage: '1' } }),
      quotaOf({ hard: { 'count/x.y': '1', 'a.b/c': '1500m' } }),
      quotaOf({ hard: { pods: '1', services: '1' }, scopes: ['BestEffort', 'NotBestEffort', 'Wrong'] }),
      quotaOf({
        hard: { services: '1' },
        scopeSelector: {
          matchExpressions: [
            { scopeName: 'Terminating', operator: 'In', values: [] },
            { scopeName: 'NotTerminating', operator: 'Exists', values: ['x'] },
            { scopeName: 'X', operator: 'Y' },
          ],
        },
      }),
    ],
    statuses: [['status', withStatus({ hard: { pods: '10' }, used: { pods: '1' } })]],
  },
  {
    path: namespaced('/apis/policy/v1', 'poddisruptionbudgets'),
    object: {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: meta('budget'),
      spec: { minAvailable: '50%', selector: { matchLabels: { a: 'b' } }, unhealthyPodEvictionPolicy: 'AlwaysAllow' },
    },
    more: [
      { minAvailable: 1, maxUnavailable: '101%' },
      { minAvailable: 1, maxUnavailable: 2, selector: { matchLabels: { b: '1', a: '2' } } },
      { maxUnavailable: -1 },
      { maxUnavailable: 'x' },
    ].map((spec) => ({ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: meta('budget'), spec })),
    statuses: [
      [
        'status',
        withStatus({
          observedGeneration: 1,
          disruptionsAllowed: 1,
          currentHealthy: 1,
          desiredHealthy: 1,
          expectedPods: 1,
          conditions: [condition],
        }),
      ],
    ],
  },
  {
    path: namespaced('/apis/autoscaling/v2', 'horizontalpodautoscalers'),
    except: /policies(?:\[0\] dropped| = \[\])$/,
    object: {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: meta('scaler'),
      spec: {
        scaleTargetRef,
        minReplicas: 1,
        maxReplicas: 3,
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
          {
            type: 'ContainerResource',
            containerResource: { name: 'cpu', container: 'c', target: { type: 'AverageValue', averageValue: '1' } },
          },
          { type: 'Pods', pods: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '1' } } },
          { type: 'External', external: { metric: { name: 'm' }, target: { type: 'Value', value: '1' } } },
          {
            type: 'Object',
            object: {
              describedObject: { apiVersion: 'v1', kind: 'Pod', name: 'x' },
              metric: { name: 'm' },
              target: { type: 'Value', value: '1' },
            },
          },
        ],
        behavior: {
          scaleUp: {
            stabilizationWindowSeconds: 1,
            selectPolicy: 'Max',
            tolerance: '100m',
            policies: [{ type: 'Pods', value: 1, periodSeconds: 10 }],
          },
          scaleDown: { policies: [{ type: 'Percent', value: 1, periodSeconds: 10 }] },
        },
      },
    },
    more: [
      autoscalerOf([{ type: 'Resource', pods: { metric: { name: '' }, target: { type: 'X' } } }]),
      autoscalerOf([
        {
          type: 'Wrong',
          resource: { name: 'cpu', target: { type: 'Value', averageValue: '1', averageUtilization: 1 } },
          pods: { metric: { name: 'm' }, target: { type: 'Value' } },
        },
      ]),
      autoscalerOf([
        {
          type: 'External',
          external: { metric: { name: 'm/n' }, target: { type: 'Value', value: '0', averageValue: '1' } },
        },
      ]),
    ],
    statuses: [['status', withStatus({ currentReplicas: 1, desiredReplicas: 2 })]],
  },
  {
    path: namespaced('/apis/autoscaling/v1', 'horizontalpodautoscalers'),
    object: {
      apiVersion: 'autoscaling/v1',
      kind: 'HorizontalPodAutoscaler',
      metadata: meta('older-scaler'),
      spec: { scaleTargetRef, minReplicas: 1, maxReplicas: 3, targetCPUUtilizationPercentage: 50 },
    },
  },
  {
    path: '/apis/scheduling.k8s.io/v1/priorityclasses',
    object: priorityOf('high', 1000, { preemptionPolicy: 'Never', globalDefault: false }),
    more: [
      priorityOf('high', 1_000_000_001),
      priorityOf('system-x', 1),
      priorityOf('system-node-critical', 1),
      priorityOf('system-cluster-critical', 2_000_000_000, { globalDefault: true }),
    ],
  },
  {
    path: '/apis/node.k8s.io/v1/runtimeclasses',
    object: {
      apiVersion: 'node.k8s.io/v1',
      kind: 'RuntimeClass',
      metadata: meta('runtime'),
      handler: 'h',
      overhead: { podFixed: { cpu: '1' } },
      scheduling: {
        nodeSelector: { a: 'b' },
        tolerations: [{ key: 'a', operator: 'Equal', value: 'b', effect: 'NoExecute', tolerationSeconds: 3 }],
      },
    },
    more: [
      {
        apiVersion: 'node.k8s.io/v1',
        kind: 'RuntimeClass',
        metadata: meta('runtime'),
        handler: 'h',
        overhead: { podFixed: { wrong: '1', cpu: '-1' } },
      },
    ],
  },
];
