/** Fields of pods whose features are off in Kubernetes 1.36: dropped, unless the old object has one of them. */

import { isAbsent, objectAt, objectsAt } from '../../defaults/access.ts';
import type { JsonObject } from '../../object.ts';

/** The new spec in place; the old one is absent on creation. */
export function dropDisabledPodFields(spec: JsonObject | undefined, old: JsonObject | undefined): void {
  if (spec === undefined) return;
  if (Object.hasOwn(spec, 'schedulingGroup') && isAbsent(old?.['schedulingGroup'])) delete spec['schedulingGroup'];
  const projections = projectionsOf(spec);
  if (projections.length > 0) {
    dropProjection(projections, old, 'clusterTrustBundle');
    dropProjection(projections, old, 'podCertificate');
  }
  dropStopSignals(spec, old);
}

function projectionsOf(spec: JsonObject | undefined): JsonObject[] {
  const sources: JsonObject[] = [];
  for (const volume of objectsAt(spec, 'volumes')) {
    const projected = objectAt(volume, 'projected');
    if (projected) sources.push(...objectsAt(projected, 'sources'));
  }
  return sources;
}

function dropProjection(projections: readonly JsonObject[], old: JsonObject | undefined, name: string): void {
  const given = projections.filter((source) => Object.hasOwn(source, name));
  if (given.length === 0 || projectionsOf(old).some((source) => !isAbsent(source[name]))) return;
  for (const source of given) delete source[name];
}

const containerLists = ['initContainers', 'containers', 'ephemeralContainers'];

export function containersOf(spec: JsonObject | undefined): JsonObject[] {
  const containers: JsonObject[] = [];
  for (const name of containerLists) for (const container of objectsAt(spec, name)) containers.push(container);
  return containers;
}

const stopsBySignal = (container: JsonObject): boolean => !isAbsent(objectAt(container, 'lifecycle')?.['stopSignal']);

function dropStopSignals(spec: JsonObject, old: JsonObject | undefined): void {
  const stopped = containersOf(spec).filter(stopsBySignal);
  if (stopped.length === 0 || containersOf(old).some(stopsBySignal)) return;
  for (const container of stopped) {
    const lifecycle = objectAt(container, 'lifecycle')!;
    delete lifecycle['stopSignal'];
    if (isAbsent(lifecycle['preStop']) && isAbsent(lifecycle['postStart'])) delete container['lifecycle'];
  }
}
