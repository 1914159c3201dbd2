/** Reads the columns of `kubectl get` from the server's printers: names, types, formats, priorities; never their prose. */

import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { Sources } from './modules.ts';

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly priority: number;
}

/** By `<folder of the internal types>.<kind>`, such as `core.Pod`. */
export type ColumnsByKind = ReadonlyMap<string, readonly Column[]>;

/** Columns of the server without a registered printer. */
export const defaultColumns: readonly Column[] = [
  { name: 'Name', type: 'string', format: 'name', priority: 0 },
  { name: 'Created At', type: 'date', format: '', priority: 0 },
];

/**
 * Resources, as `<folder>.<plural>`, whose storage shows the default columns although a printer for their kind exists.
 */
export async function readUnprinted(from: Sources): Promise<ReadonlySet<string>> {
  const folder = join(from.kubernetes, 'pkg/registry');
  const found = new Set<string>();
  for (const file of globSync('*/**/*.go', { cwd: folder })) {
    if (file.endsWith('_test.go')) continue;
    const text = await readFile(join(folder, file), 'utf8');
    const [, resource] = /DefaultQualifiedResource:\s+\w+\.Resource\("(\w+)"\)/.exec(text) ?? [];
    if (resource !== undefined && text.includes('rest.NewDefaultTableConvertor(')) {
      found.add(`${file.split(sep)[0]}.${resource}`);
    }
  }
  return found;
}

export async function readColumns(from: Sources): Promise<ColumnsByKind> {
  const printers = await readFile(join(from.kubernetes, 'pkg/printers/internalversion/printers.go'), 'utf8');
  const aggregator = await readFile(join(from.aggregator, 'pkg/registry/apiservice/etcd/etcd.go'), 'utf8');
  const apiServiceColumns = /ColumnDefinitions: \[\]metav1\.TableColumnDefinition\{\n([\s\S]*?)^\t\t\},/m.exec(
    aggregator,
  );
  if (!apiServiceColumns) throw new Error('the columns of API services were not found');
  return new Map([
    ...columnsByKind(printers),
    ['apiregistration.APIService', columnsOf(apiServiceColumns[1]!)],
    ['apiextensions.CustomResourceDefinition', defaultColumns],
  ]);
}

function columnsByKind(text: string): Map<string, readonly Column[]> {
  const imports = new Map<string, string>();
  for (const [, alias, path] of text.matchAll(/^\t(\w+ )?"k8s\.io\/kubernetes\/pkg\/apis\/(\w+)"$/gm)) {
    imports.set(alias?.trim() ?? path!, path!);
  }
  const definitions = new Map<string, readonly Column[]>();
  for (const [, name, body] of text.matchAll(/^\t(\w+) := \[\]metav1\.TableColumnDefinition\{\n([\s\S]*?)^\t\}/gm)) {
    definitions.set(name!, columnsOf(body!));
  }
  for (const [, name, body] of text.matchAll(
    /^\t(\w+) = append\(\1, \[\]metav1\.TableColumnDefinition\{\n([\s\S]*?)^\t\}\.\.\.\)/gm,
  )) {
    definitions.set(name!, [...(definitions.get(name!) ?? []), ...columnsOf(body!)]);
  }
  const printed = new Map<string, string>();
  for (const [, name, alias, kind] of text.matchAll(/^func (\w+)\(\w+ \*(\w+)\.(\w+), /gm)) {
    if (imports.has(alias!)) printed.set(name!, `${imports.get(alias!)}.${kind}`);
  }
  const found = new Map<string, readonly Column[]>();
  for (const [, columns, printer] of text.matchAll(/h\.TableHandler\((\w+), (\w+)\)/g)) {
    const kind = printed.get(printer!);
    const definition = definitions.get(columns!);
    if (kind !== undefined && definition) found.set(kind, definition);
  }
  if (found.size < 80) throw new Error(`only ${found.size} printers were understood`);
  return found;
}

function columnsOf(body: string): Column[] {
  return Array.from(body.matchAll(/\{(Name: .*)\},/g), ([, text]) => ({
    name: /Name: "([^"]*)"/.exec(text!)![1]!,
    type: /Type: "([^"]*)"/.exec(text!)![1]!,
    format: /Format: "([^"]*)"/.exec(text!)?.[1] ?? '',
    priority: Number(/Priority: (\d+)/.exec(text!)?.[1] ?? 0),
  }));
}
