/**
 * Follows Secrets that users name, in any namespace: each is watched by its name, while a registration names it, and no other Secret of its
 * namespace is ever read. The operator's own are in the cache already.
 *
 *     follow('a', fleet/east)   ──► one watch of fleet/east       follow('b', fleet/east)   ──► the same one
 *     follow('a', undefined)        b still needs it              follow('b', undefined)    ──► the watch ends
 *
 * There are never more than `sizeMax` watches, however many Secrets are named: a user who may create registrations may name any number.
 */

import type { Client, ObjectKey } from '@hangar/client';
import { Secret } from '@hangar/client/kinds/core-v1';
import { asError } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import { ClusterCache, withoutManagedFields } from '@hangar/runtime';
import type { Informer } from '@hangar/runtime';

export interface FollowedSecretsOptions {
  /** Reads from the server. */
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** Maximum number of followed Secrets. */
  readonly sizeMax?: number;
}

export const followedMax = 1_024;

interface Followed {
  readonly informer: Informer<Secret>;
  readonly by: Set<string>;
  readonly ending: AbortController;
  readonly ended: Promise<void>;
}

export type Tell = (registration: string) => void;

export class FollowedSecrets {
  readonly #options: FollowedSecretsOptions;
  readonly #bySecret = new Map<string, Followed>();
  readonly #byRegistration = new Map<string, string>();
  #tell: Tell = () => {};
  #isClosed = false;

  constructor(options: FollowedSecretsOptions) {
    this.#options = options;
  }

  /** Number of watches. */
  get size(): number {
    return this.#bySecret.size;
  }

  /** Sets the listener, which is called for each registration that names a changed Secret. Reopens after `close`. */
  onChange(tell: Tell): void {
    this.#tell = tell;
    this.#isClosed = false;
  }

  /** Maximum number of watches. */
  get sizeMax(): number {
    return this.#options.sizeMax ?? followedMax;
  }

  /** Sets the Secret that a registration names; undefined: none. Returns false if it is not followed, because there are too many others. */
  follow(registration: string, secret: ObjectKey | undefined): boolean {
    const before = this.#byRegistration.get(registration);
    const now = secret && textOf(secret);
    // A pass in progress at shutdown must not start a watch.
    if (before === now || this.#isClosed) return true;
    if (before !== undefined) this.#leave(before, registration);
    this.#byRegistration.delete(registration);
    if (now === undefined) return true;
    if (!this.#bySecret.has(now) && this.size >= this.sizeMax) return false;
    this.#followed(secret!).by.add(registration);
    this.#byRegistration.set(registration, now);
    return true;
  }

  /** `pending`: not known yet; an event follows. */
  get(secret: ObjectKey): Secret | 'pending' | undefined {
    const informer = this.#bySecret.get(textOf(secret))?.informer;
    return informer?.hasSynced ? informer.get(secret) : 'pending';
  }

  /** Stops every watch. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const all = [...this.#bySecret.values()];
    this.#bySecret.clear();
    this.#byRegistration.clear();
    for (const { ending } of all) ending.abort();
    await Promise.all(all.map(({ ended }) => ended));
  }

  #followed(secret: ObjectKey): Followed {
    const text = textOf(secret);
    const known = this.#bySecret.get(text);
    if (known) return known;
    const { client, clock, log } = this.#options;
    const cache = new ClusterCache({ client, clock, log });
    const informer = cache.informer(Secret, {
      ...(secret.namespace === undefined ? {} : { namespace: secret.namespace }),
      fieldSelector: `metadata.name=${secret.name}`,
      transform: withoutManagedFields,
    });
    const by = new Set<string>();
    const tell = (): void => by.forEach((registration) => this.#tell(registration));
    informer.addHandler({ onAdd: tell, onUpdate: tell, onDelete: tell });
    const ending = new AbortController();
    // Also when there is none.
    informer.synced(ending.signal).then(tell, () => {});
    const ended = cache.start(ending.signal).catch((error: unknown) => {
      log.error('failed to watch a Secret, retrying', { secret: text, error: asError(error) });
    });
    const followed = { informer, by, ending, ended };
    this.#bySecret.set(text, followed);
    return followed;
  }

  #leave(text: string, registration: string): void {
    const followed = this.#bySecret.get(text);
    followed?.by.delete(registration);
    if (!followed || followed.by.size > 0) return;
    this.#bySecret.delete(text);
    followed.ending.abort();
  }
}

const textOf = ({ namespace = '', name }: ObjectKey): string => `${namespace}/${name}`;
