/**
 * Computes the target of a cluster: follows the Secret with its kubeconfig, and combines that with the address from the fleet. The writer
 * of the Secret is not trusted with this machine: programs and files that a kubeconfig names are refused, and the kubeconfig of the program
 * is generated.
 */

import { configOfKubeconfig } from '@hangar/client';
import type { ClusterConfig, ObjectKey } from '@hangar/client';
import { asError } from '@hangar/core';
import { withAddress } from '@hangar/runtime/clusters';
import type { FleetCluster, Kubeconfigs } from '../../contract.ts';
import { kubeconfigOf } from './kubeconfig-file.ts';
import { oneLine } from './words.ts';

export interface Target {
  readonly config: ClusterConfig;
  /** The whole kubeconfig for the program: secret. Also the identity of the target: equal texts are equal targets. */
  readonly kubeconfig: string;
}

export type Wanted =
  | { readonly kind: 'target'; readonly target: Target }
  /** There is no kubeconfig. */
  | { readonly kind: 'pending'; readonly reason: 'KubeconfigPending'; readonly message: string }
  /** There is one that must not, or cannot, be used until it is changed. */
  | { readonly kind: 'unusable'; readonly reason: 'KubeconfigInvalid' | 'AddressInvalid'; readonly message: string };

export interface WantedOptions {
  readonly kubeconfigs: Kubeconfigs;
  /** Called on changes only; never within a call of `update`. */
  readonly tell: (wanted: Wanted) => void;
}

export const nothingKnown: Wanted = {
  kind: 'pending',
  reason: 'KubeconfigPending',
  message: 'waiting for the reference to the kubeconfig Secret',
};

export class WantedFollower {
  readonly #options: WantedOptions;
  #cluster: Pick<FleetCluster, 'address' | 'secret'> = { address: undefined, secret: undefined };
  #text: string | undefined;
  #unfollow: (() => void) | undefined;
  /** Incremented by every event that makes a pending computation stale. */
  #version = 0;
  #told: Wanted = nothingKnown;

  constructor(options: WantedOptions) {
    this.#options = options;
  }

  update(cluster: Pick<FleetCluster, 'address' | 'secret'>): void {
    const before = this.#cluster;
    this.#cluster = cluster;
    if (!isSameKey(before.secret, cluster.secret)) this.#follow(cluster.secret);
    else if (before.address !== cluster.address) this.#consider();
  }

  /** Stops reporting. */
  close(): void {
    this.#version++;
    this.#unfollow?.();
    this.#unfollow = undefined;
  }

  #follow(secret: ObjectKey | undefined): void {
    this.close();
    this.#text = undefined;
    if (!secret) return this.#consider();
    // Before the first read, it is unknown whether there is one.
    this.#unfollow = this.#options.kubeconfigs.follow(secret, (text) => {
      this.#text = text;
      this.#consider();
    });
  }

  #consider(): void {
    const version = ++this.#version;
    void wantedOf(this.#cluster, this.#text).then((wanted) => {
      if (version !== this.#version || isSame(wanted, this.#told)) return;
      this.#told = wanted;
      this.#options.tell(wanted);
    });
  }
}

/** Never rejects. */
async function wantedOf({ secret, address }: Pick<FleetCluster, 'address' | 'secret'>, text?: string): Promise<Wanted> {
  if (!secret) return nothingKnown;
  const source = `Secret "${secret.namespace}/${secret.name}"`;
  if (text === undefined) {
    return { kind: 'pending', reason: 'KubeconfigPending', message: `${source} has no kubeconfig` };
  }
  let config: ClusterConfig;
  try {
    config = await configOfKubeconfig(text, { source });
  } catch (error) {
    return { kind: 'unusable', reason: 'KubeconfigInvalid', message: oneLine(asError(error).message) };
  }
  try {
    if (address !== undefined) config = withAddress(config, address);
  } catch (error) {
    return { kind: 'unusable', reason: 'AddressInvalid', message: oneLine(asError(error).message) };
  }
  return { kind: 'target', target: { config, kubeconfig: await kubeconfigOf(config) } };
}

function isSame(one: Wanted, other: Wanted): boolean {
  if (one.kind === 'target') return other.kind === 'target' && one.target.kubeconfig === other.target.kubeconfig;
  return other.kind === one.kind && one.reason === other.reason && one.message === other.message;
}

const isSameKey = (one: ObjectKey | undefined, other: ObjectKey | undefined): boolean =>
  one?.namespace === other?.namespace && one?.name === other?.name && (one === undefined) === (other === undefined);
