/**
 * Reads kubeconfigs from Secrets. An unchanged kubeconfig is not reported again when its Secret changes. A management plane that does not
 * answer retracts nothing. A refusal retracts, but only after a delay if the Secret was readable before: a server that has just started may
 * not have loaded its RBAC rules yet, and running programs must not stop for that.
 */

import { find } from '@hangar/client';
import type { Client, ObjectKey } from '@hangar/client';
import { Secret } from '@hangar/client/kinds/core-v1';
import { hasCode } from '@hangar/core';
import type { Clock, Logger, Random, Timer } from '@hangar/core';
import type { Kubeconfigs } from '../contract.ts';
import { watchSecret } from './secret-watch.ts';

export interface KubeconfigsOptions {
  /** Not closed here. */
  readonly management: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

const key = 'kubeconfig';
/** Duration of a refusal after which an earlier kubeconfig is retracted. */
const refusedMs = 30_000;

export const kubeconfigsOf = (options: KubeconfigsOptions): Kubeconfigs => ({
  follow(secret, tell) {
    const ending = new AbortController();
    const followed = new Followed(secret, options, tell);
    const { management: client, clock, random } = options;
    const onSecret = (found: Secret | undefined): void => followed.found(found);
    const onFailure = (error: Error): void => followed.failed(error);
    void watchSecret(secret, { client, clock, random, onSecret, onFailure }, ending.signal);
    return () => {
      ending.abort();
      followed.end();
    };
  },
  async read(secret, signal) {
    return kubeconfigIn(await find(options.management, Secret, secret, { signal }));
  },
});

/** An empty kubeconfig counts as none. */
function kubeconfigIn(secret: Secret | undefined): string | undefined {
  const encoded = secret?.data?.[key];
  return encoded ? Buffer.from(encoded, 'base64').toString() : undefined;
}

/** The last reported kubeconfig of one Secret, and whether to report it again. */
class Followed {
  readonly #options: KubeconfigsOptions;
  readonly #tell: (kubeconfig: string | undefined) => void;
  readonly #log: Logger;
  #told: { readonly kubeconfig: string | undefined } | undefined;
  #problem: string | undefined;
  #refusal: Timer | undefined;

  constructor(secret: ObjectKey, options: KubeconfigsOptions, tell: (kubeconfig: string | undefined) => void) {
    this.#options = options;
    this.#tell = tell;
    this.#log = options.log.child({ secret: `${secret.namespace}/${secret.name}` });
  }

  found(secret: Secret | undefined): void {
    if (this.#problem !== undefined) this.#log.info('watching the kubeconfig Secret again');
    this.#problem = undefined;
    this.#stopWaiting();
    this.#set(kubeconfigIn(secret));
  }

  failed(error: Error): void {
    // Logged once, until it is resolved: a missing permission is not news on every retry.
    if (this.#problem !== error.message) this.#log.warn('failed to watch the kubeconfig Secret, retrying', { error });
    this.#problem = error.message;
    if (!hasCode(error, 'Forbidden')) return this.#stopWaiting();
    if (this.#told?.kubeconfig === undefined) return this.#set(undefined);
    this.#refusal ??= this.#options.clock.after(refusedMs, () => this.#set(undefined));
  }

  end(): void {
    this.#stopWaiting();
  }

  #stopWaiting(): void {
    this.#refusal?.cancel();
    this.#refusal = undefined;
  }

  #set(kubeconfig: string | undefined): void {
    if (this.#told && this.#told.kubeconfig === kubeconfig) return;
    this.#told = { kubeconfig };
    this.#tell(kubeconfig);
  }
}
