/** Lists as they come: their objects do not say again what they are. */

import type { ObjectList } from '../client.ts';
import type { ApiObject, Kind } from '../kind.ts';

interface ListBody<T> {
  readonly metadata?: { resourceVersion?: string; continue?: string; remainingItemCount?: number };
  readonly items?: T[] | null;
}

export function objectsOf<T extends ApiObject>({ apiVersion, kind }: Kind<T>, body: Buffer): ObjectList<T> {
  const { metadata = {}, items } = JSON.parse(body.toString()) as ListBody<T>;
  for (const item of items ?? []) {
    item.apiVersion ??= apiVersion;
    item.kind ??= kind;
  }
  return {
    items: items ?? [],
    resourceVersion: metadata.resourceVersion ?? '',
    ...(metadata.continue ? { continue: metadata.continue } : {}),
    ...(metadata.remainingItemCount === undefined ? {} : { remainingItemCount: metadata.remainingItemCount }),
  };
}
