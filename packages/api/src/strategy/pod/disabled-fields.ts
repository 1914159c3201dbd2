/** Fields of pods whose features are off in Kubernetes 1.36: dropped, unless the old object has one of them. */

import { isAbsent, objectAt, objectsAt } from '../../defaults/access.ts';
import type { JsonObject } from '../../object.ts';

/** The new spec in place; the old one is absent on creation. */
export function dropDisabledPodFields(spec: JsonObject | undefined, old: JsonObject | undefined): void {
  if (spec === undefined) return;
  if (isAbsent(old?.['schedulingGroup'])) delete spec['schedulingGroup'];
  dropProjection(spec, old, 'clusterTrustBundle');
  dropProjection(spec, old, 'podCertificate');
  dropStopSignals(spec, old);
}

const projectionsOf = (spec: JsonObject | undefined): JsonObject[] =>
  objectsAt(spec, 'volumes').flatMap((volume) => objectsAt(objectAt(volume, 'projected'), 'sources'));

function dropProjection(spec: JsonObject, old: JsonObject | undefined, name: string): void {
  if (projectionsOf(old).some((source) => !isAbsent(source[name]))) return;
  for (const source of projectionsOf(spec)) delete source[name];
}

const containerLists = ['initContainers', 'containers', 'ephemeralContainers'];

export const containersOf = (spec: JsonObject | undefined): JsonObject[] =>
  containerLists.flatMap((name) => objectsAt(spec, name));

const stopsBySignal = (container: JsonObject): boolean => !isAbsent(objectAt(container, 'lifecycle')?.['stopSignal']);

function dropStopSignals(spec: JsonObject, old: JsonObject | undefined): void {
  if (containersOf(old).some(stopsBySignal)) return;
  for (const container of containersOf(spec).filter(stopsBySignal)) {
    const lifecycle = objectAt(container, 'lifecycle')!;
    delete lifecycle['stopSignal'];
    if (isAbsent(lifecycle['preStop']) && isAbsent(lifecycle['postStart'])) delete container['lifecycle'];
  }
}
