/** One object in another served version of its kind. Most kinds have one version, or versions that differ by name only. */

import type { KubeObject } from '../../object.ts';
import { toV1Autoscaler, toV2Autoscaler } from './autoscaler.ts';
import { toCoreEvent, toEventsEvent } from './event.ts';

const conversions: Readonly<Record<string, (object: KubeObject) => KubeObject>> = {
  'autoscaling/v1 HorizontalPodAutoscaler → autoscaling/v2': toV2Autoscaler,
  'autoscaling/v2 HorizontalPodAutoscaler → autoscaling/v1': toV1Autoscaler,
  'v1 Event → events.k8s.io/v1': toEventsEvent,
  'events.k8s.io/v1 Event → v1': toCoreEvent,
};

/** The argument itself when it is of that version already; else a new object that may share parts with it. */
export function convert(object: KubeObject, toApiVersion: string): KubeObject {
  if (object.apiVersion === toApiVersion) return object;
  const key = `${object.apiVersion} ${object.kind} → ${toApiVersion}`;
  const converted = Object.hasOwn(conversions, key) ? conversions[key]!(object) : { ...object };
  converted.apiVersion = toApiVersion;
  return converted;
}
