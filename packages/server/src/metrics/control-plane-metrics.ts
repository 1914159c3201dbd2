/**
 * The metrics of one control plane, which its own `/metrics` shows. They contain no names of other control planes. Each part is created when
 * it records its first figure, so that a control plane without requests has none.
 */

import type { Clock } from '@hangar/core';
import { AccessMetrics } from './access-metrics.ts';
import { AdmissionMetrics } from './admission-metrics.ts';
import { ClientMetrics } from './client-metrics.ts';
import { ConversionMetrics } from './conversion-metrics.ts';
import { ExpressionMetrics } from './expression-metrics.ts';
import { RequestMetrics } from './request-metrics.ts';
import { WatchMetrics } from './watch-metrics.ts';

export class ControlPlaneMetrics {
  readonly requests: RequestMetrics;
  #access: AccessMetrics | undefined;
  #admission: AdmissionMetrics | undefined;
  #watches: WatchMetrics | undefined;
  #clients: ClientMetrics | undefined;
  #conversions: ConversionMetrics | undefined;
  #expressions: ExpressionMetrics | undefined;

  constructor(clock: Clock) {
    this.requests = new RequestMetrics(clock);
  }

  get access(): AccessMetrics {
    return (this.#access ??= new AccessMetrics());
  }

  get admission(): AdmissionMetrics {
    return (this.#admission ??= new AdmissionMetrics());
  }

  get watches(): WatchMetrics {
    return (this.#watches ??= new WatchMetrics());
  }

  /** Calls of this server to webhooks and other API servers. Not in `text`: other clients of the process have the same families. */
  get clients(): ClientMetrics {
    return (this.#clients ??= new ClientMetrics());
  }

  get conversions(): ConversionMetrics {
    return (this.#conversions ??= new ConversionMetrics());
  }

  get expressions(): ExpressionMetrics {
    return (this.#expressions ??= new ExpressionMetrics());
  }

  /** Number of series: 0 before the first request. */
  get seriesCount(): number {
    const others = [this.#access, this.#admission, this.#watches, this.#clients, this.#conversions];
    return others.reduce((sum, one) => sum + (one?.seriesCount ?? 0), this.requests.seriesCount);
  }

  /** Releases memory that only saves time while requests arrive. */
  compact(): void {
    this.requests.compact();
  }

  /** Returns the metrics in the Prometheus text format. Families without labels are present before their first value, as in kube-apiserver. */
  text(): string {
    const parts = [this.requests, this.access, this.admission, this.watches, this.expressions];
    return [...parts, ...(this.#conversions ? [this.#conversions] : [])].map((part) => part.text()).join('\n');
  }
}
