/**
 * One Secret, followed by its name: a list and a watch with `metadata.name` as field selector, for which a right by `resourceNames` is
 * enough. Leaner than a cache: it keeps a resourceVersion.
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
  /** As it is now; undefined: there is none. */
  readonly onSecret: (secret: Secret | undefined) => void;
  /** The server cannot be followed for now; what was told before may be old. Another attempt follows. */
  readonly onFailure: (error: Error) => void;
}

const backOff: BackOff = { baseMs: 1_000, maxMs: 30_000 };
/** A right that is missing is given by people. */
const refusedBackOff: BackOff = { baseMs: 15_000, maxMs: 120_000 };
/** A watch that lived for less is no progress, even when it ended in good order. */
const shortMs = 1_000;
/** After so long without a failure, the next one is the first. */
const healthyMs = 10_000;
/** Servers are asked to end watches after 5 to 10 minutes; one that is still open later is taken for dead. */
const watchSeconds = 300;
const graceMs = 30_000;
const listTimeoutMs = 30_000;

/** Until the signal. Never rejects. */
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

/** Ends with a rejection, except by the signal: a watch that ends in good order is followed by the next. */
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
    // What ends at once again and again would be asked for without a pause.
    if (clock.monotonicMs() - beganMs < shortMs) await sleep(clock, shortMs, signal);
  }
}

interface WatchFrom extends SecretWatchOptions {
  readonly one: { readonly namespace: string | undefined; readonly fieldSelector: string };
  readonly since: string;
}

/** Up to where everything was told, when the server has ended it. */
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
