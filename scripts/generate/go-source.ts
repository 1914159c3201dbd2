/**
 * Reads the type declarations of a Go package: structs with their tags, named types, and the constants of types marked `+enum`. It is not a
 * full Go parser: it accepts the form that gofmt gives to API types, and refuses everything else.
 */

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface GoField {
  /** Empty for an embedded field. */
  readonly name: string;
  /** As written: `*metav1.Time`, `map[string]string`. */
  readonly type: string;
  readonly tags: ReadonlyMap<string, string>;
}

export interface GoStruct {
  readonly name: string;
  readonly fields: readonly GoField[];
}

export interface GoPackage {
  /** Name of the package in Go. */
  readonly name: string;
  /** The API group, undefined where the package registers none. */
  readonly group: string | undefined;
  readonly structs: ReadonlyMap<string, GoStruct>;
  /** Named types that are not structs → their underlying type, as written. */
  readonly named: ReadonlyMap<string, string>;
  /** Types marked `+enum` → their constants, as written: `"TCP"`, or the name of another constant. */
  readonly enums: ReadonlyMap<string, readonly string[]>;
  /** String constants → their value. */
  readonly constants: ReadonlyMap<string, string>;
  /** Alias in this package → import path. */
  readonly imports: ReadonlyMap<string, string>;
}

interface Draft {
  name: string;
  group: string | undefined;
  structs: Map<string, GoStruct>;
  named: Map<string, string>;
  enums: Map<string, string[]>;
  constants: Map<string, string>;
  imports: Map<string, string>;
}

export async function readGoPackage(folder: string): Promise<GoPackage> {
  const draft: Draft = {
    name: '',
    group: undefined,
    structs: new Map(),
    named: new Map(),
    enums: new Map(),
    constants: new Map(),
    imports: new Map(),
  };
  const files = (await readdir(folder)).filter((file) => file.endsWith('.go') && !ignored.test(file)).sort();
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  for (const text of texts) readTypes(draft, text);
  for (const text of texts) readConstants(draft, text);
  return draft;
}

const ignored = /(_test|\.pb|_generated|_fuzz)\.go$|^zz_generated|^fieldsv1_string\.go$/;

const structTypes = (text: string): string => text.replace(/\/\*[\s\S]*?\*\//g, '');

function readTypes(draft: Draft, source: string): void {
  const text = structTypes(source);
  draft.name ||= /^package (\w+)$/m.exec(text)?.[1] ?? '';
  draft.group ??= /^const GroupName = "(.*)"$/m.exec(text)?.[1];
  for (const [, alias, path] of text.matchAll(/^\s*(?:import )?(\w+ )?"([\w./-]+)"$/gm)) {
    draft.imports.set(alias?.trim() ?? path!.split('/').at(-1)!, path!);
  }
  for (const [, comment, name, rest, body] of text.matchAll(
    /((?:^\/\/.*\n)*)^type (\w+) (struct \{\n([\s\S]*?)^\}|struct ?\{\}|[^\n{]+)$/gm,
  )) {
    if (rest!.startsWith('struct')) draft.structs.set(name!, { name: name!, fields: fieldsOf(body ?? '') });
    else if (!rest!.startsWith('func') && !rest!.startsWith('interface')) draft.named.set(name!, rest!.trim());
    if (/^\/\/ ?\+enum\b/m.test(comment!)) draft.enums.set(name!, []);
  }
}

function fieldsOf(body: string): GoField[] {
  const fields: GoField[] = [];
  for (const line of body.split('\n')) {
    const code = line.trim();
    if (code === '' || code.startsWith('//')) continue;
    const [, name, type, tags] = /^(?:(\w+)\s+)?([\w.*[\]{}]+)(?:\s+`(.*)`)?(?:\s*\/\/.*)?$/.exec(code) ?? [];
    if (type === undefined) throw new Error(`a field that the generator does not understand: ${code}`);
    fields.push({ name: name ?? '', type, tags: tagsOf(tags ?? '') });
  }
  return fields;
}

function tagsOf(text: string): Map<string, string> {
  return new Map(Array.from(text.matchAll(/(\w+):"([^"]*)"/g), ([, key, value]) => [key!, value!]));
}

/** `TCP Protocol = "TCP"`, `Exact = PathType("Exact")`, `IPv4 = AddressType(v1.IPv4Protocol)`. */
function readConstants(draft: Draft, text: string): void {
  for (const [, name, declared, converted, value] of text.matchAll(
    /^\s*(?:const )?(\w+)(?:\s+(\w+))?\s*=\s*(?:(\w+)\()?("[^"]*"|\w+\.\w+)\)?(?:\s*\/\/.*)?$/gm,
  )) {
    if (value!.startsWith('"')) draft.constants.set(name!, value!.slice(1, -1));
    const values = draft.enums.get(declared ?? converted ?? '');
    if (values && !values.includes(value!)) values.push(value!);
  }
}
