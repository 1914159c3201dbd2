/**
 * The ownership of a whole manager: none until it leads, then that of the lease, for as long as it can be proven. Without leader election
 * it is valid from the start. Controllers check it before every dispatch, clients before every write.
 */

import { aborted } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { Cluster } from '../cluster.ts';
import type { Coordinator, Ownership } from '../clusters/contract.ts';
import { Fence } from '../clusters/engage/fence.ts';
import { fencedClient } from '../clusters/engage/fenced-client.ts';
import { RuntimeError } from '../errors.ts';

export class LeaderGate implements Omit<Ownership, 'token' | 'signal'> {
  #ownership: Ownership | undefined;

  open(ownership: Ownership): void {
    this.#ownership = ownership;
  }

  check(): void {
    if (!this.#ownership) throw new RuntimeError('Fenced', 'this process is not the leader');
    this.#ownership.check();
  }

  remainingMs(): number {
    return this.#ownership?.remainingMs() ?? 0;
  }
}

/** The cluster with a client that writes only while this process leads. */
export function ledCluster(cluster: Cluster, gate: LeaderGate, clock: Clock): Cluster {
  const ownership: Ownership = {
    token: 0,
    check: () => gate.check(),
    remainingMs: () => gate.remainingMs(),
    signal: new AbortController().signal,
  };
  const fence = new Fence({ name: cluster.name, clock, ownership });
  return {
    name: cluster.name,
    client: fencedClient(cluster.client, fence),
    apiReader: cluster.apiReader,
    cache: cluster.cache,
    start: (signal) => cluster.start(signal),
  };
}

/** A coordinator that assigns every cluster to the leader. Other processes open and sync the clusters, and may not write. */
export const leaderOwns = (gate: LeaderGate): Coordinator => ({
  follow(_cluster, claim) {
    const ended = new AbortController();
    const { signal } = ended;
    claim.acquired({
      token: 0,
      signal,
      check() {
        if (signal.aborted) throw new RuntimeError('Fenced', 'the cluster is no longer discovered');
        gate.check();
      },
      remainingMs: () => (signal.aborted ? 0 : gate.remainingMs()),
    });
    return () => ended.abort();
  },
  // The leader owns all clusters, regardless of labels.
  changed() {},
  run: (signal) => aborted(signal),
});
