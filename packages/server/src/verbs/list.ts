/** LIST: stored bytes are joined, not decoded, unless something has to look into the objects: tables, other formats. */

import type { JsonObject, KubeObject } from '@hangar/api';
import type { Entry } from '@hangar/store';
import { tables } from '../objects/tables.ts';
import type { Answer } from '../http/message.ts';
import { bytesAnswer, encoded, metaVersion, tableOptions, wantedBy } from '../objects/answers.ts';
import type { Wanted } from '../request/media.ts';
import type { Resource } from '../resources/resource.ts';
import type { Call } from './call.ts';
import { listOptions } from './list-options.ts';
import { entriesAtOnce, readPage } from './list-page.ts';
import type { Page } from './list-page.ts';

export async function list(call: Call): Promise<Answer> {
  const want = wantedBy(call);
  const options = listOptions(call.query, call.resource, false);
  const page = await readPage(call, options);
  return pageAnswer(call, want, page);
}

export function pageAnswer(call: Call, want: Wanted, page: Page): Answer {
  const { resource } = call;
  if (want.format === 'json' && want.shape === undefined) {
    const items = (page.derived ?? made)(() => joinedItems(resource, page.entries));
    return bytesAnswer(200, want.contentType, [listHead(resource, page), ...items, listEnd], call.warnings);
  }
  const objects = page.entries.map((entry) => resource.stored.object(entry));
  return bytesAnswer(200, want.contentType, encoded(shapedList(call, want, page, objects), want), call.warnings);
}

/** What stands before and behind the items of a list. */
export function listHead(resource: Resource, page: Pick<Page, 'metadata'>): Buffer {
  const head = { kind: resource.listKind, apiVersion: resource.apiVersion, metadata: listMetadata(resource, page) };
  return Buffer.from(`${JSON.stringify(head).slice(0, -1)},"items":[`);
}

export const listEnd = Buffer.from(']}\n');

/** Lists of custom resources say that there is nothing to continue; others say nothing. */
const listMetadata = ({ struct }: Resource, { metadata }: Pick<Page, 'metadata'>): Page['metadata'] =>
  struct ? metadata : { continue: '', ...metadata };

const made = <T>(make: () => T): T => make();

function joinedItems({ stored }: Resource, entries: readonly Entry[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < entries.length; at += entriesAtOnce) {
    if (at > 0) pieces.push(Buffer.from(','));
    pieces.push(stored.items(entries.slice(at, at + entriesAtOnce)));
  }
  return pieces;
}

function shapedList(call: Call, want: Wanted, page: Page, objects: readonly KubeObject[]): object {
  const { resource } = call;
  switch (want.shape) {
    case 'Table':
      return tables().tableOf(resource.table, objects, { ...tableOptions(call, want), listMeta: page.metadata });
    case 'PartialObjectMetadata':
    case 'PartialObjectMetadataList':
      return {
        kind: 'PartialObjectMetadataList',
        apiVersion: metaVersion(want),
        metadata: page.metadata,
        items: objects.map((object) => tables().partialObjectMetadata(object, metaVersion(want))),
      };
    default:
      return {
        kind: resource.listKind,
        apiVersion: resource.apiVersion,
        metadata: listMetadata(resource, page),
        items: resource.struct ? objects.map(withoutType) : objects,
      };
  }
}

/** Items of typed lists say nothing of their kind: the list does. */
export function withoutType(object: KubeObject): JsonObject {
  const { kind: _, apiVersion: __, ...rest } = object;
  return rest;
}
