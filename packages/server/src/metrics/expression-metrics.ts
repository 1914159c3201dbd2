/** Metrics of CEL expressions, under kube-apiserver's names. */

import { Histogram } from '@hangar/core';

const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export class ExpressionMetrics {
  readonly #compilations = new Histogram(
    'apiserver_cel_compilation_duration_seconds',
    'Duration of the compilation of CEL expressions in seconds.',
    bounds,
  );
  readonly #evaluations = new Histogram(
    'apiserver_cel_evaluation_duration_seconds',
    'Duration of the evaluation of CEL expressions in seconds.',
    bounds,
  );
  readonly compilation = this.#compilations.with('');
  readonly evaluation = this.#evaluations.with('');

  text(): string {
    return `${this.#compilations.text()}\n${this.#evaluations.text()}`;
  }
}
