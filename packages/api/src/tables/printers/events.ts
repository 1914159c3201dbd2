/** Events of both groups: one kind in storage, with two sets of names. */

import type { KubeObject } from '../../object.ts';
import { since } from '../age.ts';
import { printer } from './printer.ts';
import type { Printers } from './printer.ts';

interface Source {
  readonly component?: string;
  readonly host?: string;
}

interface Reference {
  readonly kind?: string;
  readonly name?: string;
  readonly fieldPath?: string;
}

interface EventCommon {
  readonly type?: string;
  readonly reason?: string;
  readonly eventTime?: string | null;
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string | null };
  readonly reportingInstance?: string;
}

interface CoreEvent extends EventCommon {
  readonly involvedObject?: Reference;
  readonly message?: string;
  readonly source?: Source;
  readonly firstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
  readonly count?: number;
  readonly reportingComponent?: string;
}

interface GroupEvent extends EventCommon {
  readonly regarding?: Reference;
  readonly note?: string;
  readonly deprecatedSource?: Source;
  readonly deprecatedFirstTimestamp?: string | null;
  readonly deprecatedLastTimestamp?: string | null;
  readonly deprecatedCount?: number;
  readonly reportingController?: string;
}

const asCoreEvent = (event: KubeObject & GroupEvent): KubeObject & CoreEvent => ({
  ...event,
  involvedObject: event.regarding ?? {},
  message: event.note ?? '',
  source: event.deprecatedSource ?? {},
  firstTimestamp: event.deprecatedFirstTimestamp ?? null,
  lastTimestamp: event.deprecatedLastTimestamp ?? null,
  count: event.deprecatedCount ?? 0,
  reportingComponent: event.reportingController ?? '',
});

function targetCell({ kind = '', name }: Reference = {}): string {
  return name ? `${kind.toLowerCase()}/${name}` : kind.toLowerCase();
}

function sourceCell({ source, reportingComponent = '', reportingInstance }: CoreEvent): string {
  const component = source?.component || reportingComponent;
  const instance = source?.host || reportingInstance;
  return instance ? `${component}, ${instance}` : component;
}

function eventCells(event: KubeObject & CoreEvent, now: number): unknown[] {
  const { firstTimestamp, lastTimestamp, eventTime, series } = event;
  const first = since(firstTimestamp ?? eventTime, now);
  const last = series
    ? since(series.lastObservedTime, now)
    : lastTimestamp !== undefined && lastTimestamp !== null
      ? since(lastTimestamp, now)
      : first;
  return [
    last,
    event.type ?? '',
    event.reason ?? '',
    targetCell(event.involvedObject),
    event.involvedObject?.fieldPath ?? '',
    sourceCell(event),
    (event.message ?? '').trim(),
    first,
    // Events that were recorded once carry no count.
    series ? (series.count ?? 0) : event.count || 1,
    event.metadata.name,
  ];
}

export const eventPrinters: Printers = {
  '/Event': printer<CoreEvent>(eventCells),
  'events.k8s.io/Event': printer<GroupEvent>((event, now) => eventCells(asCoreEvent(event), now)),
};
