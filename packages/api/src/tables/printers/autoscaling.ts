/**
 * Horizontal pod autoscalers. Version 1 has a field for one metric only; the others are JSON in annotations, which clients can write: they
 * are validated.
 */

import { isObject } from '../../object.ts';
import type { JsonObject, KubeObject } from '../../object.ts';
import { ageOf } from '../age.ts';
import { none } from '../selector-text.ts';
import { firstOf, printer, unknown, unset } from './printer.ts';
import type { Printers } from './printer.ts';

interface Autoscaler {
  readonly spec?: {
    readonly scaleTargetRef?: { readonly kind?: string; readonly name?: string };
    readonly minReplicas?: number;
    readonly maxReplicas?: number;
    /** Only in version 1. */
    readonly targetCPUUtilizationPercentage?: number;
    readonly metrics?: readonly MetricSpec[];
  };
  readonly status?: {
    readonly currentReplicas?: number;
    /** Only in version 1. */
    readonly currentCPUUtilizationPercentage?: number;
    readonly currentMetrics?: readonly MetricStatus[];
  };
}

interface Amount {
  readonly value?: unknown;
  readonly averageValue?: unknown;
  readonly averageUtilization?: unknown;
}

type Source<Key extends string> = { readonly name?: unknown } & { readonly [K in Key]?: Amount };
type MetricSpec = { readonly type: string } & Readonly<Record<string, Source<'target'> | string | undefined>>;
type MetricStatus = Readonly<Record<string, Source<'current'> | string | undefined>>;

/** Type → the field that describes it. */
const fieldOfType: Readonly<Record<string, string>> = {
  External: 'external',
  Pods: 'pods',
  Object: 'object',
  Resource: 'resource',
  ContainerResource: 'containerResource',
};

/** Go's text for an absent quantity. */
const quantityText = (quantity: unknown): string => (quantity === undefined ? '<nil>' : String(quantity));
const percent = (number: unknown): string => `${String(number)}%`;

function metricText(spec: MetricSpec, status: MetricStatus | undefined): string {
  if (!Object.hasOwn(fieldOfType, spec.type)) return '<unknown type>';
  const field = fieldOfType[spec.type]!;
  const source = spec[field] as Source<'target'> | undefined;
  const measured = status?.[field] as Source<'current'> | undefined;
  const { target = {} } = source ?? {};
  const current = measured ? (measured.current ?? {}) : undefined;
  if (field === 'pods') {
    return `${current ? quantityText(current.averageValue) : unknown}/${quantityText(target.averageValue)}`;
  }
  if (field === 'external' || field === 'object') {
    if (target.averageValue === undefined) {
      return `${current ? quantityText(current.value) : unknown}/${quantityText(target.value)}`;
    }
    return `${String(current?.averageValue ?? unknown)}/${String(target.averageValue)} (avg)`;
  }
  const prefix = `${String(source?.name ?? '')}: `;
  if (target.averageValue !== undefined) {
    return `${prefix}${current ? quantityText(current.averageValue) : unknown}/${String(target.averageValue)}`;
  }
  const used = current?.averageUtilization === undefined ? unknown : percent(current.averageUtilization);
  return `${prefix}${used}/${target.averageUtilization === undefined ? '<auto>' : percent(target.averageUtilization)}`;
}

const shownMax = 2;

function metricsCell(specs: readonly MetricSpec[], statuses: readonly MetricStatus[]): string {
  if (specs.length === 0) return none;
  return firstOf(
    specs.map((spec, i) => metricText(spec, statuses[i])),
    shownMax,
    ', ',
  );
}

const specsAnnotation = 'autoscaling.alpha.kubernetes.io/metrics';
const statusesAnnotation = 'autoscaling.alpha.kubernetes.io/current-metrics';
const defaultUtilization = 80;

const cpu = (key: 'target' | 'current', averageUtilization: number): MetricSpec => ({
  type: 'Resource',
  resource: { name: 'cpu', [key]: { averageUtilization } },
});

/**
 * Converts the metrics of version 1 to version 2. The CPU metric has lost its position: it gets that of its measurement, or else the first,
 * which is usual.
 */
function metricsOfV1({ metadata, spec, status }: KubeObject & Autoscaler): {
  specs: readonly MetricSpec[];
  statuses: readonly MetricStatus[];
} {
  const { targetCPUUtilizationPercentage: target } = spec ?? {};
  const { currentCPUUtilizationPercentage: current } = status ?? {};
  const specs = readMetrics(metadata.annotations?.[specsAnnotation], 'target') ?? [];
  const statuses =
    readMetrics(metadata.annotations?.[statusesAnnotation], 'current') ??
    (current === undefined ? [] : [cpu('current', current)]);
  if (target !== undefined) specs.splice(Math.max(0, statuses.findIndex(isCpu)), 0, cpu('target', target));
  return { specs: specs.length === 0 ? [cpu('target', defaultUtilization)] : specs, statuses };
}

const isCpu = ({ resource }: MetricSpec): boolean => isObject(resource) && resource['name'] === 'cpu';

/** Returns undefined if it is not a list of metrics. */
function readMetrics(text: string | undefined, key: 'target' | 'current'): MetricSpec[] | undefined {
  if (text === undefined) return undefined;
  let metrics: unknown;
  try {
    metrics = JSON.parse(text);
  } catch {
    return undefined;
  }
  return Array.isArray(metrics) && metrics.every(isObject)
    ? metrics.map((metric) => metricOfV1(metric, key))
    : undefined;
}

/** `{resource: {name, targetAverageValue}}` → `{resource: {name, target: {averageValue}}}`. */
function metricOfV1(metric: JsonObject, key: 'target' | 'current'): MetricSpec {
  const type = scalar(metric['type']) ?? '';
  const field = Object.hasOwn(fieldOfType, type) ? fieldOfType[type]! : '';
  const source = metric[field];
  if (field === '' || !isObject(source)) return { type };
  // Version 1 cannot leave out these quantities.
  const zero = field === 'pods' || (field !== 'external' && key === 'current') ? '0' : undefined;
  const amount = {
    value: scalar(source[`${key}Value`]) ?? '0',
    averageValue: scalar(source[`${key}AverageValue`]) ?? scalar(source['averageValue']) ?? zero,
    averageUtilization: scalar(source[`${key}AverageUtilization`]),
  };
  if (field === 'object') amount.averageValue = scalar(source['averageValue']);
  return { type, [field]: { name: scalar(source['name']), [key]: amount } };
}

const scalar = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;

export const autoscalingPrinters: Printers = {
  'autoscaling/HorizontalPodAutoscaler': printer<Autoscaler>((autoscaler, now) => {
    const { spec, status } = autoscaler;
    const { specs, statuses } =
      autoscaler.apiVersion === 'autoscaling/v1'
        ? metricsOfV1(autoscaler)
        : { specs: spec?.metrics ?? [], statuses: status?.currentMetrics ?? [] };
    return [
      autoscaler.metadata.name,
      `${spec?.scaleTargetRef?.kind ?? ''}/${spec?.scaleTargetRef?.name ?? ''}`,
      metricsCell(specs, statuses),
      spec?.minReplicas === undefined ? unset : String(spec.minReplicas),
      spec?.maxReplicas ?? 0,
      status?.currentReplicas ?? 0,
      ageOf(autoscaler, now),
    ];
  }),
};
