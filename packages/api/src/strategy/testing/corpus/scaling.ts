/** Autoscalers in both versions. */

import { all, selector } from './build.ts';

export const scaleTargetRef = { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' };
const object = { kind: 'Service', name: 's', apiVersion: 'v1' };
const metrics = [
  { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
  { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } },
  { type: 'Pods', pods: { metric: { name: 'm', selector }, target: { type: 'AverageValue', averageValue: '10' } } },
  {
    type: 'Object',
    object: { metric: { name: 'm' }, describedObject: object, target: { type: 'Value', value: '1.5' } },
  },
  {
    type: 'External',
    external: { metric: { name: 'm', selector }, target: { type: 'AverageValue', averageValue: 3 } },
  },
  {
    type: 'ContainerResource',
    containerResource: { name: 'cpu', container: 'c', target: { type: 'Utilization', averageUtilization: 3 } },
  },
];
export const scaling = [
  all(
    'autoscaling/v2',
    'HorizontalPodAutoscaler',
    { spec: { scaleTargetRef, maxReplicas: 3 } },
    {
      metadata: { annotations: { 'autoscaling.alpha.kubernetes.io/metrics': '[]' } },
      spec: { scaleTargetRef, maxReplicas: 3, minReplicas: 2, metrics, behavior: { scaleUp: { tolerance: '0.1' } } },
    },
    { spec: { scaleTargetRef, maxReplicas: 3, behavior: { scaleDown: { selectPolicy: 'Disabled' } } } },
  ),
  all(
    'autoscaling/v1',
    'HorizontalPodAutoscaler',
    { spec: { scaleTargetRef, maxReplicas: 3 } },
    {
      metadata: {
        annotations: {
          a: 'b',
          'autoscaling.alpha.kubernetes.io/metrics':
            '[{"type":"Pods","pods":{"metricName":"m","targetAverageValue":"1"}},{"type":"Resource","resource":{"name":"memory","targetAverageUtilization":3}}]',
          'autoscaling.alpha.kubernetes.io/behavior':
            '{"ScaleUp":{"SelectPolicy":"Min","Policies":[{"Type":"Pods","Value":1,"PeriodSeconds":2}],"StabilizationWindowSeconds":3}}',
          'autoscaling.alpha.kubernetes.io/conditions': '[{"type":"x","status":"True"}]',
        },
      },
      spec: { scaleTargetRef, maxReplicas: 3, targetCPUUtilizationPercentage: 33 },
      status: { currentReplicas: 3, desiredReplicas: 4 },
    },
    {
      metadata: { annotations: { 'autoscaling.alpha.kubernetes.io/metrics': '{"nonsense' } },
      spec: { scaleTargetRef, maxReplicas: 3, minReplicas: 2 },
    },
  ),
];
