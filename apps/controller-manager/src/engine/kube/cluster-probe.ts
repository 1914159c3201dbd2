/** Asks the cluster itself how it does: one connection, to the one that was asked for last. */

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

  /** The same again for the same target; that of another one before is closed. */
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
