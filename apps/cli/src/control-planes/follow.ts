/** Follows all objects of a kind by a watch, which is resumed when it ends or breaks. */

import type { ApiObject, Client, Kind } from '@hangar/client';
import { hasCode, sleep } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { withDefinitions } from './find.ts';
import { isBroken } from './wait.ts';

export interface FollowOptions<T> {
  readonly labelSelector?: string | undefined;
  /** Called with the objects that exist, then with each that changed. A deleted object comes with a deletion timestamp. */
  readonly onObjects: (objects: readonly T[]) => void;
  readonly onBroken: () => void;
  readonly clock: Clock;
  /** Rejects with `Aborted`. */
  readonly signal: AbortSignal;
}

const againMs = 1_000;

/** Continues until the signal. Rejects when the server refuses. */
export async function followAll<T extends ApiObject>(
  client: Client,
  kind: Kind<T>,
  options: FollowOptions<T>,
): Promise<never> {
  const { clock, signal, labelSelector, onObjects, onBroken } = options;
  const known = new Map<string, T>();
  for (;;) {
    try {
      const { items, resourceVersion } = await withDefinitions(client.list(kind, { labelSelector, signal }));
      const changed = reconciled(known, items);
      if (changed.length > 0) onObjects(changed);
      for await (const event of client.watch(kind, { labelSelector, resourceVersion, signal })) {
        if (event.type === 'BOOKMARK') continue;
        const { type, object } = event;
        const name = object.metadata.name!;
        if (type === 'DELETED') known.delete(name);
        else known.set(name, object);
        onObjects([type === 'DELETED' ? deleted(object) : object]);
      }
    } catch (error) {
      if (!isBroken(error)) throw error;
      if (!hasCode(error, 'Expired')) onBroken();
    }
    await sleep(clock, againMs, signal);
  }
}

/** Updates `known` and returns the objects that changed. */
function reconciled<T extends ApiObject>(known: Map<string, T>, items: readonly T[]): T[] {
  const now = new Map(items.map((one) => [one.metadata.name!, one]));
  const gone = [...known.values()].filter(({ metadata }) => !now.has(metadata.name!)).map(deleted);
  const changed = items.filter(
    ({ metadata }) => known.get(metadata.name!)?.metadata.resourceVersion !== metadata.resourceVersion,
  );
  known.clear();
  for (const [name, object] of now) known.set(name, object);
  return [...gone, ...changed];
}

const deleted = <T extends ApiObject>(object: T): T => {
  const { deletionTimestamp = new Date().toISOString() } = object.metadata;
  return { ...object, metadata: { ...object.metadata, deletionTimestamp } };
};
