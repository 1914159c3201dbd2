/** Ports of containers that get in each other's way. */

import { child, index, quote } from '../../../status/field-error.ts';
import type { ContainerPort } from '../types/pod.ts';
import type { Visited } from './containers-of.ts';

interface Place {
  /** Of the container. */
  readonly path: string;
  readonly index: number;
  readonly port: ContainerPort;
}

const pathOf = (place: Place): string => index(child(place.path, 'ports'), place.index);

export function portWarnings(containers: readonly Visited[]): string[] {
  const places: Place[] = [];
  for (const { container, path } of containers) {
    for (const [i, port] of (container.ports ?? []).entries()) places.push({ path, index: i, port });
  }
  return [...overlaps(places), ...repeatedNames(places)];
}

function overlaps(places: readonly Place[]): string[] {
  const warnings: string[] = [];
  const known = new Map<string, Place[]>();
  for (const place of places) {
    const { port } = place;
    const { containerPort = 0, protocol = '', hostIP = '', hostPort = 0, name = '' } = port;
    if (hostIP !== '' && hostPort === 0) {
      const shown = `{Name:${name} HostPort:0 ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`;
      warnings.push(`${pathOf(place)}: hostIP set without hostPort: ${shown}`);
    }
    const same = `${containerPort}/${protocol}`;
    const others = known.get(same);
    if (!others) {
      known.set(same, [place]);
      continue;
    }
    for (const other of others) {
      const relation = relationOf(port, other.port);
      if (relation) warnings.push(`${pathOf(place)}: ${relation} port definition with ${pathOf(other)}`);
    }
    others.push(place);
  }
  return warnings;
}

function relationOf(
  { hostIP = '', hostPort = 0 }: ContainerPort,
  { hostIP: otherIP = '', hostPort: otherPort = 0 }: ContainerPort,
): string | undefined {
  if (hostIP === otherIP && hostPort === otherPort) return 'duplicate';
  if (hostPort === 0 || otherPort === 0) return 'overlapping';
  return hostPort === otherPort && (hostIP === '') !== (otherIP === '') ? 'dangerously ambiguous' : undefined;
}

function repeatedNames(places: readonly Place[]): string[] {
  const warnings: string[] = [];
  const known = new Map<string, Place>();
  for (const place of places) {
    const { name = '' } = place.port;
    if (name === '') continue;
    const first = known.get(name);
    if (!first) {
      known.set(name, place);
      continue;
    }
    const [path, other] = [pathOf(place), pathOf(first)];
    warnings.push(
      `${path}: duplicate port name ${quote(name)} with ${other}, services and probes that select ports by name will use ${other}`,
    );
  }
  return warnings;
}
