/** Reads of the objects that a request is limited to. Objects that are not visible are treated as objects that do not exist. */

import { notFound } from '@hangar/api';
import { successor } from '@hangar/store';
import type { Entry, Revision } from '@hangar/store';
import type { Visibility } from '../auth/visibility.ts';
import { collectionPrefix } from '../control-plane.ts';
import type { Collection } from '../objects/collection.ts';
import { untilReached } from '../objects/resource-version.ts';
import { groupResource, namespaceOf } from './call.ts';
import type { Call } from './call.ts';
import { encodeContinue } from './continue-token.ts';
import { selectsAll } from './list-options.ts';
import type { ListOptions } from './list-options.ts';
import { isSelected, listError, readPage, startOf } from './list-page.ts';
import type { Page } from './list-page.ts';

/** Reads of the store at once. */
const readsAtOnce = 64;

/** Rejects with 404 if the request names an object that is not visible. Takes the same steps whether the object exists or not. */
export async function insistOnVisible(call: Call, visibility: Visibility): Promise<void> {
  const { plane, info } = call;
  if (info.name === '' || info.verb === 'watch' || visibility.has(info.namespace, info.name)) return;
  // The object may have been created just now.
  await visibility.reached(await plane.store.revision());
  if (!visibility.has(info.namespace, info.name)) throw notFound(groupResource(call), info.name);
}

/** Reads a page of all objects, or of those that the request is limited to. */
export const readVisiblePage = (call: Call, options: ListOptions): Promise<Page> =>
  call.visibility ? readVisible(call, call.visibility, options) : readPage(call, options);

/**
 * Reads a page of the visible objects, each by its key. A page of a past revision does not have objects that were deleted after it: a
 * watch from that revision reports their deletion.
 */
async function readVisible(call: Call, visibility: Visibility, options: ListOptions): Promise<Page> {
  const { plane, resource } = call;
  const namespace = namespaceOf(call);
  const whole = collectionPrefix(plane, resource, '');
  const prefix = collectionPrefix(plane, resource, namespace);
  const start = startOf(options, prefix);
  await untilReached(plane, start.needed);
  const collection = start.revision === undefined ? await plane.collections.fresh(whole) : undefined;
  const revision = start.revision ?? collection?.revision ?? (await plane.store.revision());
  await visibility.reached(revision);
  const keys = visibility
    .keys(namespace)
    .map((key) => whole + key)
    .filter((key) => key >= start.range.start);
  const metadata: Page['metadata'] = { resourceVersion: String(revision) };
  const found: Entry[] = [];
  try {
    for (let at = 0; at < keys.length; at += readsAtOnce) {
      const some = keys.slice(at, at + readsAtOnce);
      const entries = await Promise.all(some.map((key) => entryAt({ call, collection, revision }, key)));
      for (const [index, entry] of entries.entries()) {
        if (options.limit > 0 && found.length === options.limit) {
          const first = found.at(-1)!.key;
          metadata.continue = encodeContinue({ start: successor(first).slice(prefix.length), revision });
          if (selectsAll(options)) metadata.remainingItemCount = keys.length - at - index;
          return { entries: found, revision, metadata };
        }
        if (entry && visibility.isVisible(resource.stored.object(entry)) && isSelected(options, resource, entry)) {
          found.push(entry);
        }
      }
    }
  } catch (error) {
    throw listError(error, options, prefix, start.range);
  }
  return { entries: found, revision, metadata };
}

interface Snapshot {
  readonly call: Call;
  readonly collection: Collection | undefined;
  readonly revision: Revision;
}

/** An entry of the collection that has not changed since the revision is the entry at the revision. */
function entryAt(
  { call, collection, revision }: Snapshot,
  key: string,
): Entry | undefined | Promise<Entry | undefined> {
  const known = collection?.get(key);
  if (known && known.modRevision <= revision) return known;
  return call.plane.store.get(key, { atRevision: revision }).then(({ entry }) => entry);
}
