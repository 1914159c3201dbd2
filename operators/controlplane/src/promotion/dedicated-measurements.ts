/**
 * Measures dedicated control planes by the metrics of their API servers, each at most every 5 minutes. A control plane that does not respond
 * has no measurements, so that it does not return.
 */

import { configOfKubeconfig, find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { Secret } from '@hangar/client/kinds/core-v1';
import { asError } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import { managementNamespace } from '../api/index.ts';
import type { ControlPlane } from '../api/index.ts';
import { HostedControlPlane, hostedKubeconfigKey, hostedKubeconfigName } from '../dedicated/hosted-control-plane.ts';
import type { DedicatedPlatform } from '../dedicated/platform.ts';
import { readFigures } from './api-server-metrics.ts';
import type { ApiServerFigures } from './api-server-metrics.ts';
import type { DedicatedMeasurements } from './controller.ts';
import type { Measurements } from './policy.ts';

export interface ApiServerMeasurementsOptions {
  /** Of the management plane, without a cache. */
  readonly client: Client;
  readonly connect: DedicatedPlatform['connect'];
  readonly clock: Clock;
  readonly log: Logger;
}

interface Measured {
  readonly atMs: number;
  readonly measurements: Measurements;
  /** The last figures of each API server, by the start time of its process, the oldest first. */
  readonly servers: ReadonlyMap<number, TimedFigures>;
}

interface TimedFigures extends ApiServerFigures {
  readonly atMs: number;
}

const measureAgainMs = 300_000;
const measuredMax = 8;
const measuredAtOnce = 2;
/** Each measurement is answered by any of the API servers. */
const serversMax = 8;
const timeoutMs = 5_000;
const metricsBytesMax = 128 * 1024 * 1024;

export class ApiServerMeasurements implements DedicatedMeasurements {
  readonly #options: ApiServerMeasurementsOptions;
  /** By uid of the control plane. */
  readonly #measured = new Map<string, Measured>();

  constructor(options: ApiServerMeasurementsOptions) {
    this.#options = options;
  }

  /** Measures those that were never measured first, then those whose measurement is oldest. */
  async measure(planes: readonly ControlPlane[], signal: AbortSignal): Promise<Map<string, Measurements>> {
    const nowMs = this.#options.clock.now();
    const uids = new Set(planes.map(({ metadata }) => metadata.uid!));
    for (const uid of this.#measured.keys()) if (!uids.has(uid)) this.#measured.delete(uid);
    const timeOf = ({ metadata }: ControlPlane): number => this.#measured.get(metadata.uid!)?.atMs ?? -Infinity;
    const due = planes
      .filter((plane) => nowMs - timeOf(plane) >= measureAgainMs)
      .sort((a, b) => (timeOf(a) < timeOf(b) ? -1 : 1))
      .slice(0, measuredMax);
    for (let at = 0; at < due.length; at += measuredAtOnce) {
      await Promise.all(due.slice(at, at + measuredAtOnce).map((plane) => this.#measureOne(plane, signal)));
    }
    const known = planes.map(
      ({ metadata }) => [metadata.uid!, this.#measured.get(metadata.uid!)?.measurements] as const,
    );
    return new Map(known.map(([uid, measurements]) => [uid, measurements ?? {}]));
  }

  async #measureOne(plane: ControlPlane, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    const { uid, name } = plane.metadata;
    const servers = this.#measured.get(uid!)?.servers ?? new Map<number, TimedFigures>();
    try {
      const { figures, replicas } = await this.#read(plane, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
      const atMs = clock.now();
      const now = { ...figures, atMs };
      const measurements = measurementsOf(servers.get(figures.startedAt), now, replicas);
      this.#measured.set(uid!, { atMs, measurements, servers: withServer(servers, now) });
    } catch (error) {
      log.debug('cannot measure a dedicated control plane', { controlPlane: name, error: asError(error) });
      this.#measured.set(uid!, { atMs: clock.now(), measurements: {}, servers });
    }
  }

  async #read(
    { metadata }: ControlPlane,
    signal: AbortSignal,
  ): Promise<{ readonly figures: ApiServerFigures; readonly replicas: number }> {
    const { client, connect } = this.#options;
    const name = metadata.name!;
    const namespace = managementNamespace(name);
    const [secret, hosted] = await Promise.all([
      find(client, Secret, { namespace, name: hostedKubeconfigName(name) }, { signal }),
      find(client, HostedControlPlane, { namespace, name }, { signal }),
    ]);
    const text = Buffer.from(secret?.data?.[hostedKubeconfigKey] ?? '', 'base64').toString();
    const config = await configOfKubeconfig(text, { source: `Secret ${namespace}/${secret?.metadata.name}` });
    const inside = await connect(config);
    try {
      const headers = { accept: 'text/plain' };
      const request = { method: 'GET', target: '/metrics', headers, signal, answerBytesMax: metricsBytesMax };
      const answer = await inside.raw(request);
      if (answer.status !== 200) throw new Error(`the API server answered ${answer.status} to /metrics`);
      return { figures: await readFigures(answer.stream()), replicas: Math.max(1, hosted?.spec?.replicas ?? 1) };
    } finally {
      await inside.close();
    }
  }
}

function withServer(servers: ReadonlyMap<number, TimedFigures>, now: TimedFigures): Map<number, TimedFigures> {
  const others = [...servers].filter(([startedAt]) => startedAt !== now.startedAt);
  return new Map([...others, [now.startedAt, now] as const].slice(-serversMax));
}

/** An API server that is measured for the first time may have just started, and counts objects later: its figures are unknown. */
function measurementsOf(before: TimedFigures | undefined, now: TimedFigures, replicas: number): Measurements {
  const seconds = before && (now.atMs - before.atMs) / 1_000;
  if (!before || !seconds || now.requests < before.requests) return {};
  const { objects, storedBytes } = now;
  return { objects, storedBytes, requestsPerSecond: ((now.requests - before.requests) / seconds) * replicas };
}
