/**
 * Changes the number of API servers of control planes by their load. The reconciler reports control planes with `spec.autoscaling` after
 * each pass. Each of them is measured every 15 s outside of reconciles, and the reconciler writes the result to the status when it changes:
 *
 *     reconcile ──observe──► Autoscaler ──every 15 s──► measure ─► decide ─► spec.replicas
 *         ▲                                                          │
 *         └──────────────────enqueue, if the report changes──────────┘
 *
 * All state is in memory: after a restart, API servers are removed only after a full delay.
 */

import { find } from '@hangar/client';
import type { Client, ObjectKey, Reader } from '@hangar/client';
import { asError, hasCode } from '@hangar/core';
import type { Clock, Random } from '@hangar/core';
import { pooled } from '@hangar/pki';
import type { KeyPair } from '@hangar/pki';
import type { ClusterEvents, RawSource, SourceContext } from '@hangar/runtime';
import { HostedControlPlane } from '../api/index.ts';
import type { AutoscalingMetrics } from '../metrics/autoscaling-metrics.ts';
import { idOf } from '../metrics/hosted-metrics.ts';
import type { Signer } from '../pki/signer.ts';
import { apiServiceHost, podPortOf } from '../render/index.ts';
import type { Plane } from '../render/index.ts';
import { jittered, Schedule } from '../schedule.ts';
import { decide } from './decide.ts';
import type { Decision, ScaleState } from './decide.ts';
import type { TimedSample } from './load.ts';
import { measure } from './measure.ts';
import type { Measurement } from './measure.ts';
import { figuresOf, reportOf } from './report.ts';
import type { AutoscalingReport, LastScale } from './report.ts';
import { scrapeOverTls } from './scrape.ts';
import type { Scrape } from './scrape.ts';
import { scaleSettings } from './settings.ts';
import type { ScaleSettings } from './settings.ts';

/** Manages spec.replicas. */
const fieldManager = 'hangar-hosted-autoscaler';
const credentialsLifetimeMs = 86_400_000;

/** For tests. */
export interface AutoscalerTimes {
  /** Absent: 15 s. */
  readonly periodMs?: number | undefined;
  /** Time after which a ready API server is measured. Absent: 30 s. */
  readonly warmUpMs?: number | undefined;
}

export interface AutoscalerOptions extends AutoscalerTimes {
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: AutoscalingMetrics;
  readonly events: Pick<ClusterEvents, 'event'>;
  /** Absent: over TLS. */
  readonly scrape?: Scrape | undefined;
}

/** A control plane with `spec.autoscaling` after a pass. */
export interface Autoscaled {
  readonly plane: Plane;
  /** Label selector of the pods. */
  readonly selector: string;
  readonly authority: Signer;
  /** All etcd members are ready: further API servers can start. */
  readonly mayAdd: boolean;
  /** The control plane is ready, and nothing is rolled out or rotated. */
  readonly mayRemove: boolean;
}

interface Entry {
  readonly key: ObjectKey;
  autoscaled: Autoscaled;
  state?: ScaleState | undefined;
  last?: LastScale | undefined;
  report?: AutoscalingReport | undefined;
  credentials?: { readonly of: string; readonly untilMs: number; readonly pair: KeyPair } | undefined;
  readonly samples: Map<string, TimedSample>;
}

/** Control planes that are measured at the same time. */
const planesAtOnce = 10;

export class Autoscaler {
  readonly #options: AutoscalerOptions;
  readonly #scrape: Scrape;
  readonly #entries = new Map<string, Entry>();
  readonly #schedule: Schedule;
  #context: SourceContext | undefined;

  constructor(options: AutoscalerOptions) {
    const { clock, random, periodMs = 15_000, scrape = scrapeOverTls(clock) } = options;
    this.#options = options;
    this.#scrape = scrape;
    const work = async (id: string, signal: AbortSignal): Promise<number> => {
      await this.#sample(id, signal);
      return jittered(periodMs, random);
    };
    this.#schedule = new Schedule({ clock, concurrency: planesAtOnce, work });
  }

  /** Measures the control planes while the controller runs. Writes through the client of the controller, which requires leadership. */
  readonly source: RawSource = async (context, signal) => {
    this.#context = context;
    await this.#schedule.run(signal);
  };

  observe(key: ObjectKey, autoscaled: Autoscaled): void {
    const id = idOf(key);
    const known = this.#entries.get(id);
    // Another object of the same name starts again.
    const isSame = known?.autoscaled.plane.owner.uid === autoscaled.plane.owner.uid;
    if (known && isSame) known.autoscaled = autoscaled;
    else this.#entries.set(id, { key, autoscaled, samples: new Map() });
    const { periodMs = 15_000, random } = this.#options;
    this.#schedule.add(id, jittered(periodMs, random));
  }

  /** Stops to measure a control plane: it is deleted, paused, has a fault, or does not request autoscaling. */
  forget(key: ObjectKey): void {
    const id = idOf(key);
    if (!this.#entries.delete(id)) return;
    this.#schedule.remove(id);
    this.#options.metrics.remove(key);
  }

  /** Returns the result of the last measurement. Undefined: there was none yet. */
  reportOf(key: ObjectKey): AutoscalingReport | undefined {
    return this.#entries.get(idOf(key))?.report;
  }

  async #sample(id: string, signal: AbortSignal): Promise<void> {
    const entry = this.#entries.get(id);
    const { client, apiReader } = this.#context!.cluster;
    if (!entry) return;
    try {
      const object = await find(client, HostedControlPlane, entry.key, { signal });
      if (!object?.spec.autoscaling) return;
      const settings = scaleSettings(object.spec.autoscaling);
      const measurement = await this.#measure(entry, apiReader, signal);
      // The control plane can be deleted or paused meanwhile.
      if (this.#entries.get(id) !== entry) return;
      await this.#act({ entry, object, settings, measurement, client, signal });
    } catch (error) {
      // A concurrent write or deletion, or the end of the process: the next measurement decides again.
      if (signal.aborted || hasCode(error, 'Conflict') || hasCode(error, 'NotFound')) return;
      this.#context!.log.warn('autoscaling failed', { controlPlane: id, error: asError(error) });
    }
  }

  async #measure(entry: Entry, apiReader: Reader, signal: AbortSignal): Promise<Measurement> {
    const { clock, metrics, warmUpMs = 30_000 } = this.#options;
    const { plane, selector, authority } = entry.autoscaled;
    const target = {
      port: podPortOf(plane),
      serverName: apiServiceHost(plane),
      authority: authority.trusted,
      credentials: await this.#credentials(entry),
    };
    const scrape = this.#scrape;
    const { namespace } = plane;
    const options = { clock, scrape, metrics, warmUpMs, apiReader, namespace, selector, target, signal };
    return measure(options, entry.samples);
  }

  /** A certificate that can read metrics only: the role system:monitoring of Kubernetes. */
  async #credentials(entry: Entry): Promise<KeyPair> {
    const { clock, random } = this.#options;
    const { authority } = entry.autoscaled;
    const { credentials: known } = entry;
    if (known && known.of === authority.certificate && known.untilMs > clock.now()) return known.pair;
    const request = {
      commonName: 'hangar-hosted-autoscaler',
      organizations: ['system:monitoring'],
      usage: 'client' as const,
      days: 1,
    };
    const pair = await pooled.issueCertificate(authority, request, { clock, random });
    const untilMs = clock.now() + credentialsLifetimeMs / 2;
    entry.credentials = { of: authority.certificate, untilMs, pair };
    return pair;
  }

  async #act({ entry, object, settings, measurement, client, signal }: Action): Promise<void> {
    const { clock, metrics } = this.#options;
    const { mayAdd, mayRemove } = entry.autoscaled;
    const { load, fault } = measurement;
    const current = object.spec.replicas ?? 2;
    const input = { nowMs: clock.monotonicMs(), current, load, hasFailed: fault !== undefined, mayAdd, mayRemove };
    const decision = decide(entry.state, input, settings);
    if (decision.replicas !== current) {
      await this.#write(object, decision, client, signal);
      entry.last = { from: current, to: decision.replicas, atMs: clock.now(), load };
      if (this.#entries.get(idOf(entry.key)) !== entry) return;
    }
    entry.state = decision.state;
    metrics.observe(entry.key, figuresOf(decision, measurement, settings));
    const report = reportOf({ decision, settings, fault, last: entry.last });
    // Another error of the same kind is not a change: errors can differ each time.
    if (report.reason === 'MetricsUnavailable' && entry.report?.reason === report.reason) return;
    const isNew = report.reason !== entry.report?.reason || report.message !== entry.report.message;
    entry.report = report;
    if (isNew) this.#context!.enqueue(entry.key);
  }

  /** Rejects with `Conflict` if the object changed since it was read. */
  async #write(object: HostedControlPlane, { replicas }: Decision, client: Client, signal: AbortSignal): Promise<void> {
    const { uid, resourceVersion, namespace, name = '' } = object.metadata;
    const before = object.spec.replicas ?? 2;
    const body = { metadata: { uid, resourceVersion }, spec: { replicas } };
    await client.patch(HostedControlPlane, { namespace, name }, { type: 'merge', body }, { fieldManager, signal });
    const isUp = replicas > before;
    this.#options.metrics.scaled(isUp ? 'up' : 'down');
    const note = `changed the number of API servers from ${before} to ${replicas}`;
    // Events with the same action become one, with the first note.
    const action = `ScaleTo${replicas}`;
    this.#options.events.event(object, { reason: isUp ? 'ScaledUp' : 'ScaledDown', action, note });
  }
}

interface Action {
  readonly entry: Entry;
  readonly object: HostedControlPlane;
  readonly settings: ScaleSettings;
  readonly measurement: Measurement;
  readonly client: Client;
  readonly signal: AbortSignal;
}
