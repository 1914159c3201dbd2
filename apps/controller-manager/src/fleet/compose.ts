/**
 * Composes a cluster from the objects that represent it. Pure. Of several objects the oldest counts, separately for each service: one
 * registration may be for the controllers of a control plane, another for its scheduler.
 *
 *   objects, oldest first   r1 {controllers}   r2 {controllers, scheduler}   r3 {scheduler}
 *   counts for              controllers        scheduler                     nothing
 *
 * The last known address of an object stays valid until it has another one: operators remove the address while a control plane is not
 * ready, and running programs must not stop for that.
 */

import { isDeepStrictEqual } from 'node:util';
import type { ObjectKey } from '@hangar/client';
import type { FleetCluster, Service, ServiceSource, SourceObject } from '../contract.ts';
import { serviceSet } from './service-sets.ts';

/** An object that represents a cluster. */
export interface Candidate {
  readonly source: SourceObject;
  readonly services: ReadonlySet<Service>;
  readonly labels: Readonly<Record<string, string>>;
  readonly address: string | undefined;
  readonly secret: ObjectKey | undefined;
  /** The Secret that it names, and that must not be read. */
  readonly outOfScope?: ObjectKey | undefined;
}

/** `candidates`: the oldest first. `before`: the cluster as last reported; returned again when nothing has changed. */
export function composed(
  name: string,
  candidates: readonly Candidate[],
  before: FleetCluster | undefined,
): FleetCluster | undefined {
  const sources = new Map<Service, Candidate>();
  for (const candidate of candidates) {
    for (const service of candidate.services) if (!sources.has(service)) sources.set(service, candidate);
  }
  const first = candidates.find((one) => sources.values().some((counting) => counting === one));
  if (!first) return undefined;
  const isShared = new Set(sources.values()).size > 1;
  const { address, secret } = reached(first, before);
  const cluster: FleetCluster = {
    name,
    source: first.source,
    services: serviceSet(sources.keys()),
    labels: first.labels,
    address,
    secret,
    ...(isShared ? { sources: new Map(sources.entries().map(([key, one]) => [key, reached(one, before)])) } : {}),
  };
  return before !== undefined && isDeepStrictEqual(before, cluster) ? before : cluster;
}

/** Returns the cluster as seen by one of its services. */
export function ofService(cluster: FleetCluster, service: Service): FleetCluster {
  const own = cluster.sources?.get(service);
  if (!own) return cluster;
  const { kind, name, uid, address, secret } = own;
  return { ...cluster, source: { kind, name, uid }, address, secret };
}

function reached({ source, address, secret, outOfScope }: Candidate, before: FleetCluster | undefined): ServiceSource {
  const told = before && toldOf(source, before);
  if (outOfScope !== undefined || !told) return { ...source, address, secret };
  if (secret === undefined) return { ...source, address: told.address ?? address, secret: told.secret };
  // Endpoints always have a Secret, also without an address.
  const isSameSecret = told.secret?.namespace === secret.namespace && told.secret?.name === secret.name;
  return { ...source, address: address ?? (isSameSecret ? told.address : undefined), secret };
}

/** Returns the address and Secret that the object had before. */
function toldOf({ uid }: SourceObject, { source, sources, address, secret }: FleetCluster) {
  return source.uid === uid ? { address, secret } : sources?.values().find((one) => one.uid === uid);
}
