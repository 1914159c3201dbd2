/** GET of one object: the stored bytes with the revision inserted. */

import { notFound } from '@hangar/api';
import type { Entry } from '@hangar/store';
import { objectKey } from '../control-plane.ts';
import type { Answer } from '../http/message.ts';
import { entryAnswer, wantedBy } from '../objects/answers.ts';
import { parseResourceVersion, untilReached } from '../objects/resource-version.ts';
import { groupResource, namespaceOf } from './call.ts';
import type { Call } from './call.ts';

export async function get(call: Call): Promise<Answer> {
  const want = wantedBy(call);
  const entry = await existingEntry(call);
  return entryAnswer(call, want, entry);
}

/** Rejects with 404. */
export async function existingEntry(call: Call): Promise<Entry> {
  const { plane, resource, info, query, visibility } = call;
  if (query.has('resourceVersion')) await untilReached(plane, parseResourceVersion(query.text('resourceVersion')));
  const { entry } = await plane.store.get(objectKey(plane, resource, namespaceOf(call), info.name));
  if (!entry || (visibility && !visibility.isVisible(resource.stored.object(entry)))) {
    throw notFound(groupResource(call), info.name);
  }
  return entry;
}
