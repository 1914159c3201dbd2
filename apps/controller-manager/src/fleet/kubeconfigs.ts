/**
 * Kubeconfigs, out of Secrets. Those that are the same as before are not told again, whatever else changed of their Secret. A management
 * plane that does not answer takes nothing back. One that refuses does, but not at once when it was different before: a server that
 * has just started may know no rights yet, and nothing that runs is to end for that.
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
/** How long a refusal has to last before what was read earlier is taken back. */
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

/** Not decoded in parts: an empty one is none. */
function kubeconfigIn(secret: Secret | undefined): string | undefined {
  const encoded = secret?.data?.[key];
  return encoded ? Buffer.from(encoded, 'base64').toString() : undefined;
}

/** What was told of one, and whether it is to be told anew. */
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
    // Each once, until it is over: a missing right is not news every other minute.
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
