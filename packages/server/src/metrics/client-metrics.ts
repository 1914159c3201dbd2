/**
 * Metrics of the calls that this server makes to webhooks and other API servers, under client-go's names. Users choose the hosts, so the
 * number of series is small.
 */

import { Counter, Histogram, labelText } from '@hangar/core';

const durationBounds = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const seriesMax = 200;

export interface ClientCall {
  readonly host: string;
  readonly method: string;
  /** Undefined: there was no response. */
  readonly status: number | undefined;
  readonly seconds: number;
}

export class ClientMetrics {
  readonly #requests = new Counter(
    'rest_client_requests_total',
    'Number of HTTP requests, partitioned by status code, method, and host.',
    'counter',
    seriesMax,
  );
  readonly #durations = new Histogram(
    'rest_client_request_duration_seconds',
    'Request latency in seconds. Broken down by verb, and host.',
    durationBounds,
    seriesMax,
  );

  called({ host, method, status, seconds }: ClientCall): void {
    this.#requests.add(labelText({ code: status === undefined ? '<error>' : String(status), host, method }));
    this.#durations.observe(labelText({ host, verb: method }), seconds);
  }

  get seriesCount(): number {
    return this.#requests.size + this.#durations.size;
  }

  /** Adds the series to metrics in the Prometheus format, which may have the same families: a family must occur only once. */
  addTo(text: string): string {
    return [this.#requests, this.#durations].reduce(withFamily, text);
  }
}

function withFamily(text: string, family: Counter | Histogram): string {
  const head = `# TYPE ${family.name} ${family.type}\n`;
  const at = text.indexOf(head);
  if (at < 0) return text === '' ? family.text() : `${text}\n${family.text()}`;
  const [, , ...series] = family.text().split('\n');
  const end = at + head.length;
  return text.slice(0, end) + series.map((line) => `${line}\n`).join('') + text.slice(end);
}
