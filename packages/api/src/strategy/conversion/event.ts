/** Events: `v1` and `events.k8s.io/v1` are the same objects under other field names. */

import type { KubeObject } from '../../object.ts';

const names: readonly (readonly [core: string, events: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
];

const toEvents = new Map(names);
const toCore = new Map(names.map(([core, events]) => [events, core]));

export const toEventsEvent = (event: KubeObject): KubeObject => rename(event, toEvents);
export const toCoreEvent = (event: KubeObject): KubeObject => rename(event, toCore);

function rename(event: KubeObject, table: ReadonlyMap<string, string>): KubeObject {
  const entries = Object.entries(event).map(([name, value]) => [table.get(name) ?? name, value]);
  return Object.fromEntries(entries) as KubeObject;
}
