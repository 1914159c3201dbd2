/** LIST: concatenates stored bytes without decoding, unless the objects are needed: for tables and other formats. */

import { LazyList } from '@hangar/api';
import type { JsonObject, KubeObject } from '@hangar/api';
import type { Entry } from '@hangar/store';
import type { Answer } from '../http/message.ts';
import { tables } from '../objects/tables.ts';
import { isStreaming } from '../http/message.ts';
import {
  bytesAnswer,
  encoded,
  metaVersion,
  piecesAnswer,
  shownObject,
  tableOptions,
  wantedBy,
} from '../objects/answers.ts';
import { encodedPieces } from '../objects/pieces.ts';
import type { Pieces } from '../objects/pieces.ts';
import type { Wanted } from '../request/media.ts';
import type { Resource } from '../resources/resource.ts';
import type { Call } from './call.ts';
import { listOptions } from './list-options.ts';
import { entriesAtOnce } from './list-page.ts';
import { readVisiblePage } from './visible.ts';
import type { Page } from './list-page.ts';

export async function list(call: Call): Promise<Answer> {
  const want = wantedBy(call);
  const options = listOptions(call.query, call.resource, false);
  const page = await readVisiblePage(call, options);
  return pageAnswer(call, want, page);
}

export async function pageAnswer(call: Call, want: Wanted, page: Page): Promise<Answer> {
  const { resource, warnings } = call;
  if (want.format !== 'json' || want.shape !== undefined) {
    if (want.format === 'json' && isShort(resource, page)) {
      return bytesAnswer(200, want.contentType, encoded(shortList(call, want, page), want), warnings);
    }
    return piecesAnswer(call, want, shapedPieces(call, want, page));
  }
  const kept = page.derived?.get();
  if (kept) return bytesAnswer(200, want.contentType, [listHead(resource, page), ...kept, listEnd], warnings);
  const answer = await piecesAnswer(call, want, listPieces(resource, page));
  if (!isStreaming(answer.body)) page.derived?.keep((answer.body as readonly Uint8Array[]).slice(1, -1));
  return answer;
}

/** Shorter lists are encoded in one piece, which is faster. */
const shortBytesMax = 64 * 1024;

/** Encoding built-in kinds takes time in proportion to their bytes; defaults and columns of custom resources may multiply it. */
function isShort({ struct, table }: Resource, { entries }: Page): boolean {
  if (!struct || table.compare) return false;
  let bytes = 0;
  for (const { value } of entries) bytes += value.length;
  return bytes <= shortBytesMax;
}

function shortList(call: Call, want: Wanted, page: Page): JsonObject {
  const list = shapedList(
    call,
    want,
    page,
    LazyList.of(page.entries, (entry) => shownObject(call, want, entry)),
  );
  const whole = Object.entries(list).map(([name, value]) => [
    name,
    value instanceof LazyList ? value.toArray() : value,
  ]);
  return Object.fromEntries(whole) as JsonObject;
}

function* listPieces(resource: Resource, page: Page): Pieces {
  const items = itemPieces(resource, page.entries);
  // Compute the first items before the head: a list of all control planes takes its kind from them.
  const { value: first } = items.next();
  yield listHead(resource, page);
  if (first) yield first;
  yield* items;
  yield listEnd;
}

/** Returns the part of a list before its items. */
export function listHead(resource: Resource, page: Pick<Page, 'metadata'>): Buffer {
  const head = { kind: resource.listKind, apiVersion: resource.apiVersion, metadata: listMetadata(resource, page) };
  return Buffer.from(`${JSON.stringify(head).slice(0, -1)},"items":[`);
}

export const listEnd = Buffer.from(']}\n');

/** Lists of custom resources have an empty `continue`; others omit it. */
const listMetadata = ({ struct }: Resource, { metadata }: Pick<Page, 'metadata'>): Page['metadata'] =>
  struct ? metadata : { continue: '', ...metadata };

/** Bytes per piece: for values that are sent as stored, and for values that are decoded. */
const storedBytesAtOnce = 512 * 1024;
const decodedBytesAtOnce = 16 * 1024;

function* itemPieces({ stored }: Resource, entries: readonly Entry[]): Pieces {
  const bytesMax = stored.isFaithful ? storedBytesAtOnce : decodedBytesAtOnce;
  for (let from = 0; from < entries.length;) {
    let to = from;
    for (let bytes = 0; to < entries.length && to - from < entriesAtOnce && bytes < bytesMax; to++) {
      bytes += entries[to]!.value.length;
    }
    if (from > 0) yield comma;
    yield stored.items(from === 0 && to === entries.length ? entries : entries.slice(from, to));
    from = to;
  }
}

const comma = Buffer.from(',');
const nothing = Buffer.alloc(0);

/** Tables, metadata and other formats: objects are decoded one at a time, unless the rows of the kind are sorted. */
function* shapedPieces(call: Call, want: Wanted, page: Page): Pieces {
  const { resource } = call;
  const objectOf = (entry: Entry): KubeObject => shownObject(call, want, entry);
  const compare = want.shape === 'Table' ? resource.table.compare : undefined;
  if (!compare) {
    const { entries } = page;
    // Decode the first object now: a list of all control planes takes its kind from its objects.
    const first = entries.length > 0 ? objectOf(entries[0]!) : undefined;
    const objects = new LazyList(entries.length, (at) => (at === 0 ? first! : objectOf(entries[at]!)));
    yield* encodedPieces(shapedList(call, want, page, objects), want.format);
    return;
  }
  const objects: KubeObject[] = [];
  for (const entry of page.entries) {
    objects.push(objectOf(entry));
    yield nothing;
  }
  objects.sort(compare);
  yield* encodedPieces(
    shapedList(
      call,
      want,
      page,
      LazyList.of(objects, (object) => object),
    ),
    want.format,
  );
}

function shapedList(call: Call, want: Wanted, page: Page, objects: LazyList<KubeObject>): JsonObject {
  const { resource } = call;
  switch (want.shape) {
    case 'Table': {
      const options = { ...tableOptions(call, want), listMeta: page.metadata };
      return { ...tables().lazyTableOf(resource.table, objects, options) };
    }
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

/** Items of typed lists have no kind: the list has it. */
export function withoutType(object: KubeObject): JsonObject {
  const { kind: _, apiVersion: __, ...rest } = object;
  return rest;
}
