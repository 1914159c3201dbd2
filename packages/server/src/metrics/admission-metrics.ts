/**
 * Metrics of admission, under kube-apiserver's names: steps, plugins and webhooks. Users choose the names of webhooks, so the number of
 * their series is small.
 */

import { Counter, Histogram, labelText } from '@hangar/core';
import type { HistogramSeries } from '@hangar/core';

const bounds = [0.005, 0.025, 0.1, 0.5, 1, 2.5];
const webhookBounds = [...bounds, 10, 25];
const webhookSeriesMax = 200;

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
export type StepType = 'admit' | 'validate';

/** The call of a webhook. */
export interface WebhookCall {
  readonly name: string;
  readonly isMutating: boolean;
  readonly operation: Operation;
  /** Status code of the response; 0: there is none. */
  readonly code: number;
  readonly seconds: number;
  /** Why the request was rejected; undefined: it was not. */
  readonly rejection?: WebhookRejection;
}

export interface WebhookRejection {
  readonly type: 'calling_webhook_error' | 'apiserver_internal_error' | 'no_error';
  /** Status code of the denial. */
  readonly code: number;
}

export class AdmissionMetrics {
  readonly #steps = new Histogram(
    'apiserver_admission_step_admission_duration_seconds',
    'Duration of all admission plugins in seconds, by type, operation and rejection.',
    bounds,
  );
  readonly #plugins = new Histogram(
    'apiserver_admission_controller_admission_duration_seconds',
    'Duration of an admission plugin in seconds, by name, type, operation and rejection.',
    bounds,
  );
  readonly #webhooks = new Histogram(
    'apiserver_admission_webhook_admission_duration_seconds',
    'Duration of an admission webhook in seconds, by name, type, operation and rejection.',
    webhookBounds,
    webhookSeriesMax,
  );
  readonly #calls = new Counter(
    'apiserver_admission_webhook_request_total',
    'Number of calls of admission webhooks, by name, type, operation, response code and rejection.',
    'counter',
    webhookSeriesMax,
  );
  readonly #rejections = new Counter(
    'apiserver_admission_webhook_rejection_count',
    'Number of requests that admission webhooks rejected, by name, type, operation, error and response code.',
    'counter',
    webhookSeriesMax,
  );
  readonly #failedOpen = new Counter(
    'apiserver_admission_webhook_fail_open_count',
    'Number of failures of admission webhooks that were ignored, by name and type.',
    'counter',
    webhookSeriesMax,
  );

  step(type: StepType, operation: Operation, isRejected: boolean): HistogramSeries {
    return this.#steps.with(labelText({ operation, rejected: String(isRejected), type }));
  }

  plugin(name: string, type: StepType, operation: Operation, isRejected: boolean): HistogramSeries {
    return this.#plugins.with(labelText({ name, operation, rejected: String(isRejected), type }));
  }

  webhookCalled({ name, isMutating, operation, code, seconds, rejection }: WebhookCall): void {
    const type = isMutating ? 'admit' : 'validating';
    const rejected = String(rejection !== undefined);
    this.#webhooks.observe(labelText({ name, operation, rejected, type }), seconds);
    this.#calls.add(labelText({ code: String(code), name, operation, rejected, type }));
    if (!rejection) return;
    const rejection_code = String(rejection.code);
    this.#rejections.add(labelText({ error_type: rejection.type, name, operation, rejection_code, type }));
  }

  webhookFailedOpen(name: string, isMutating: boolean): void {
    this.#failedOpen.add(labelText({ name, type: isMutating ? 'admit' : 'validating' }));
  }

  get seriesCount(): number {
    return this.#steps.size + this.#plugins.size + this.#webhooks.size + this.#calls.size + this.#rejections.size;
  }

  text(): string {
    return [this.#steps, this.#plugins, this.#webhooks, this.#calls, this.#rejections, this.#failedOpen]
      .map((family) => family.text())
      .join('\n');
  }
}
