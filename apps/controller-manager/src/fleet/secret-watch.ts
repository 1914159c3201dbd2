/**
 * Follows one Secret by its name: a list and a watch with `metadata.name` as field selector, for which a permission by `resourceNames` is
 * enough. Smaller than a cache: it keeps a resourceVersion.
 *
 *   list ──► watch from there ──► ended in good order: watch again
 *    ▲            └── broken, too old, refused: wait, longer each time ──┐
 *    └───────────────────────────────────────────────────────────────────┘
 */

import type { Client, ObjectKey } from '@hangar/client';
import { Secret } from '@hangar/client/kinds/core-v1';
import { abortError, asError, backOffMs, hasCode, sleep } from '@hangar/core';
import type { BackOff, Clock, Random } from '@hangar/core';
import { within } from './within.ts';

export interface SecretWatchOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  /** Called with the current Secret; undefined: it does not exist. */
  readonly onSecret: (secret: Secret | undefined) => void;
  /** Called when the watch failed; the last reported Secret may be stale. A retry follows. */
  readonly onFailure: (error: Error) => void;
}

const backOff: BackOff = { baseMs: 1_000, maxMs: 30_000 };
/** A missing permission is granted by an administrator. */
const refusedBackOff: BackOff = { baseMs: 15_000, maxMs: 120_000 };
/** A shorter watch is not progress, even if the server closed it in good order. */
const shortMs = 1_000;
/** After this long without a failure, the backoff restarts. */
const healthyMs = 10_000;
/** Requested timeout of watches is 5 to 10 minutes; a watch that is open for longer is considered dead. */
const watchSeconds = 300;
const graceMs = 30_000;
const listTimeoutMs = 30_000;

/** Runs until the signal. Never rejects. */
export async function watchSecret(key: ObjectKey, options: SecretWatchOptions, signal: AbortSignal): Promise<void> {
  const { clock, random, onFailure } = options;
  let failures = 0;
  let refusals = 0;
  while (!signal.aborted) {
    const beganMs = clock.monotonicMs();
    const error = await listAndWatch(key, options, signal).catch(asError);
    if (signal.aborted) return;
    if (error) onFailure(error);
    failures = clock.monotonicMs() - beganMs >= healthyMs ? 1 : failures + 1;
    refusals = hasCode(error, 'Forbidden') ? refusals + 1 : 0;
    const delayMs = refusals > 0 ? backOffMs(refusedBackOff, refusals, random) : backOffMs(backOff, failures, random);
    await sleep(clock, delayMs, signal).catch(() => undefined);
  }
}

/** Rejects on failure; a watch that ends in good order is followed by the next. */
async function listAndWatch(key: ObjectKey, options: SecretWatchOptions, signal: AbortSignal): Promise<void> {
  const { client, clock, onSecret } = options;
  const one = { namespace: key.namespace, fieldSelector: `metadata.name=${key.name}` };
  const { items, resourceVersion } = await within(clock, listTimeoutMs, signal, (signal) =>
    client.list(Secret, { ...one, signal }),
  );
  if (signal.aborted) return;
  onSecret(items[0]);
  for (let since = resourceVersion; !signal.aborted;) {
    const beganMs = clock.monotonicMs();
    since = await watched({ ...options, since, one }, signal);
    // Pauses, so that a watch that ends at once is not repeated in a tight loop.
    if (clock.monotonicMs() - beganMs < shortMs) await sleep(clock, shortMs, signal);
  }
}

interface WatchFrom extends SecretWatchOptions {
  readonly one: { readonly namespace: string | undefined; readonly fieldSelector: string };
  readonly since: string;
}

/** Resolves with the last delivered resourceVersion, when the server has closed the watch. */
async function watched({ client, clock, random, onSecret, one, since }: WatchFrom, signal: AbortSignal) {
  const timeoutSeconds = watchSeconds + random.below(watchSeconds);
  return within(clock, timeoutSeconds * 1_000 + graceMs, signal, async (signal) => {
    let last = since;
    for await (const event of client.watch(Secret, { ...one, resourceVersion: last, timeoutSeconds, signal })) {
      if (signal.aborted) throw abortError(signal);
      if (event.type === 'BOOKMARK') {
        last = event.resourceVersion || last;
        continue;
      }
      last = event.object.metadata.resourceVersion ?? last;
      onSecret(event.type === 'DELETED' ? undefined : event.object);
    }
    return last;
  });
}
