/** Rows of the registry's table for tests. */

import type { ClusterRow, Engine, Service, ServiceSource, ServiceState } from '../../contract.ts';

export interface RowOptions {
  readonly isOwned?: boolean;
  readonly engine?: Engine['name'];
  readonly labels?: Readonly<Record<string, string>>;
  readonly sources?: Readonly<Partial<Record<Service, ServiceSource>>>;
}

/** Ready by default. */
export const state = (changes: Partial<ServiceState> = {}): ServiceState => ({
  phase: 'Ready',
  reason: 'Ready',
  message: 'at work',
  restarts: 0,
  ...changes,
});

export const processAt = (port: number, pid = 4_000_000 + port) => ({
  process: { pid, port, startedAt: new Date('2026-01-01T00:00:00Z') },
});

/** Registered for the services that it has states of; `undefined` is a state that is not reported yet. */
export function row(
  name: string,
  states: Partial<Record<Service, ServiceState | undefined>> = { controllers: state() },
  { isOwned = true, engine = 'kube', labels = {}, sources = {} }: RowOptions = {},
): ClusterRow {
  const services = new Set(Object.keys(states) as Service[]);
  const known = Object.entries(states).filter(([, one]) => one !== undefined) as [Service, ServiceState][];
  return {
    cluster: {
      name,
      source: { kind: 'ControlPlaneRegistration', name: `${name}-registration`, uid: `uid-of-${name}` },
      sources: new Map(Object.entries(sources) as [Service, ServiceSource][]),
      services,
      labels,
      address: undefined,
      secret: undefined,
    },
    isOwned,
    engines: new Map(isOwned ? Array.from(services, (service) => [service, engine]) : []),
    states: new Map(isOwned ? known : []),
  };
}
