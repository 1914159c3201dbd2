/** The request metrics of client-go. */

import { Counter, Histogram, labelText } from '@hangar/core';
import type { RequestObserver } from './options.ts';

const seconds = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

/**
 * Counts requests and their latency under the metric names of client-go. Register `requests` and `duration` in the metrics registry of
 * the process, and pass the instance as `RestOptions.metrics`.
 */
export class RestMetrics implements RequestObserver {
  readonly requests = new Counter(
    'rest_client_requests_total',
    'Number of HTTP requests, partitioned by status code, method, and host.',
  );
  readonly duration = new Histogram(
    'rest_client_request_duration_seconds',
    'Request latency in seconds. Broken down by verb, and host.',
    seconds,
  );

  observe({ method, host, code, durationSeconds }: Parameters<RequestObserver['observe']>[0]): void {
    this.requests.add(labelText({ code, host, method }));
    this.duration.observe(labelText({ host, verb: method }), durationSeconds);
  }
}
