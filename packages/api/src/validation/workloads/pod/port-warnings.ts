/** Ports of containers that get in each other's way. */

import { child, index, quote } from '../../../status/field-error.ts';
import type { ContainerPort } from '../types/pod.ts';
import type { Visited } from './containers-of.ts';

interface Place {
  readonly path: string;
  readonly port: ContainerPort;
}

export function portWarnings(containers: readonly Visited[]): string[] {
  const places = containers.flatMap(({ container, path }) =>
    (container.ports ?? []).map((port, i): Place => ({ path: index(child(path, 'ports'), i), port })),
  );
  return [...overlaps(places), ...repeatedNames(places)];
}

function overlaps(places: readonly Place[]): string[] {
  const warnings: string[] = [];
  const known = new Map<string, Place[]>();
  for (const place of places) {
    const { port, path } = place;
    const { containerPort = 0, protocol = '', hostIP = '', hostPort = 0, name = '' } = port;
    if (hostIP !== '' && hostPort === 0) {
      const shown = `{Name:${name} HostPort:0 ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`;
      warnings.push(`${path}: hostIP set without hostPort: ${shown}`);
    }
    const same = `${containerPort}/${protocol}`;
    const others = known.get(same) ?? [];
    for (const other of others) {
      const relation = relationOf(port, other.port);
      if (relation) warnings.push(`${path}: ${relation} port definition with ${other.path}`);
    }
    known.set(same, [...others, place]);
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
  const known = new Map<string, string>();
  return places.flatMap(({ path, port: { name = '' } }) => {
    const other = known.get(name);
    if (name !== '' && other === undefined) known.set(name, path);
    if (name === '' || other === undefined) return [];
    return [
      `${path}: duplicate port name ${quote(name)} with ${other}, services and probes that select ports by name will use ${other}`,
    ];
  });
}
