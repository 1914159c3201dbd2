/**
 * Checks with one cheap request whether a server is available. A cluster is probed before a program is started for it: waiting costs one
 * request now and then, a program that exits because of it costs seconds of CPU each time.
 */

import { asError, abortError } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { Client, ClusterConfig, ConnectOptions } from '@hangar/client';
import { version } from '../../version.ts';
import { oneLine } from './words.ts';

export type Connect = (config: ClusterConfig, options: ConnectOptions) => Pick<Client, 'raw' | 'close'>;

export interface ProbeOptions {
  readonly config: ClusterConfig;
  readonly path: string;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly connect: Connect;
}

/** Undefined: healthy. */
export type Complaint = ComplaintDetails | undefined;

export interface ComplaintDetails {
  readonly reason: 'Unreachable' | 'Unauthorized' | 'Forbidden' | 'NotReady';
  readonly message: string;
}

/** Differs from the user agent of the programs: a probe is not work on the cluster. */
export const probeAgent = (peer: string): string => `hangar-probe.${peer}/${version}`;

const timeoutMs = 5_000;
const answerBytesMax = 1024 * 1024;

export class Probe {
  readonly #options: ProbeOptions;
  #client: ReturnType<Connect> | undefined;

  constructor(options: ProbeOptions) {
    this.#options = options;
  }

  /** Rejects only with `Aborted`. */
  async ask(signal: AbortSignal): Promise<Complaint> {
    if (signal.aborted) throw abortError(signal);
    const late = new AbortController();
    const onAbort = (): void => late.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const timer = this.#options.clock.after(timeoutMs, () => late.abort());
    try {
      return await this.#ask(late.signal);
    } catch (error) {
      if (signal.aborted) throw abortError(signal);
      return { reason: 'Unreachable', message: this.#unreachable(late.signal.aborted, asError(error)) };
    } finally {
      timer.cancel();
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Closes its connections; never rejects. A pending probe is ended by its signal. */
  async close(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await client?.close().catch(() => {});
  }

  async #ask(signal: AbortSignal): Promise<Complaint> {
    const { config, path, userAgent, clock, connect } = this.#options;
    // Without the proxies of the environment: the programs do not use them either.
    this.#client ??= connect(config, { clock, userAgent, retry: false, connectTimeoutMs: timeoutMs, environment: {} });
    const answer = await this.#client.raw({ method: 'GET', target: path, signal, answerBytesMax });
    // The body is text of the server: the code is enough.
    await answer.body();
    return complaintOf(config.server, answer.status);
  }

  #unreachable(isLate: boolean, { message }: Error): string {
    const { server } = this.#options.config;
    return oneLine(isLate ? `${server} does not answer within ${timeoutMs / 1000} s` : message);
  }
}

function complaintOf(server: string, status: number): Complaint {
  if (status >= 200 && status < 300) return undefined;
  if (status === 401) return { reason: 'Unauthorized', message: `${server} rejected the credentials (401)` };
  if (status === 403)
    return {
      reason: 'Forbidden',
      message: `${server} forbids the request (403): the user of the kubeconfig lacks permissions`,
    };
  return { reason: 'NotReady', message: `${server} is not ready (${status})` };
}
