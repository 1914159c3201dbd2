/** Metrics of a front door in the text format of Prometheus. */

import { Counter, Gauge, labelText } from '@hangar/core';
import type { HandshakeFailure } from './refusals.ts';
import type { LimitName } from './limits.ts';

/** A registry of metrics, such as that of the runtime. */
export interface MetricsSink {
  register<F extends { readonly name: string; text(): string }>(family: F): F;
  /** Calls the function before each scrape. */
  onScrape(update: () => void): void;
}

/** `ended`: either end closed it. `cut`: a drain reached its deadline. */
export type ConnectionResult = 'ended' | 'cut' | 'backend-unreachable' | LimitName;

interface Transferred {
  readonly received: number;
  readonly sent: number;
}

export class FrontDoorMetrics {
  readonly #open = new Counter(
    'hangar_front_door_connections',
    'Number of open connections by route, which is the namespace and name of a control plane.',
    'gauge',
  );
  readonly #total = new Counter(
    'hangar_front_door_connections_total',
    'Number of connections that had a route, by route and result.',
  );
  readonly #failures = new Counter(
    'hangar_front_door_handshake_failures_total',
    'Number of connections that had no route, by reason.',
  );
  readonly #received = new Counter('hangar_front_door_received_bytes_total', 'Number of bytes from clients by route.');
  readonly #sent = new Counter('hangar_front_door_sent_bytes_total', 'Number of bytes to clients by route.');
  readonly #pending = new Gauge(
    'hangar_front_door_pending_handshakes',
    'Number of connections whose ClientHello is not complete.',
  );

  constructor(sink: MetricsSink, update: () => { readonly pending: number }) {
    for (const family of [this.#open, this.#total, this.#failures, this.#received, this.#sent, this.#pending]) {
      sink.register(family);
    }
    sink.onScrape(() => this.#pending.set('', update().pending));
  }

  failed(reason: HandshakeFailure): void {
    this.#failures.add(labelText({ reason }));
  }

  opened(route: string): void {
    this.#open.add(labelText({ route }));
  }

  closed(route: string): void {
    this.#open.add(labelText({ route }), -1);
  }

  finished(route: string, result: ConnectionResult): void {
    this.#total.add(labelText({ route, result }));
  }

  transferred(route: string, { received, sent }: Transferred): void {
    const labels = labelText({ route });
    this.#received.add(labels, received);
    this.#sent.add(labels, sent);
  }
}
