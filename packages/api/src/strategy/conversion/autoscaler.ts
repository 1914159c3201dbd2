/**
 * Autoscalers: v1 supports only the CPU. The other fields of v2 are stored in annotations, so that no version loses data. Annotations come
 * from clients: malformed ones are ignored.
 */

import { structType } from '../../builtin/types.ts';
import { isAbsent, isEmpty, objectAt, objectsAt, stringAt } from '../../defaults/access.ts';
import { defaultCpuUtilization } from '../../defaults/workloads.ts';
import { normalise } from '../../fields/normalise.ts';
import { isObject } from '../../object.ts';
import type { JsonObject, KubeObject } from '../../object.ts';
import { compact, toV1Metric, toV1MetricStatus, toV2Metric, toV2MetricStatus } from './metrics.ts';

const prefix = 'autoscaling.alpha.kubernetes.io/';
const metricsKey = `${prefix}metrics`;
const currentMetricsKey = `${prefix}current-metrics`;
const behaviorKey = `${prefix}behavior`;
const conditionsKey = `${prefix}conditions`;
const keys: ReadonlySet<string> = new Set([metricsKey, currentMetricsKey, behaviorKey, conditionsKey]);

const isCpu = (metric: JsonObject): boolean =>
  metric['type'] === 'Resource' && objectAt(metric, 'resource')?.['name'] === 'cpu';

const utilization = (metric: JsonObject, part: 'target' | 'current'): unknown =>
  objectAt(objectAt(metric, 'resource'), part)?.['averageUtilization'];

/** Returns metadata with these annotations instead of those that held another version. */
function withAnnotations(object: KubeObject, added: Record<string, string>): KubeObject['metadata'] {
  const { annotations: given, ...metadata } = object.metadata;
  const kept = Object.fromEntries(Object.entries(given ?? {}).filter(([name]) => !keys.has(name)));
  const annotations = { ...kept, ...added };
  return Object.keys(annotations).length === 0 ? metadata : { ...metadata, annotations };
}

export function toV1Autoscaler(object: KubeObject): KubeObject {
  const spec = objectAt(object, 'spec') ?? {};
  const status = objectAt(object, 'status') ?? {};
  const metrics = objectsAt(spec, 'metrics');
  const isField = (metric: JsonObject): boolean => isCpu(metric) && !isAbsent(utilization(metric, 'target'));
  const cpu = metrics.find(isField);
  const others = metrics.filter((metric) => !isField(metric));
  const current = objectsAt(status, 'currentMetrics');
  const conditions = objectsAt(status, 'conditions');
  const behavior = objectAt(spec, 'behavior');
  const annotations: Record<string, string> = {};
  if (others.length > 0) annotations[metricsKey] = JSON.stringify(others.map(toV1Metric));
  if (current.length > 0) annotations[currentMetricsKey] = JSON.stringify(current.map(toV1MetricStatus));
  if (behavior !== undefined) annotations[behaviorKey] = JSON.stringify(goBehavior(behavior));
  if (conditions.length > 0) annotations[conditionsKey] = JSON.stringify(conditions.map(goCondition));
  const currentCpu = current.findLast((metric) => isCpu(metric) && !isAbsent(utilization(metric, 'current')));
  const { metrics: _metrics, behavior: _behavior, ...plainSpec } = spec;
  const { currentMetrics: _current, conditions: _conditions, ...plainStatus } = status;
  return {
    ...object,
    apiVersion: 'autoscaling/v1',
    metadata: withAnnotations(object, annotations),
    spec: compact({ ...plainSpec, targetCPUUtilizationPercentage: cpu && utilization(cpu, 'target') }),
    status: compact({
      ...plainStatus,
      currentCPUUtilizationPercentage: currentCpu && utilization(currentCpu, 'current'),
    }),
  };
}

export function toV2Autoscaler(object: KubeObject): KubeObject {
  const { targetCPUUtilizationPercentage: target, ...spec } = objectAt(object, 'spec') ?? {};
  const { currentCPUUtilizationPercentage: current, ...status } = objectAt(object, 'status') ?? {};
  const others = readList(object, metricsKey, toV2Metric, 'MetricSpec') ?? [];
  const metrics = isAbsent(target) ? others : [...others, cpuMetric(target)];
  const behavior = readBehavior(object);
  const currentMetrics =
    readList(object, currentMetricsKey, toV2MetricStatus, 'MetricStatus') ??
    (isAbsent(current)
      ? undefined
      : [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: current } } }]);
  const conditions = readList(object, conditionsKey, (one) => one, 'HorizontalPodAutoscalerCondition');
  return {
    ...object,
    apiVersion: 'autoscaling/v2',
    metadata: withAnnotations(object, {}),
    spec: compact({ ...spec, metrics: metrics.length > 0 ? metrics : [cpuMetric(defaultCpuUtilization)], behavior }),
    status: compact({ ...status, currentMetrics, conditions }),
  };
}

const cpuMetric = (averageUtilization: unknown): JsonObject => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
});

/** The server writes this one from a type without JSON names: the names are those of Go. */
function goBehavior(behavior: JsonObject): JsonObject {
  const rules = (name: string): JsonObject | null => {
    const given = objectAt(behavior, name);
    if (given === undefined) return null;
    const policies = objectsAt(given, 'policies').map(({ type, value, periodSeconds }) => ({
      Type: type ?? '',
      Value: value ?? 0,
      PeriodSeconds: periodSeconds ?? 0,
    }));
    return {
      StabilizationWindowSeconds: given['stabilizationWindowSeconds'] ?? null,
      SelectPolicy: given['selectPolicy'] ?? null,
      Policies: isAbsent(given['policies']) ? null : policies,
      Tolerance: given['tolerance'] ?? null,
    };
  };
  return { ScaleUp: rules('scaleUp'), ScaleDown: rules('scaleDown') };
}

const goCondition = ({ type, status, lastTransitionTime, reason, message }: JsonObject): JsonObject => ({
  type: type ?? '',
  status: status ?? '',
  lastTransitionTime: lastTransitionTime ?? null,
  ...(isEmpty(reason) ? {} : { reason }),
  ...(isEmpty(message) ? {} : { message }),
});

function readAnnotation(object: KubeObject, key: string): unknown {
  try {
    return JSON.parse(stringAt(objectAt(objectAt(object, 'metadata'), 'annotations'), key));
  } catch {
    return undefined;
  }
}

function readList(
  object: KubeObject,
  key: string,
  convert: (value: JsonObject) => JsonObject,
  type: string,
): JsonObject[] | undefined {
  const value = readAnnotation(object, key);
  if (!Array.isArray(value) || !value.every(isObject)) return undefined;
  return checked(() => value.map((one) => checkedStruct(type, convert(one))));
}

function readBehavior(object: KubeObject): JsonObject | undefined {
  const value = readAnnotation(object, behaviorKey);
  if (!isObject(value)) return undefined;
  const behavior = checked(() => checkedStruct('HorizontalPodAutoscalerBehavior', withJsonNames(value, 4)));
  return behavior === undefined || isEmpty(behavior) ? undefined : behavior;
}

const checkedStruct = (type: string, value: JsonObject): JsonObject =>
  normalise(structType(`autoscaling/v2.${type}`), value);

/** Returns undefined if a value does not have its type. */
function checked<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Go's names begin with capitals, JSON's do not. */
function withJsonNames(value: unknown, depth: number): JsonObject {
  const result: JsonObject = {};
  if (!isObject(value) || depth === 0) return result;
  for (const [name, inner] of Object.entries(value)) {
    const jsonName = name.slice(0, 1).toLowerCase() + name.slice(1);
    if (Array.isArray(inner)) result[jsonName] = inner.map((one) => withJsonNames(one, depth - 1));
    else result[jsonName] = isObject(inner) ? withJsonNames(inner, depth - 1) : inner;
  }
  return result;
}
