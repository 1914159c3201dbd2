/**
 * The metrics of the operator. They are set from the results of reconciles, without requests, and a control plane that does not change
 * costs only its series. Labels have the namespace and name of a control plane only in gauges, whose series are removed with the object;
 * histograms and counters have no object. `docs/operations/monitoring.md` lists all of them.
 */

import type { ObjectKey } from '@hangar/client';
import { Counter, labelText } from '@hangar/core';
import { ObjectGauge, TimingFamily } from '@hangar/runtime';
import type { GaugeSeries, MetricsRegistry } from '@hangar/runtime';
import type { SignerName } from '../pki/signer.ts';

export const prefix = 'hangar_hosted';
const phaseBounds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30];
const readyBounds = [5, 10, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1_800];

/** Figures of a control plane. An absent one keeps its series. */
export interface PlaneFigures {
  /** Conditions by type: true while the status is `True`. */
  readonly conditions: Readonly<Record<string, boolean>>;
  /** The first phase that is not complete. Absent: all are. */
  readonly blocked?: { readonly phase: string; readonly reason: string } | undefined;
  readonly info: { readonly version: string; readonly desired_version: string; readonly rendering: string };
  /** Numbers of API servers by state. */
  readonly apiServers: Readonly<Record<string, number>>;
  /** Numbers of etcd members by state. */
  readonly etcdMembers?: Readonly<Record<string, number>> | undefined;
  /** Milliseconds since 1970 by the name of the authority or of a group of certificates. */
  readonly expirations?: ReadonlyMap<string, number> | undefined;
}

export type RotationStep = 'started' | 'signing' | 'complete';

export class HostedMetrics {
  readonly #conditions: ObjectGauge;
  readonly #blocked: ObjectGauge;
  readonly #info: ObjectGauge;
  readonly #apiServers: ObjectGauge;
  readonly #etcdMembers: ObjectGauge;
  readonly #expirations: ObjectGauge;
  /** By control plane: a reconcile that does not reach a certificate does not change its expiration. */
  readonly #expiresAt = new Map<string, ReadonlyMap<string, number>>();
  readonly #ready: TimingFamily;
  readonly #phases: TimingFamily;
  readonly #errors: Counter;
  readonly #rotations: Counter;

  constructor(registry: MetricsRegistry) {
    const gauge = (name: string, help: string): ObjectGauge =>
      registry.register(new ObjectGauge(`${prefix}_control_plane_${name}`, help));
    const timing = (name: string, help: string, bounds: readonly number[]): TimingFamily =>
      registry.register(new TimingFamily(`${prefix}_${name}`, help, bounds));
    const counter = (name: string, help: string): Counter => registry.register(new Counter(`${prefix}_${name}`, help));
    this.#conditions = gauge('condition', '1 while the condition of the control plane is True, otherwise 0.');
    this.#blocked = gauge('blocked', '1 while the phase is the first one that is not complete, for this reason.');
    this.#info = gauge('info', 'Versions of the control plane: complete, desired, and of its rendering.');
    this.#apiServers = gauge('api_servers', 'Number of API servers by state.');
    this.#etcdMembers = gauge('etcd_members', 'Number of etcd members by state.');
    this.#expirations = gauge(
      'certificate_expiration_timestamp_seconds',
      'Expiration of an authority, of the component certificate that expires first, or of the admin kubeconfig.',
    );
    this.#ready = timing('ready_duration_seconds', 'Time from creation to the first Ready condition.', readyBounds);
    this.#phases = timing('phase_duration_seconds', 'Duration of a phase in a reconcile.', phaseBounds);
    this.#errors = counter('reconcile_errors_total', 'Total number of reconcile errors by phase.');
    this.#rotations = counter('rotation_steps_total', 'Total number of rotation steps by signer and step.');
  }

  /** Replaces the series of a control plane. */
  observe(key: ObjectKey, figures: PlaneFigures): void {
    const { conditions, blocked, info, apiServers, etcdMembers, expirations } = figures;
    const id = idOf(key);
    const labels = { namespace: key.namespace ?? '', name: key.name };
    const by = (label: string, values: Iterable<readonly [string, number]>): GaugeSeries[] =>
      Array.from(values, ([value, figure]) => [{ ...labels, [label]: value }, figure]);
    const isTrue = Object.entries(conditions).map(([type, is]) => [type, is ? 1 : 0] as const);
    this.#conditions.replace(id, by('condition', isTrue));
    this.#blocked.replace(id, blocked ? [[{ ...labels, ...blocked }, 1]] : []);
    this.#info.replace(id, [[{ ...labels, ...info }, 1]]);
    this.#apiServers.replace(id, by('state', Object.entries(apiServers)));
    if (etcdMembers) this.#etcdMembers.replace(id, by('state', Object.entries(etcdMembers)));
    if (!expirations) return;
    const known = new Map([...(this.#expiresAt.get(id) ?? []), ...expirations]);
    this.#expiresAt.set(id, known);
    const seconds = Array.from(known, ([name, atMs]) => [name, Math.floor(atMs / 1_000)] as const);
    this.#expirations.replace(id, by('certificate', seconds));
  }

  /** Removes all series of a deleted control plane. */
  remove(key: ObjectKey): void {
    const id = idOf(key);
    const all = [this.#conditions, this.#blocked, this.#info, this.#apiServers, this.#etcdMembers, this.#expirations];
    for (const gauge of all) gauge.remove(id);
    this.#expiresAt.delete(id);
  }

  phaseTook(phase: string, seconds: number): void {
    this.#phases.series({ phase }).observe(seconds);
  }

  phaseFailed(phase: string): void {
    this.#errors.add(labelText({ phase }));
  }

  becameReady(seconds: number): void {
    this.#ready.series({}).observe(seconds);
  }

  rotated(signer: SignerName, step: RotationStep): void {
    this.#rotations.add(labelText({ signer, step }));
  }
}

export const idOf = ({ namespace, name }: ObjectKey): string => `${namespace ?? ''}/${name}`;
