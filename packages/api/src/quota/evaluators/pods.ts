/** Pods: number, requests and limits, until they terminate. */

import { parseTime } from '../../values/time.ts';
import type { KubeObject } from '../../object.ts';
import { addInto, amountsOf, count } from '../amounts.ts';
import type { Amounts, MutableAmounts } from '../amounts.ts';
import { sizedSpecOf } from '../pod.ts';
import type { AffinityRules, AffinityTerm, SizedPod, SizedPodSpec } from '../pod.ts';
import { isExtendedResource, isNativeResource, isOfPods, podTotal } from '../pod-resources.ts';
import { matchesName } from '../quota.ts';
import type { Evaluator } from './evaluator.ts';

const countOfPods = 'count/pods';
const computed = ['cpu', 'memory', 'ephemeral-storage'];
const names: ReadonlySet<string> = new Set([
  countOfPods,
  'pods',
  ...computed,
  ...computed.map((name) => `requests.${name}`),
  ...computed.map((name) => `limits.${name}`),
]);
/** If one of these is limited, every container must set it. */
const insisted: ReadonlySet<string> = new Set(
  ['cpu', 'memory'].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
);
const devicePrefix = 'deviceclass.resource.kubernetes.io/';

export const podEvaluator: Evaluator = {
  handles({ operation, subresource, object, old }) {
    if (subresource === 'resize') return operation === 'UPDATE';
    if (subresource !== '') return false;
    // A deadline moves a pod from one scope to another.
    return operation === 'CREATE' || (operation === 'UPDATE' && hasDeadline(object!) !== hasDeadline(old!));
  },
  counts: (name) =>
    names.has(name) ||
    name.startsWith('hugepages-') ||
    name.startsWith('requests.hugepages-') ||
    isExtendedRequest(name),
  usage(object, nowMs) {
    const pod = object as SizedPod;
    const usage: MutableAmounts = new Map([[countOfPods, count(1)]]);
    if (!isRunning(pod, nowMs)) return usage;
    const options = { countsStatus: true };
    addInto(usage, computeUsage(podTotal(pod, 'requests', options), podTotal(pod, 'limits', options)));
    return usage;
  },
  endsAtMs(object, nowMs) {
    const endsAtMs = isRunning(object as SizedPod, nowMs) ? lastMomentMs(object) + 1 : Infinity;
    return endsAtMs === Infinity ? undefined : endsAtMs;
  },
  matchesScope(selector, object) {
    const spec = sizedSpecOf(object);
    switch (selector.scope) {
      case 'Terminating':
        return hasDeadline(object);
      case 'NotTerminating':
        return !hasDeadline(object);
      case 'BestEffort':
        return isBestEffort(object);
      case 'NotBestEffort':
        return !isBestEffort(object);
      case 'PriorityClass':
        return matchesName(selector, spec.priorityClassName || undefined);
      case 'CrossNamespacePodAffinity':
        return isCrossNamespace(spec.affinity?.podAffinity) || isCrossNamespace(spec.affinity?.podAntiAffinity);
      default:
        return false;
    }
  },
  problem(limited, object) {
    const spec = sizedSpecOf(object);
    if (saysItself(spec)) return undefined;
    const required = limited.filter((name) => insisted.has(name)).sort();
    const missing = new Map<string, Set<string>>();
    for (const { name: container = '', resources } of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
      const usage = computeUsage(amountsOf(resources?.requests), amountsOf(resources?.limits));
      for (const name of required) {
        if (usage.has(name)) continue;
        const containers = missing.get(name) ?? new Set();
        missing.set(name, containers.add(container));
      }
    }
    if (missing.size === 0) return undefined;
    const texts = required.flatMap((name) =>
      missing.has(name) ? [`${name} for: ${[...missing.get(name)!].sort().join(',')}`] : [],
    );
    return `must specify ${texts.join('; ')}`;
  },
};

const hasDeadline = (pod: KubeObject): boolean => (sizedSpecOf(pod).activeDeadlineSeconds ?? -1) >= 0;

const isBestEffort = (pod: KubeObject): boolean => (pod as SizedPod).status?.qosClass === 'BestEffort';

const crosses = (term: AffinityTerm | null | undefined): boolean =>
  !!term && ((term.namespaces?.length ?? 0) > 0 || (term.namespaceSelector ?? undefined) !== undefined);

const isCrossNamespace = (rules: AffinityRules | null | undefined): boolean =>
  (rules?.requiredDuringSchedulingIgnoredDuringExecution?.some(crosses) ||
    rules?.preferredDuringSchedulingIgnoredDuringExecution?.some((one) => crosses(one.podAffinityTerm))) ??
  false;

/** Reports whether the pod sets resources for all of its containers. */
const saysItself = ({ resources }: SizedPodSpec): boolean =>
  [...Object.keys(resources?.requests ?? {}), ...Object.keys(resources?.limits ?? {})].some(isOfPods);

/** Terminated pods, and those that should have terminated, count only as stored objects. */
function isRunning(pod: SizedPod, nowMs: number): boolean {
  const { phase } = pod.status ?? {};
  return phase !== 'Failed' && phase !== 'Succeeded' && nowMs <= lastMomentMs(pod);
}

/** Time at which a pod that is being deleted should have terminated. */
function lastMomentMs({ metadata }: KubeObject): number {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return Infinity;
  const { seconds } = parseTime(deletionTimestamp, 'second');
  return (Number(seconds) + deletionGracePeriodSeconds) * 1_000;
}

function computeUsage(requests: Amounts, limits: Amounts): MutableAmounts {
  const usage: MutableAmounts = new Map([['pods', count(1)]]);
  for (const name of computed) {
    const [request, limit] = [requests.get(name), limits.get(name)];
    if (request) usage.set(name, request).set(`requests.${name}`, request);
    if (limit) usage.set(`limits.${name}`, limit);
  }
  for (const [name, request] of requests) {
    if (name.startsWith('hugepages-')) usage.set(name, request).set(`requests.${name}`, request);
    else if (name.startsWith(devicePrefix) || isExtendedResource(name)) usage.set(`requests.${name}`, request);
  }
  return usage;
}

const isExtendedRequest = (name: string): boolean =>
  name.startsWith('requests.') && (!isNativeResource(name) || name.startsWith(`requests.${devicePrefix}`));
