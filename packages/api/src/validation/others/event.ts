/**
 * Event, in both its forms. Kubernetes validates them as one, and so does this: `events.k8s.io/v1` is converted to the core form, whose
 * names the errors use.
 */

import type { JsonObject, KubeObject } from '../../object.ts';
import { invalid, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import type { KindValidation } from '../contract.ts';
import { byteLength } from '../formats.ts';
import { dnsSubdomainErrors, immutableErrors, qualifiedNameErrors, requiredErrors } from '../shared/checks.ts';
import { equalValues } from '../shared/equal.ts';
import { isSet, numberOf, optionalStruct, structOf, textOf } from '../shared/read.ts';

interface Event {
  readonly namespace: string;
  readonly involvedObject: JsonObject;
  readonly related: JsonObject | undefined;
  readonly source: JsonObject;
  readonly series: JsonObject | undefined;
  readonly reason: string;
  readonly message: string;
  readonly action: string;
  readonly type: string;
  readonly count: number;
  readonly eventTime: string;
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
  readonly reportingController: string;
  readonly reportingInstance: string;
}

const read = (object: KubeObject, isCore: boolean): Event => ({
  namespace: object.metadata.namespace ?? '',
  involvedObject: structOf(object, isCore ? 'involvedObject' : 'regarding'),
  related: optionalStruct(object, 'related'),
  source: structOf(object, isCore ? 'source' : 'deprecatedSource'),
  series: optionalStruct(object, 'series'),
  reason: textOf(object, 'reason'),
  message: textOf(object, isCore ? 'message' : 'note'),
  action: textOf(object, 'action'),
  type: textOf(object, 'type'),
  count: numberOf(object, isCore ? 'count' : 'deprecatedCount'),
  eventTime: textOf(object, 'eventTime'),
  firstTimestamp: textOf(object, isCore ? 'firstTimestamp' : 'deprecatedFirstTimestamp'),
  lastTimestamp: textOf(object, isCore ? 'lastTimestamp' : 'deprecatedLastTimestamp'),
  reportingController: textOf(object, isCore ? 'reportingComponent' : 'reportingController'),
  reportingInstance: textOf(object, 'reportingInstance'),
});

/** Checks of both forms since events have an `eventTime`. */
function commonErrors(event: Event, isCore: boolean): FieldError[] {
  const errors = namespaceErrors(event);
  if (event.eventTime !== '') errors.push(...reportErrors(event, isCore));
  return [...errors, ...dnsSubdomainErrors('namespace', event.namespace)];
}

function namespaceErrors({ namespace, involvedObject, eventTime }: Event): FieldError[] {
  const involved = textOf(involvedObject, 'namespace');
  const free = eventTime === '' ? ['', 'default'] : ['default', 'kube-system'];
  const isFine = involved === '' ? free.includes(namespace) : eventTime !== '' || involved === namespace;
  return isFine ? [] : [invalid('involvedObject.namespace', involved, 'does not match event.namespace')];
}

const atMost = (path: string, text: string, max: number): FieldError[] =>
  byteLength(text) > max ? [invalid(path, '', `can have at most ${max} characters`)] : [];

function reportErrors(event: Event, isCore: boolean): FieldError[] {
  const controllerPath = isCore ? 'reportingComponent' : 'reportingController';
  return [
    ...requiredErrors(controllerPath, event.reportingController),
    ...qualifiedNameErrors(controllerPath, event.reportingController),
    ...(['reportingInstance', 'action', 'reason'] as const).flatMap((field) => [
      ...requiredErrors(field, event[field]),
      ...atMost(field, event[field], 128),
    ]),
    ...atMost('message', event.message, 1024),
  ];
}

function seriesErrors({ series }: Event): FieldError[] {
  if (!series) return [];
  return [
    ...(numberOf(series, 'count') < 2 ? [invalid('series.count', '', 'should be at least 2')] : []),
    ...(isSet(series, 'lastObservedTime') ? [] : [required('series.lastObservedTime', '')]),
  ];
}

function newErrors(event: Event): FieldError[] {
  const hasSource = textOf(event.source, 'component') !== '' || textOf(event.source, 'host') !== '';
  const mustBeUnset: readonly (readonly [path: string, isSet: boolean])[] = [
    ['firstTimestamp', event.firstTimestamp !== ''],
    ['lastTimestamp', event.lastTimestamp !== ''],
    ['count', event.count !== 0],
    ['source', hasSource],
  ];
  return [
    ...seriesErrors(event),
    ...requiredErrors('eventTime', event.eventTime),
    ...(['Normal', 'Warning'].includes(event.type) ? [] : [invalid('type', '', `has invalid value: ${event.type}`)]),
    ...mustBeUnset.filter(([, wrong]) => wrong).map(([path]) => invalid(path, '', 'needs to be unset')),
  ];
}

const shownReference = (reference: JsonObject | undefined): JsonObject | null =>
  reference
    ? {
        Kind: textOf(reference, 'kind'),
        Namespace: textOf(reference, 'namespace'),
        Name: textOf(reference, 'name'),
        UID: textOf(reference, 'uid'),
        APIVersion: textOf(reference, 'apiVersion'),
        ResourceVersion: textOf(reference, 'resourceVersion'),
        FieldPath: textOf(reference, 'fieldPath'),
      }
    : null;
const shownSource = (source: JsonObject): JsonObject => ({
  Component: textOf(source, 'component'),
  Host: textOf(source, 'host'),
});

/** An event is immutable, except its series. */
function changeErrors(event: Event, old: Event): FieldError[] {
  const same = (field: keyof Event, shown?: unknown): readonly FieldError[] =>
    immutableErrors(field, event[field], old[field], shown);
  const sameTime = (field: 'firstTimestamp' | 'lastTimestamp' | 'eventTime'): readonly FieldError[] =>
    same(field, event[field] === '' ? null : event[field]);
  return [
    ...(equalValues(event.series, old.series) ? [] : seriesErrors(event)),
    ...same('involvedObject', shownReference(event.involvedObject)),
    ...same('reason'),
    ...same('message'),
    ...same('source', shownSource(event.source)),
    ...sameTime('firstTimestamp'),
    ...sameTime('lastTimestamp'),
    ...same('count'),
    ...same('reason'),
    ...same('type'),
    ...sameTime('eventTime'),
    ...same('action'),
    ...same('related', shownReference(event.related)),
    ...same('reportingController'),
    ...same('reportingInstance'),
  ];
}

export const coreEvent: KindValidation = {
  create: (object) => commonErrors(read(object, true), true),
  update: (object) => commonErrors(read(object, true), true),
};

export const event: KindValidation = {
  create(object) {
    const one = read(object, false);
    return [...commonErrors(one, false), ...newErrors(one)];
  },
  update(object, old) {
    const one = read(object, false);
    return [...commonErrors(one, false), ...changeErrors(one, read(old, false))];
  },
};
