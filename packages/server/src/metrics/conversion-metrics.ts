/** Metrics of the conversion webhooks of CustomResourceDefinitions, under kube-apiserver's names. */

import { Histogram, labelText } from '@hangar/core';

/** 1 ms, doubled 14 times. */
const bounds = Array.from({ length: 15 }, (_, at) => 2 ** at / 1_000);
const seriesMax = 200;

export interface Conversion {
  /** Name of the CustomResourceDefinition. */
  readonly definition: string;
  readonly fromVersion: string;
  readonly toVersion: string;
  readonly isSuccess: boolean;
  readonly seconds: number;
}

export class ConversionMetrics {
  readonly #durations = new Histogram(
    'apiserver_crd_conversion_webhook_duration_seconds',
    'Duration of conversion webhooks in seconds, by CustomResourceDefinition, versions and success.',
    bounds,
    seriesMax,
  );

  converted({ definition, fromVersion, toVersion, isSuccess, seconds }: Conversion): void {
    const labels = labelText({
      crd_name: definition,
      from_version: fromVersion,
      succeeded: String(isSuccess),
      to_version: toVersion,
    });
    this.#durations.observe(labels, seconds);
  }

  get seriesCount(): number {
    return this.#durations.size;
  }

  text(): string {
    return this.#durations.text();
  }
}
