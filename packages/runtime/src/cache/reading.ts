/** What reads of a cache have in common, of one cluster's and of a fleet's. */

import type { GetOptions, KindNames, ListOptions } from '@hangar/client';
import type { Clock, Timer } from '@hangar/core';
import { RuntimeError } from '../errors.ts';
import type { CacheReadOptions, Informer } from './contract.ts';
import { isUnavailable } from './failures.ts';
import type { InformerRegistry, Registered } from './informer-registry.ts';
import type { Running } from './running.ts';

/** As a server reads it: an empty one is all of them, and what is in none is found wherever it is looked for. */
export const namespaceOf = ({ isNamespaced }: KindNames, namespace: string | undefined): string | undefined =>
  isNamespaced && namespace !== '' ? namespace : undefined;

/** Whether objects of the namespace are kept; undefined: of all of them. */
interface Covering extends Registered {
  covers(namespace: string | undefined): boolean;
}

/** The informer that answers, once it has its first list. Throws `CacheNotStarted` and `NotInCache`. */
export function readable<I extends Covering>(
  { running, informers }: { readonly running: Running; readonly informers: InformerRegistry<I> },
  kind: KindNames,
  namespace: string | undefined,
  options: (GetOptions | ListOptions) & CacheReadOptions,
): I {
  if (!running.hasStarted)
    throw new RuntimeError('CacheNotStarted', 'the cache is not started; start the manager or the cluster first');
  const reading = informers.reading(kind);
  insistOnCachedRead(kind, reading.isMetadataOnly, options);
  // Not before it is certain that it can answer.
  const informer = (reading.informer ??= informers.informer(kind));
  insistOnNamespace(informer, namespace);
  return informer;
}

/** Throws `NotInCache` for what only a server can answer. */
function insistOnCachedRead(
  { plural }: KindNames,
  isMetadataOnly: boolean,
  { resourceVersion, metadataOnly, ...options }: (GetOptions | ListOptions) & CacheReadOptions,
): void {
  const refuse = (why: string): never => {
    throw new RuntimeError('NotInCache', `${plural}: ${why}`);
  };
  // '0' is whatever is at hand.
  if (resourceVersion && resourceVersion !== '0')
    refuse('the cache cannot read a specific resourceVersion; use the API reader');
  if ('continue' in options && options.continue)
    refuse('the cache does not support continue tokens; use the API reader');
  if (isMetadataOnly && !metadataOnly) refuse('the cache has metadata only');
}

/** Throws `NotInCache` for a namespace, or all of them, where the informer has only some others. */
function insistOnNamespace(informer: Covering, namespace: string | undefined): void {
  const { kind } = informer;
  if (!kind.isNamespaced || informer.covers(namespace)) return;
  const where = namespace === undefined ? 'all namespaces' : `namespace "${namespace}"`;
  throw new RuntimeError('NotInCache', `${kind.plural} in ${where} are not cached`);
}

export interface WaitOptions {
  readonly clock: Clock;
  readonly readTimeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** How often it is looked whether waiting is of any use. */
const lookMs = 100;

/**
 * Rejects with `Aborted` by its signal, with `CacheNotSynced` in time: at once where the server answers that it has no such kind or
 * does not let it be read, so that one cluster without it does not keep those waiting who work on many. What keeps the informer
 * from its list is the cause.
 */
export async function waitForSync(
  informer: Pick<Informer, 'synced' | 'health'> & { readonly kind: KindNames },
  { clock, readTimeoutMs = 30_000, signal }: WaitOptions,
): Promise<void> {
  const waiting = new AbortController();
  const onAbort = (): void => waiting.abort(signal!.reason);
  if (signal?.aborted) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  const endMs = clock.monotonicMs() + readTimeoutMs;
  let isGivenUp = false;
  let timer: Timer | undefined;
  const look = (): void => {
    const leftMs = endMs - clock.monotonicMs();
    isGivenUp = leftMs <= 0 || isUnavailable(informer.health.lastError);
    if (isGivenUp) waiting.abort();
    else timer = clock.after(Math.min(leftMs, lookMs), look);
  };
  look();
  try {
    await informer.synced(waiting.signal);
  } catch (error) {
    if (!isGivenUp || signal?.aborted) throw error;
    const { lastError: cause } = informer.health;
    const why = cause ? `: ${cause.message}` : '';
    throw new RuntimeError(
      'CacheNotSynced',
      `timed out waiting for the cache of ${informer.kind.plural} to sync${why}`,
      { cause },
    );
  } finally {
    timer?.cancel();
    signal?.removeEventListener('abort', onAbort);
  }
}
