/** The two APIs for writing events; servers convert between them. */

import { formatTime } from '@hangar/api/values';
import type { ApiObject, Draft, Kind } from '@hangar/client';
import { Event as CoreEvent } from '@hangar/client/kinds/core-v1';
import { Event } from '@hangar/client/kinds/events-v1';
import type { Series } from './series.ts';

/** API group and version of recorded Events. */
export type EventApiName = 'events.k8s.io/v1' | 'v1';

export interface Reporter {
  readonly component: string;
  readonly instance: string;
}

export interface EventApi<T extends ApiObject = ApiObject> {
  readonly kind: Kind<T>;
  /** Includes the series, if it exists by now. */
  draft(series: Series, reporter: Reporter): Draft<T>;
  /** Returns the patch for a repeated event. */
  change(series: Series): object;
}

/** Only the series of such an event may change. */
const eventsV1: EventApi<Event> = {
  kind: Event,
  draft: (series, { component, instance }) => ({
    metadata: metadataOf(series),
    eventTime: microTime(series.firstAtMs),
    reportingController: component,
    reportingInstance: instance,
    type: series.first.type,
    reason: series.first.reason,
    action: series.first.action,
    note: series.first.note,
    regarding: series.first.regarding,
    ...(series.first.related ? { related: series.first.related } : {}),
    ...(series.count > 1 ? seriesOf(series) : {}),
  }),
  change: seriesOf,
};

/** For older servers and readers: shows the message of the last event. */
const coreV1: EventApi<CoreEvent> = {
  kind: CoreEvent,
  draft: (series, { component, instance }) => ({
    metadata: metadataOf(series),
    involvedObject: series.first.regarding,
    source: { component },
    reportingComponent: component,
    reportingInstance: instance,
    type: series.first.type,
    reason: series.first.reason,
    action: series.first.action,
    firstTimestamp: time(series.firstAtMs),
    ...(series.first.related ? { related: series.first.related } : {}),
    ...coreChange(series),
  }),
  change: coreChange,
};

export const eventApis: Readonly<Record<EventApiName, EventApi>> = {
  'events.k8s.io/v1': eventsV1 as unknown as EventApi,
  v1: coreV1 as unknown as EventApi,
};

/** Events about cluster-scoped objects are in `default`, as in Kubernetes. */
export const namespaceOf = ({ first }: Series): string => first.regarding.namespace ?? 'default';

const metadataOf = (series: Series) => ({ namespace: namespaceOf(series), name: series.name });

function seriesOf({ count, lastAtMs }: Series): { series: NonNullable<Event['series']> } {
  return { series: { count, lastObservedTime: microTime(lastAtMs) } };
}

function coreChange({ count, note, lastAtMs }: Series): Pick<CoreEvent, 'count' | 'message' | 'lastTimestamp'> {
  return { count, message: note, lastTimestamp: time(lastAtMs) };
}

const time = (ms: number): string => formatTime(Math.floor(ms / 1000), 'second')!;

const microTime = (ms: number): string => {
  const seconds = Math.floor(ms / 1000);
  return formatTime(seconds, 'micro', Math.floor((ms - seconds * 1000) * 1e6))!;
};
