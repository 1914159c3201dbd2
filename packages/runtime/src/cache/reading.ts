/** Shared by reads from the cache of one cluster and of a fleet. */

import type { GetOptions, KindNames, ListOptions } from '@hangar/client';
import type { Clock, Timer } from '@hangar/core';
import { RuntimeError } from '../errors.ts';
import type { CacheReadOptions, Informer } from './contract.ts';
import { isUnavailable } from './failures.ts';
import type { InformerRegistry, Registered } from './informer-registry.ts';
import type { Running } from './running.ts';

/** Same rules as a server: an empty namespace means all namespaces, and cluster-scoped objects are found with any namespace. */
export const namespaceOf = ({ isNamespaced }: KindNames, namespace: string | undefined): string | undefined =>
  isNamespaced && namespace !== '' ? namespace : undefined;

/** Reports whether objects of the namespace are cached; undefined: of all namespaces. */
interface Covering extends Registered {
  covers(namespace: string | undefined): boolean;
}

/** Returns the informer after its first list. Throws `CacheNotStarted` and `NotInCache`. */
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
  // Created only after the checks above.
  const informer = (reading.informer ??= informers.informer(kind));
  insistOnNamespace(informer, namespace);
  return informer;
}

/** Throws `NotInCache` for reads that only a server can answer. */
function insistOnCachedRead(
  { plural }: KindNames,
  isMetadataOnly: boolean,
  { resourceVersion, metadataOnly, ...options }: (GetOptions | ListOptions) & CacheReadOptions,
): void {
  const refuse = (why: string): never => {
    throw new RuntimeError('NotInCache', `${plural}: ${why}`);
  };
  // '0' accepts any version.
  if (resourceVersion && resourceVersion !== '0')
    refuse('the cache cannot read a specific resourceVersion; use the API reader');
  if ('continue' in options && options.continue)
    refuse('the cache does not support continue tokens; use the API reader');
  if (isMetadataOnly && !metadataOnly) refuse('the cache has metadata only');
}

/** Throws `NotInCache` for a namespace that the informer does not cover. */
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

/** Interval of checks whether waiting can still succeed. */
const lookMs = 100;

/**
 * Rejects with `Aborted`, or with `CacheNotSynced` after the timeout. It rejects at once when the server does not serve the kind or forbids
 * reads, so that one such cluster does not delay callers that work on many. The error of the informer is the cause.
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
