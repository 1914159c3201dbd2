/** Metrics of a webhook server, with the names of controller-runtime. */

import { Counter, Gauge, Histogram, labelText } from '@hangar/core';
import type { MetricsRegistry } from '../metrics/registry.ts';

const latencyBoundsSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export class WebhookMetrics {
  readonly #requests = new Counter(
    'controller_runtime_webhook_requests_total',
    'Total number of admission requests by HTTP status code.',
  );
  readonly #latency = new Histogram(
    'controller_runtime_webhook_latency_seconds',
    'Histogram of the latency of processing admission requests',
    latencyBoundsSeconds,
  );
  readonly #inFlight = new Gauge(
    'controller_runtime_webhook_requests_in_flight',
    'Current number of admission requests being served.',
  );
  readonly #panics = new Counter('controller_runtime_webhook_panics_total', 'Total number of webhook panics');
  readonly #conversionPanics = new Counter(
    'controller_runtime_conversion_webhook_panics_total',
    'Total number of conversion webhook panics',
  );
  readonly #reads = new Counter('certwatcher_read_certificate_total', 'Total number of certificate reads');
  readonly #readErrors = new Counter(
    'certwatcher_read_certificate_errors_total',
    'Total number of certificate read errors',
  );

  constructor(registry: MetricsRegistry | undefined) {
    if (registry) {
      this.#requests = registry.register(this.#requests);
      this.#latency = registry.register(this.#latency);
      this.#inFlight = registry.register(this.#inFlight);
      this.#panics = registry.register(this.#panics);
      this.#conversionPanics = registry.register(this.#conversionPanics);
      this.#reads = registry.register(this.#reads);
      this.#readErrors = registry.register(this.#readErrors);
    }
    for (const counter of [this.#panics, this.#conversionPanics, this.#reads, this.#readErrors]) counter.add('', 0);
  }

  /** Returns a function to call with the response. */
  began(path: string): (code: number, seconds: number) => void {
    const webhook = labelText({ webhook: path });
    this.#inFlight.add(webhook);
    return (code, seconds) => {
      this.#inFlight.add(webhook, -1);
      this.#latency.observe(webhook, seconds);
      this.#requests.add(labelText({ webhook: path, code: String(code) }));
    };
  }

  panicked(isConversion: boolean): void {
    (isConversion ? this.#conversionPanics : this.#panics).add('');
  }

  certificateWasRead(): void {
    this.#reads.add('');
  }

  certificateFailed(): void {
    this.#readErrors.add('');
  }
}
