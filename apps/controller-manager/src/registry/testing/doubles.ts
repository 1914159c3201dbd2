/** Test doubles of the registry: a recording engine, and a fleet and a coordinator that the test controls. */

import type { Claim, Coordinator, Ownership } from '@hangar/runtime/clusters';
import { aborted } from '@hangar/core';
import type {
  Assignment,
  Engine,
  Fleet,
  FleetCluster,
  FleetListener,
  Service,
  ServiceState,
  Serving,
  SourceObject,
} from '../../contract.ts';
import type { Announcements } from '../seat.ts';

export function clusterOf(
  name: string,
  asked: readonly Service[] = ['controllers'],
  uid = `uid-${name}`,
): FleetCluster {
  const source: SourceObject = { kind: 'ControlPlaneRegistration', name, uid };
  const secret = { namespace: 'kplane-cp', name: `${name}-kubeconfig` };
  return { name, source, services: new Set(asked), labels: {}, address: undefined, secret };
}

/** Records running services and violations. */
export class RecordingEngine implements Engine {
  readonly name = 'kube';
  readonly running = new Map<string, Assignment>();
  readonly begun: string[] = [];
  /** Two at a time, or one without ownership. */
  readonly violations: string[] = [];
  /** While true, stops do not complete by themselves. */
  isSlow = false;
  readonly #ends: (() => void)[] = [];

  serve(assignment: Assignment): Serving {
    const key = `${assignment.cluster.name}/${assignment.service}`;
    if (this.running.has(key)) this.violations.push(`two of ${key}`);
    if (assignment.ownership.signal.aborted) this.violations.push(`${key} without a right`);
    this.running.set(key, assignment);
    this.begun.push(key);
    let stopped: Promise<void> | undefined;
    return {
      update: (cluster) => {
        if (stopped === undefined) this.running.set(key, { ...assignment, cluster });
      },
      stop: () =>
        (stopped ??= new Promise((resolve) => {
          const end = (): void => {
            this.running.delete(key);
            resolve();
          };
          if (this.isSlow) this.#ends.push(end);
          else setImmediate(end);
        })),
    };
  }

  endAll(): void {
    for (const end of this.#ends.splice(0)) end();
  }
}

export class ToldFleet implements Fleet {
  listener!: FleetListener;

  async follow(listener: FleetListener, signal: AbortSignal): Promise<void> {
    this.listener = listener;
    await aborted(signal);
  }
}

/** Grants and revokes clusters on demand; reports the current owners. */
export class HandCoordinator implements Coordinator {
  readonly claims = new Map<string, Claim>();
  readonly #held = new Map<string, { readonly ended: AbortController; readonly claim: Claim }>();

  follow({ name }: { name: string }, claim: Claim): () => void {
    this.claims.set(name, claim);
    return () => {
      if (this.claims.get(name) === claim) this.claims.delete(name);
      if (this.#held.get(name)?.claim === claim) void this.take(name);
    };
  }

  changed(): void {}

  give(name: string): void {
    const claim = this.claims.get(name);
    if (!claim || this.#held.has(name)) return;
    const ended = new AbortController();
    this.#held.set(name, { ended, claim });
    const ownership: Ownership = {
      token: 1,
      signal: ended.signal,
      check: () => ended.signal.throwIfAborted(),
      remainingMs: () => (ended.signal.aborted ? 0 : 9_000),
    };
    claim.acquired(ownership);
  }

  /** Resolves when nothing runs there. */
  async take(name: string): Promise<void> {
    const held = this.#held.get(name);
    if (!held) return;
    held.ended.abort();
    await held.claim.released();
    if (this.#held.get(name) === held) this.#held.delete(name);
  }

  run = (signal: AbortSignal): Promise<void> => aborted(signal);
}

/** The current conditions: `uid/service` → phase. */
export class ToldConditions implements Announcements {
  readonly told = new Map<string, ServiceState['phase']>();
  /** Resolves the callers that wait for the first write. */
  writing: Promise<void> = Promise.resolve();

  tell({ uid }: SourceObject, service: Service, { phase }: ServiceState): void {
    this.told.set(`${uid}/${service}`, phase);
  }

  remove({ uid }: SourceObject, service: Service): void {
    this.told.delete(`${uid}/${service}`);
  }

  written = (): Promise<void> => this.writing;

  forget = (): Promise<void> => Promise.resolve();
}
