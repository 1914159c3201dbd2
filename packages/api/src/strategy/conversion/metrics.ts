/** Metrics of autoscalers in v1, in annotations, and in v2, in fields. Keys are in Go's order: clients see the text. */

import { isAbsent, objectAt } from '../../defaults/access.ts';
import type { JsonObject } from '../../object.ts';

/** Returns the object without absent fields. */
export function compact(object: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const [name, value] of Object.entries(object)) if (!isAbsent(value)) result[name] = value;
  return result;
}

type Convert = (metric: JsonObject) => JsonObject;
type Converters = Readonly<Record<string, Convert>>;

const part = (metric: JsonObject, name: string): JsonObject => objectAt(metric, name) ?? {};

/** Default for a quantity that is not a pointer in v1. */
const orZero = (value: unknown): unknown => value ?? '0';

const metricOf = (name: unknown, selector: unknown): JsonObject => compact({ name: name ?? '', selector });

const toV1Sources: Converters = {
  object: (metric) => {
    const target = part(metric, 'target');
    return compact({
      target: part(metric, 'describedObject'),
      metricName: part(metric, 'metric')['name'],
      targetValue: orZero(target['value']),
      selector: part(metric, 'metric')['selector'],
      averageValue: target['averageValue'],
    });
  },
  pods: (metric) =>
    compact({
      metricName: part(metric, 'metric')['name'],
      targetAverageValue: orZero(part(metric, 'target')['averageValue']),
      selector: part(metric, 'metric')['selector'],
    }),
  resource: (metric) => toV1Resource(metric),
  containerResource: (metric) => toV1Resource(metric),
  external: (metric) =>
    compact({
      metricName: part(metric, 'metric')['name'],
      metricSelector: part(metric, 'metric')['selector'],
      targetValue: part(metric, 'target')['value'],
      targetAverageValue: part(metric, 'target')['averageValue'],
    }),
};

const toV1Resource: Convert = (metric) =>
  compact({
    name: metric['name'],
    targetAverageUtilization: part(metric, 'target')['averageUtilization'],
    targetAverageValue: part(metric, 'target')['averageValue'],
    container: metric['container'],
  });

const toV2Sources: Converters = {
  object: (metric) => {
    const isAverage = !isAbsent(metric['averageValue']);
    const value = isAverage && isZero(metric['targetValue']) ? undefined : orZero(metric['targetValue']);
    const target = { type: isAverage ? 'AverageValue' : 'Value', value, averageValue: metric['averageValue'] };
    return {
      describedObject: part(metric, 'target'),
      target: compact(target),
      metric: metricOf(metric['metricName'], metric['selector']),
    };
  },
  pods: (metric) => ({
    metric: metricOf(metric['metricName'], metric['selector']),
    target: { type: 'AverageValue', averageValue: orZero(metric['targetAverageValue']) },
  }),
  resource: (metric) => toV2Resource(metric),
  containerResource: (metric) => toV2Resource(metric),
  external: (metric) => ({
    metric: metricOf(metric['metricName'], metric['metricSelector']),
    target: compact({
      type: isAbsent(metric['targetValue']) ? 'AverageValue' : 'Value',
      value: metric['targetValue'],
      averageValue: metric['targetAverageValue'],
    }),
  }),
};

const isZero = (quantity: unknown): boolean => isAbsent(quantity) || /^[+-]?[0.]*[a-zA-Z]*$/.test(String(quantity));

const toV2Resource: Convert = (metric) =>
  compact({
    name: metric['name'],
    target: compact({
      type: isAbsent(metric['targetAverageUtilization']) ? 'AverageValue' : 'Utilization',
      averageValue: metric['targetAverageValue'],
      averageUtilization: metric['targetAverageUtilization'],
    }),
    container: metric['container'],
  });

const toV1Statuses: Converters = {
  object: (metric) =>
    compact({
      target: part(metric, 'describedObject'),
      metricName: part(metric, 'metric')['name'],
      currentValue: orZero(part(metric, 'current')['value']),
      selector: part(metric, 'metric')['selector'],
      averageValue: part(metric, 'current')['averageValue'],
    }),
  pods: (metric) =>
    compact({
      metricName: part(metric, 'metric')['name'],
      currentAverageValue: orZero(part(metric, 'current')['averageValue']),
      selector: part(metric, 'metric')['selector'],
    }),
  resource: (metric) => toV1ResourceStatus(metric),
  containerResource: (metric) => toV1ResourceStatus(metric),
  external: (metric) =>
    compact({
      metricName: part(metric, 'metric')['name'],
      metricSelector: part(metric, 'metric')['selector'],
      currentValue: orZero(part(metric, 'current')['value']),
      currentAverageValue: part(metric, 'current')['averageValue'],
    }),
};

const toV1ResourceStatus: Convert = (metric) =>
  compact({
    name: metric['name'],
    currentAverageUtilization: part(metric, 'current')['averageUtilization'],
    currentAverageValue: orZero(part(metric, 'current')['averageValue']),
    container: metric['container'],
  });

const toV2Statuses: Converters = {
  object: (metric) => ({
    metric: metricOf(metric['metricName'], metric['selector']),
    current: compact({ value: orZero(metric['currentValue']), averageValue: metric['averageValue'] }),
    describedObject: part(metric, 'target'),
  }),
  pods: (metric) => ({
    metric: metricOf(metric['metricName'], metric['selector']),
    current: { averageValue: orZero(metric['currentAverageValue']) },
  }),
  resource: (metric) => toV2ResourceStatus(metric),
  containerResource: (metric) => toV2ResourceStatus(metric),
  external: (metric) => ({
    metric: metricOf(metric['metricName'], metric['metricSelector']),
    current: compact({ value: orZero(metric['currentValue']), averageValue: metric['currentAverageValue'] }),
  }),
};

const toV2ResourceStatus: Convert = (metric) =>
  compact({
    name: metric['name'],
    current: compact({
      averageValue: orZero(metric['currentAverageValue']),
      averageUtilization: metric['currentAverageUtilization'],
    }),
    container: metric['container'],
  });

const convertMetric =
  (converters: Converters): Convert =>
  (metric) => {
    const result: JsonObject = { type: metric['type'] ?? '' };
    for (const [name, converter] of Object.entries(converters)) {
      const found = objectAt(metric, name);
      if (found !== undefined) result[name] = converter(found);
    }
    return result;
  };

export const toV1Metric: Convert = convertMetric(toV1Sources);
export const toV2Metric: Convert = convertMetric(toV2Sources);
export const toV1MetricStatus: Convert = convertMetric(toV1Statuses);
export const toV2MetricStatus: Convert = convertMetric(toV2Statuses);
