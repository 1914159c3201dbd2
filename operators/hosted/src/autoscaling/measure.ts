/** Measures all ready API servers of a control plane once. */

import type { Reader } from '@hangar/client';
import { Pod } from '@hangar/client/kinds/core-v1';
import { asError, eachAtOnce } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { isBeingDeleted } from '@hangar/runtime';
import type { AutoscalingMetrics } from '../metrics/autoscaling-metrics.ts';
import { loadBetween, totalLoad } from './load.ts';
import type { PodLoad, TimedSample } from './load.ts';
import type { Load } from './recommend.ts';
import type { Scrape, ScrapeTarget } from './scrape.ts';

/** API servers of one control plane that are measured at the same time. */
const podsAtOnce = 4;

export interface Measurement {
  /** Absent: no API server was measured. */
  readonly load: Load | undefined;
  /** Why an API server was not measured. Absent: all were, or start at the moment. */
  readonly fault: string | undefined;
  readonly ready: number;
}

export interface MeasureOptions {
  readonly clock: Clock;
  readonly scrape: Scrape;
  readonly metrics: Pick<AutoscalingMetrics, 'scraped'>;
  /** A started API server fills its caches for this time, which is not load. */
  readonly warmUpMs: number;
  readonly apiReader: Reader;
  readonly namespace: string;
  /** Of the pods. */
  readonly selector: string;
  readonly target: Omit<ScrapeTarget, 'host'>;
  readonly signal: AbortSignal;
}

/** `samples`: the last one of each pod by its uid; replaced by the new ones. Rejects with errors of the management cluster. */
export async function measure(options: MeasureOptions, samples: Map<string, TimedSample>): Promise<Measurement> {
  const { clock, apiReader, namespace, selector: labelSelector, warmUpMs, signal } = options;
  const { items } = await apiReader.list(Pod, { namespace, labelSelector, signal });
  const pods = items.filter(isMeasurable).toSorted((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1));
  const known = new Map(samples);
  samples.clear();
  const loads: PodLoad[] = [];
  const faults = new Map<Pod, string>();
  await eachAtOnce(podsAtOnce, pods, async (pod) => {
    const uid = pod.metadata.uid!;
    try {
      const sample = await scraped(options, pod);
      const before = known.get(uid);
      const load = before && loadBetween(before, sample);
      samples.set(uid, sample);
      if (load && clock.now() - readySinceMs(pod) >= warmUpMs) loads.push(load);
    } catch (error) {
      signal.throwIfAborted();
      faults.set(pod, `Pod ${JSON.stringify(pod.metadata.name)} cannot be measured: ${asError(error).message}`);
    }
  });
  const first = pods.find((pod) => faults.has(pod));
  const fault = pods.length === 0 ? 'no API server is ready' : first && faults.get(first);
  return { load: totalLoad(loads, pods.length), fault, ready: pods.length };
}

const isMeasurable = (pod: Pod): boolean =>
  !isBeingDeleted(pod) && pod.status?.podIP !== undefined && readyCondition(pod)?.status === 'True';

const readyCondition = ({ status }: Pod) => status?.conditions?.find(({ type }) => type === 'Ready');
const readySinceMs = (pod: Pod): number => Date.parse(readyCondition(pod)?.lastTransitionTime ?? '') || 0;

async function scraped({ clock, scrape, metrics, target, signal }: MeasureOptions, pod: Pod): Promise<TimedSample> {
  const startedMs = clock.monotonicMs();
  let isOk = false;
  try {
    const sample = await scrape({ ...target, host: pod.status!.podIP! }, signal);
    isOk = true;
    return { ...sample, atMs: startedMs };
  } finally {
    metrics.scraped((clock.monotonicMs() - startedMs) / 1_000, isOk);
  }
}
