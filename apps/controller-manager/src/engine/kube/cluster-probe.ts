/** Probes the cluster itself, with one connection, to the last target. */

import { Probe, probeAgent } from './probe.ts';
import type { ProbeOptions } from './probe.ts';
import type { Target } from './wanted.ts';

export interface ClusterProbeOptions extends Pick<ProbeOptions, 'clock' | 'connect'> {
  readonly peer: string;
}

export class ClusterProbe {
  readonly #options: ClusterProbeOptions;
  #current: { readonly target: Target; readonly probe: Probe } | undefined;

  constructor(options: ClusterProbeOptions) {
    this.#options = options;
  }

  /** Returns the same probe for the same target; closes the probe of the previous one. */
  of(target: Target): Probe {
    if (this.#current?.target.kubeconfig === target.kubeconfig) return this.#current.probe;
    void this.close();
    const { clock, connect, peer } = this.#options;
    const probe = new Probe({ config: target.config, path: '/readyz', userAgent: probeAgent(peer), clock, connect });
    this.#current = { target, probe };
    return probe;
  }

  async close(): Promise<void> {
    const current = this.#current;
    this.#current = undefined;
    await current?.probe.close();
  }
}
