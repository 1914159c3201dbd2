/**
 * Reads a consistent snapshot for a list, in pages of one revision. The current state is read from the in-memory collection if there is
 * one; past states, and collections too large to keep, from the store.
 */

import { badRequest, expired } from '@hangar/api';
import { breathe, hasCode, Slicer } from '@hangar/core';
import { prefixRange, successor } from '@hangar/store';
import type { Entry, KeyRange, Revision } from '@hangar/store';
import { collectionPrefix, objectKey } from '../control-plane.ts';
import type { Collection, Derived } from '../objects/collection.ts';
import { parseResourceVersion, untilReached } from '../objects/resource-version.ts';
import type { Resource } from '../resources/resource.ts';
import { namespaceOf } from './call.ts';
import type { Call } from './call.ts';
import { decodeContinue, encodeContinue } from './continue-token.ts';
import { selects, selectsAll } from './list-options.ts';
import type { ListOptions } from './list-options.ts';

export interface Page {
  readonly entries: readonly Entry[];
  /** Revision of the snapshot. */
  readonly revision: Revision;
  /** Caches the bytes of this page for equal requests until the next change. */
  readonly derived?: Derived;
  readonly metadata: { readonly resourceVersion: string; continue?: string; remainingItemCount?: number };
}

/** Entries per batch, so that a long list does not block other requests. */
export const entriesAtOnce = 1_000;

export async function readPage(call: Call, options: ListOptions): Promise<Page> {
  const { plane, resource } = call;
  const { fields } = options;
  const namespace = namespaceOf(call) || safeNamespace(fields?.requiresNamespace);
  if (isKeySegment(fields?.requiresName) && (namespace !== '' || !resource.namespaced)) {
    return readSingle(call, options, namespace, fields!.requiresName!);
  }
  const prefix = collectionPrefix(plane, resource, namespace);
  const start = startOf(options, prefix);
  await untilReached(plane, start.needed);
  if (start.revision === undefined) {
    const collection = await plane.collections.fresh(collectionPrefix(plane, resource, ''));
    if (collection) return pageOfCollection(call, options, prefix, start, collection);
  }
  return pageOfStore(call, options, prefix, start);
}

async function pageOfCollection(
  { plane, resource }: Call,
  options: ListOptions,
  prefix: string,
  start: Start,
  collection: Collection,
): Promise<Page> {
  const plain = selectsAll(options);
  const { entries, revision, more } = collection.read(start.range, plain ? options.limit : 0);
  const metadata: Page['metadata'] = { resourceVersion: String(revision) };
  if (plain) {
    if (more) {
      const rest = { ...start.range, start: successor(entries.at(-1)!.key) };
      metadata.continue = encodeContinue({ start: rest.start.slice(prefix.length), revision });
      metadata.remainingItemCount = collection.count(rest);
    }
    // All inputs of the bytes: both bounds, because the rest of a longer list may start where a namespace does, and the definitions,
    // because objects are shown by their current schema.
    const { start: first, end = '' } = start.range;
    const name = JSON.stringify([plane.catalogue.generation, resource.apiVersion, first, end, options.limit]);
    return { entries, revision, metadata, derived: collection.derived(name) };
  }
  const selected: Entry[] = [];
  const slicer = new Slicer(plane.clock);
  for (const entry of entries) {
    if (selected.length > 0 && selected.length === options.limit) {
      metadata.continue = encodeContinue({ start: entry.key.slice(prefix.length), revision });
      break;
    }
    if (isSelected(options, resource, entry)) selected.push(entry);
    const paused = slicer.pause();
    if (paused) await paused;
  }
  return { entries: selected, revision, metadata };
}

async function pageOfStore(call: Call, options: ListOptions, prefix: string, from: Start): Promise<Page> {
  const { plane, resource } = call;
  const found: Entry[] = [];
  const slicer = new Slicer(plane.clock);
  let { revision } = from;
  let { start } = from.range;
  const { end } = from.range;
  const rest = (): KeyRange => ({ start, ...(end === undefined ? {} : { end }) });
  let more = true;
  try {
    while (more && (options.limit === 0 || found.length < options.limit)) {
      const at = revision === undefined ? {} : { atRevision: revision };
      const result = await plane.store.range(rest(), { limit: atOnce(options, found.length), ...at });
      ({ revision, more } = result);
      slicer.restart();
      const last = result.entries.at(-1);
      if (last) start = successor(last.key);
      for (const entry of result.entries) {
        if (isSelected(options, resource, entry)) found.push(entry);
        const paused = slicer.pause();
        if (paused) await paused;
        if (found.length > 0 && found.length === options.limit) {
          if (entry !== last) [more, start] = [true, successor(entry.key)];
          break;
        }
      }
      if (more && options.limit === 0) await breathe(plane.clock);
    }
  } catch (error) {
    throw listError(error, options, prefix, rest());
  }
  const metadata: Page['metadata'] = { resourceVersion: String(revision) };
  if (more) {
    metadata.continue = encodeContinue({ start: start.slice(prefix.length), revision: revision! });
    if (selectsAll(options)) {
      metadata.remainingItemCount = (await plane.store.statistics(rest(), { atRevision: revision! })).keys;
    }
  }
  return { entries: found, revision: revision!, metadata };
}

const labelsOf = new WeakMap<Entry, Readonly<Record<string, string>>>();

/** Labels are parsed once per version of an object; field selectors need the whole object. */
export function isSelected(options: ListOptions, resource: Resource, entry: Entry): boolean {
  if (selectsAll(options)) return true;
  if (options.fields) return selects(options, resource.stored.object(entry));
  let labels = labelsOf.get(entry);
  if (!labels) labelsOf.set(entry, (labels = resource.stored.partial(entry).metadata.labels ?? {}));
  return options.labels!.matches(labels);
}

/** Selectors may skip many entries: read more than the limit. */
function atOnce(options: ListOptions, found: number): number {
  if (options.limit === 0) return entriesAtOnce;
  const wantedYet = options.limit - found;
  return selectsAll(options) ? Math.min(entriesAtOnce, wantedYet) : entriesAtOnce;
}

/** A name that is not a key segment cannot exist: then the selector matches nothing. */
export const isKeySegment = (name: string | undefined): boolean =>
  name !== undefined && /^[^/%]+$/.test(name) && !/^\.\.?$/.test(name);

export const safeNamespace = (name: string | undefined): string =>
  name !== undefined && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name) ? name : '';

async function readSingle(call: Call, options: ListOptions, namespace: string, name: string): Promise<Page> {
  const { plane, resource } = call;
  const key = objectKey(plane, resource, namespace, name);
  const { revision, needed } = startOf(options, key);
  await untilReached(plane, needed);
  try {
    const result = await plane.store.get(key, revision === undefined ? {} : { atRevision: revision });
    const isSelected = result.entry && selects(options, resource.stored.object(result.entry));
    return {
      entries: isSelected ? [result.entry!] : [],
      revision: result.revision,
      metadata: { resourceVersion: String(result.revision) },
    };
  } catch (error) {
    throw listError(error, options, key, prefixRange(key));
  }
}

export interface Start {
  readonly range: KeyRange;
  /** Undefined: the current revision. */
  readonly revision: Revision | undefined;
  /** Minimum revision of the store; 0 for any. */
  readonly needed: Revision;
}

export function startOf(options: ListOptions, prefix: string): Start {
  const none = 0 as Revision;
  const all = prefixRange(prefix);
  const asked = parseResourceVersion(options.resourceVersion, 'invalid resource version: ');
  if (options.continueToken !== '') {
    const { start, revision } = decodeContinue(options.continueToken);
    if (options.resourceVersion !== '' && options.resourceVersion !== '0') {
      throw badRequest('specifying resource version is not allowed when using continue');
    }
    return { range: { ...all, start: prefix + start }, revision, needed: revision ?? none };
  }
  const how = options.resourceVersionMatch;
  const isExact = how === 'Exact' || (how === '' && options.limit > 0 && asked > 0);
  return isExact ? { range: all, revision: asked, needed: asked } : { range: all, revision: undefined, needed: asked };
}

const tooOld = 'The resourceVersion for the provided list is too old.';
const continueTooOld =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
  'the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
  'Continuing with the provided token results in an inconsistent list - objects that were created, modified, or ' +
  'deleted between the time the first chunk was returned and now may show up in the list.';

export function listError(error: unknown, options: ListOptions, prefix: string, { start }: KeyRange): unknown {
  if (hasCode(error, 'Compacted')) {
    if (options.continueToken === '') return expired(tooOld);
    return expired(continueTooOld, {
      continue: encodeContinue({ start: start.slice(prefix.length), revision: undefined }),
    });
  }
  return error;
}
