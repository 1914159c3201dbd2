/** Runs the kubelet API: requests its certificate, listens, and renews the certificate before it expires. */

import { X509Certificate } from 'node:crypto';
import type { Client } from '@hangar/client';
import { asError, sleep } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import type { RuntimeMetrics } from '../metrics.ts';
import type { Pods } from '../pods/pods.ts';
import { KubeletAuthorizer } from './authorizer.ts';
import type { KubeletOptions } from './options.ts';
import { KubeletServer } from './server.ts';
import { requestServingCertificate } from './serving-certificate.ts';

export interface KubeletRunOptions extends KubeletOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly nodeName: string;
  readonly address: string;
  readonly pods: Pods;
  readonly metrics: RuntimeMetrics;
  /** Called when the port is known. */
  readonly onListening: () => void;
}

const retryMs = 5_000;
const renewRatio = 0.8;

export class Kubelet {
  readonly #options: KubeletRunOptions;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #server: KubeletServer | undefined;

  constructor(options: KubeletRunOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  /** Undefined until the certificate is issued. */
  get port(): number | undefined {
    return this.#server?.port;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.#server?.close();
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      let delayMs = retryMs;
      try {
        delayMs = await this.#renew(signal);
      } catch (error) {
        if (signal.aborted) return;
        log.warn('failed to get a serving certificate for the kubelet API, retrying', {
          error: asError(error).message,
        });
      }
      await sleep(clock, delayMs, signal).catch(() => {});
    }
  }

  /** Returns the time until the next renewal. */
  async #renew(signal: AbortSignal): Promise<number> {
    const { clock, address, port = 0, onListening } = this.#options;
    const certificate = await requestServingCertificate({ ...this.#options, signal });
    if (this.#server) {
      this.#server.replaceCertificate(certificate);
    } else {
      const authorizer = new KubeletAuthorizer(this.#options);
      this.#server = await KubeletServer.listen({ ...this.#options, authorizer, host: address, port, certificate });
      onListening();
    }
    const expiresAt = Date.parse(new X509Certificate(certificate.certificate).validTo);
    return Math.max(retryMs, (expiresAt - clock.now()) * renewRatio);
  }
}
