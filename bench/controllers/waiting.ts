/** Waits for events with a watch: polling would be work for the measured server. */

import type { ApiObject, Client, Kind, WatchEvent, WatchOptions } from '@hangar/client';

const patienceMs = 180_000;

/** Watches from before `act` is called; resolves with the milliseconds from its call to the event for which `isDone` is true. */
export async function timeUntil<T extends ApiObject>(
  { client, kind, ...options }: { readonly client: Client; readonly kind: Kind<T> } & WatchOptions,
  act: () => Promise<unknown>,
  isDone: (event: WatchEvent<T>) => boolean,
): Promise<number> {
  const { resourceVersion } = await client.list(kind, { ...options, limit: 1 });
  const signal = AbortSignal.timeout(patienceMs);
  const watched = (async () => {
    for await (const event of client.watch(kind, { ...options, resourceVersion, signal })) {
      if (isDone(event)) return performance.now();
    }
    throw new Error(`the watch of ${kind.plural} ended`);
  })();
  const startedMs = performance.now();
  const [endedMs] = await Promise.all([watched, act()]);
  return endedMs - startedMs;
}

/** With limited concurrency. */
export async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const left = items.values();
  const worker = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: 32 }, worker));
}
