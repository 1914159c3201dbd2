/**
 * The OpenAPI 2 document in parts, each encoded once: the built-in part, and each custom resource. After a change of one definition, all
 * other parts are reused, and joining them is a copy of bytes. The result equals, byte for byte, the document written as a whole; parts
 * that conflict (one name with two meanings) cannot be joined.
 *
 *     paths        built-in entries, in order of their names     │/api/…│/apis/apps/…│/apis/batch/…│
 *                  those of a custom resource go between them                 ↑ /apis/apps.example.com/…
 */

import type { GroupVersion } from '../builtin/schemas.ts';
import { isCustomGroup } from '../discovery/model.ts';
import type { ServedGroup, ServedResource } from '../discovery/model.ts';
import { by } from '../discovery/order.ts';
import type { JsonObject } from '../object.ts';
import type { PathItem } from './operations.ts';
import { openApiV2Protobuf, openApiV2ProtobufEntry, openApiV2ProtobufSection } from './protobuf-v2.ts';
import { resourcePaths } from './resource-paths.ts';
import { documentHead, documentTail, documentWriter, pathItems, writeItem } from './v2.ts';
import type { DocumentWriter } from './v2.ts';

export type V2Format = 'json' | 'protobuf';

const sectionNames = ['paths', 'definitions', 'parameters'] as const;
type SectionName = (typeof sectionNames)[number];

/** Concatenated entries in order of their names. */
interface Section {
  readonly names: readonly string[];
  /** End of each entry. */
  readonly ends: readonly number[];
  readonly bytes: Buffer;
}

export interface V2Part {
  readonly format: V2Format;
  readonly sections: Readonly<Record<SectionName, Section>>;
  /** Approximate memory use. */
  readonly size: number;
}

/** Long work in short steps: the caller may do other work between them. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** The part of every document of these groups that does not depend on definitions. */
export function builtinPartOfV2(groups: readonly ServedGroup[], format: V2Format): Steps<V2Part> {
  const builtin = groups.filter((group) => !isCustomGroup(group));
  return partOf(pathItems(builtin), documentWriter(builtin), format);
}

/** The part that a custom resource adds to the built-in part. */
export function* customPartOfV2(
  where: GroupVersion,
  resource: ServedResource,
  { groups, builtin }: { readonly groups: readonly ServedGroup[]; readonly builtin: V2Part },
): Steps<V2Part> {
  const part = yield* partOf(resourcePaths(where, resource), documentWriter(groups), builtin.format);
  return without(part, builtin);
}

function* partOf(items: readonly PathItem[], writer: DocumentWriter, format: V2Format): Steps<V2Part> {
  const sections = {} as Record<SectionName, Section>;
  const paths = new Map<string, JsonObject>();
  for (const item of items.toSorted(by(({ path }) => path))) {
    paths.set(item.path, writeItem(item, writer));
    yield;
  }
  const definitions = Object.entries(writer.definitions.toJson()) as [string, JsonObject][];
  const entries = { paths: [...paths], definitions, parameters: [...writer.shared].sort(by(([key]) => key)) };
  for (const name of sectionNames) sections[name] = yield* sectionOf(name, entries[name], format);
  return { format, sections, size: sizeOf(sections) };
}

function* sectionOf(
  section: SectionName,
  entries: readonly (readonly [string, JsonObject])[],
  format: V2Format,
): Steps<Section> {
  const written: Entry[] = [];
  for (const [name, value] of entries) {
    written.push({ name, bytes: encoded(section, name, value, format) });
    yield;
  }
  return packed(written);
}

/** In JSON with a trailing comma, which is removed from the last entry. */
function encoded(section: SectionName, name: string, value: JsonObject, format: V2Format): Buffer {
  const text = JSON.stringify(value);
  if (format === 'json') return Buffer.from(`${JSON.stringify(name)}:${text},`);
  return openApiV2ProtobufEntry(section, name, JSON.parse(text) as JsonObject);
}

interface Entry {
  readonly name: string;
  readonly bytes: Buffer;
}

function packed(entries: readonly Entry[]): Section {
  let end = 0;
  const ends = entries.map(({ bytes }) => (end += bytes.length));
  return { names: entries.map(({ name }) => name), ends, bytes: Buffer.concat(entries.map(({ bytes }) => bytes)) };
}

const startOf = ({ ends }: Section, index: number): number => (index === 0 ? 0 : ends[index - 1]!);

const slice = (section: Section, from: number, to: number): Buffer =>
  section.bytes.subarray(startOf(section, from), startOf(section, to));

function* entriesOf(section: Section): Generator<Entry> {
  for (const [index, name] of section.names.entries()) yield { name, bytes: slice(section, index, index + 1) };
}

/** Returns the index of the name, or where it would be inserted. */
function placeOf({ names }: Section, name: string): number {
  let [low, high] = [0, names.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (names[middle]! < name) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Keeps an entry that both have only if they differ: then they cannot be joined. */
function without(part: V2Part, builtin: V2Part): V2Part {
  const sections = {} as Record<SectionName, Section>;
  for (const name of sectionNames) {
    const known = builtin.sections[name];
    const isKnown = (entry: Entry): boolean => {
      const at = placeOf(known, entry.name);
      return known.names[at] === entry.name && slice(known, at, at + 1).equals(entry.bytes);
    };
    sections[name] = packed([...entriesOf(part.sections[name])].filter((entry) => !isKnown(entry)));
  }
  return { ...part, sections, size: sizeOf(sections) };
}

const nameBytes = 100;

const sizeOf = (sections: V2Part['sections']): number =>
  sectionNames.reduce((sum, name) => sum + sections[name].bytes.length + nameBytes * sections[name].names.length, 0);

/** Returns the document; undefined if a name has different meanings in two parts. */
export function joinedV2(builtin: V2Part, custom: readonly V2Part[]): Buffer | undefined {
  const merged: Buffer[][] = [];
  for (const name of sectionNames) {
    const pieces = mergedSection(
      builtin.sections[name],
      custom.map(({ sections }) => sections[name]),
    );
    if (!pieces) return undefined;
    merged.push(pieces);
  }
  return builtin.format === 'json' ? jsonDocument(merged) : protobufDocument(merged);
}

function mergedSection(builtin: Section, custom: readonly Section[]): Buffer[] | undefined {
  const added = custom.flatMap((section) => [...entriesOf(section)]).sort(by(({ name }) => name));
  const pieces: Buffer[] = [];
  let from = 0;
  for (const [index, { name, bytes }] of added.entries()) {
    const before = added[index - 1];
    if (before?.name === name) {
      if (!before.bytes.equals(bytes)) return undefined;
      continue;
    }
    const at = placeOf(builtin, name);
    if (builtin.names[at] === name) return undefined;
    pieces.push(slice(builtin, from, at), bytes);
    from = at;
  }
  pieces.push(slice(builtin, from, builtin.names.length));
  return pieces;
}

function jsonDocument(sections: readonly Buffer[][]): Buffer {
  const pieces: Buffer[] = [Buffer.from(JSON.stringify(documentHead()).slice(0, -1))];
  for (const [index, entries] of sections.entries()) {
    pieces.push(Buffer.from(`,"${sectionNames[index]}":{`), ...withoutLastComma(entries), Buffer.from('}'));
  }
  pieces.push(Buffer.from(`,${JSON.stringify(documentTail).slice(1)}`));
  return Buffer.concat(pieces);
}

function withoutLastComma(entries: readonly Buffer[]): Buffer[] {
  const pieces = entries.filter(({ length }) => length > 0);
  const last = pieces.pop();
  return last ? [...pieces, last.subarray(0, -1)] : [];
}

function protobufDocument(sections: readonly Buffer[][]): Buffer {
  const pieces = [openApiV2Protobuf(documentHead())];
  for (const [index, entries] of sections.entries()) {
    const length = entries.reduce((sum, one) => sum + one.length, 0);
    pieces.push(openApiV2ProtobufSection(sectionNames[index]!, length), ...entries);
  }
  pieces.push(openApiV2Protobuf(documentTail));
  return Buffer.concat(pieces);
}
