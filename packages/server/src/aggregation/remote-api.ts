/** One APIService that another server serves: its connections, its availability, and its documents. */

import { asError, sleep } from '@hangar/core';
import type { ControlPlane } from '../control-plane.ts';
import { targetOf } from './api-service.ts';
import type { RemoteService } from './api-service.ts';
import { circumstancesOf, problemOf, probe } from './availability.ts';
import type { Availability, ClusterView } from './availability.ts';
import { writeAvailability } from './condition.ts';
import { RemoteDocuments } from './remote-documents.ts';
import { RemoteServer } from './remote-server.ts';
import type { Reach } from './remote-server.ts';

const recheckMs = 30_000;
const retryMinMs = 100;

export interface RemoteApiOptions {
  readonly plane: ControlPlane;
  readonly reach: Reach;
  readonly view: () => Promise<ClusterView>;
  /** Called when its documents changed. */
  readonly onDocuments: () => void;
  /** Called when a check finds that an available server is unavailable, with the reason of the condition. */
  readonly onUnavailable: (reason: string) => void;
  readonly onError: (error: Error) => void;
}

export class RemoteApi {
  readonly target: string;
  readonly server: RemoteServer;
  readonly documents: RemoteDocuments;
  service: RemoteService;
  readonly #options: RemoteApiOptions;
  readonly #stop = new AbortController();
  #circumstances = '';
  /** Aborts the pause before the next check. */
  #wake = new AbortController();

  constructor(service: RemoteService, options: RemoteApiOptions) {
    this.target = targetOf(service);
    this.service = service;
    this.#options = options;
    this.server = new RemoteServer(options.reach, service);
    this.documents = new RemoteDocuments(this.server, service, options.plane.clock, options.onDocuments);
    void this.#run();
  }

  /** Last availability written to the status, by any replica. */
  get isAvailable(): boolean {
    return this.service.available?.status === 'True';
  }

  /** Checks immediately. */
  recheck(): void {
    this.#wake.abort();
  }

  /** Checks again if the cluster state that its last check used has changed. */
  reconsider(view: ClusterView): void {
    if (circumstancesOf(this.service, view) !== this.#circumstances) this.recheck();
  }

  close(): void {
    this.#stop.abort();
    this.#wake.abort();
    this.server.close();
    this.documents.close();
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#stop.signal.aborted) {
      this.#wake = new AbortController();
      const isWell = await this.#check().catch((error: unknown) => {
        if (!this.#stop.signal.aborted) this.#options.onError(asError(error));
        return false;
      });
      failures = isWell ? 0 : failures + 1;
      const pauseMs = isWell ? recheckMs : Math.min(retryMinMs * 2 ** Math.min(failures, 20), recheckMs);
      await sleep(this.#options.plane.clock, pauseMs, this.#wake.signal).catch(() => undefined);
    }
  }

  async #check(): Promise<boolean> {
    const { plane, view } = this.#options;
    const seen = await view();
    this.#circumstances = circumstancesOf(this.service, seen);
    const found: Availability = problemOf(this.service, seen) ?? (await probe(this.server, this.service, plane.clock));
    if (this.#stop.signal.aborted) return true;
    const isWell = found.status === 'True';
    // Discovery is refreshed before the server is reported available; OpenAPI may follow later.
    if (isWell) await this.documents.refreshDiscovery();
    else this.documents.markStale();
    if (this.#stop.signal.aborted) return true;
    if (!isWell && (this.isAvailable || this.service.available?.reason !== found.reason)) {
      this.#options.onUnavailable(found.reason);
    }
    await writeAvailability(plane, this.service, found);
    if (isWell) await this.documents.refreshOpenApi();
    return isWell;
  }
}
