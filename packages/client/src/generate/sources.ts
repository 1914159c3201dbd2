/** Where definitions come from: files as `kubectl apply -f` takes them, or a cluster. */

import { readFile } from 'node:fs/promises';
import { isObject } from '@hangar/api/json';
import type { JsonObject } from '@hangar/api/json';
import { parseYamlDocuments } from '@hangar/api/yaml';
import { asError } from '@hangar/core';
import type { Client } from '../client.ts';
import { ClientError } from '../errors.ts';
import { CustomResourceDefinition } from '../kinds/apiextensions-v1.ts';

/** The definitions in a text, alone or in lists; everything else in it is left out. Throws InvalidDefinition. */
export function definitionsIn(text: string, source: string): JsonObject[] {
  let documents: unknown[];
  try {
    documents = parseYamlDocuments(text);
  } catch (error) {
    throw new ClientError('InvalidDefinition', `${source}: ${asError(error).message}`, { cause: error });
  }
  const found = documents.flatMap(itemsOf).filter(({ kind }) => kind === 'CustomResourceDefinition');
  if (found.length === 0) throw new ClientError('InvalidDefinition', `${source} has no CustomResourceDefinition`);
  return found;
}

function itemsOf(document: unknown): JsonObject[] {
  if (!isObject(document)) return [];
  const { kind, items } = document;
  return typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items)
    ? items.filter(isObject)
    : [document];
}

export async function definitionsOfFiles(
  files: readonly string[],
  standardInput: () => Promise<string>,
): Promise<JsonObject[]> {
  const all: JsonObject[] = [];
  for (const file of files) {
    const text = file === '-' ? await standardInput() : await readFile(file, 'utf8');
    all.push(...definitionsIn(text, file === '-' ? 'standard input' : file));
  }
  return all;
}

/** No names: all that the cluster has. */
export async function definitionsOfCluster(
  client: Client,
  names: readonly string[],
): Promise<CustomResourceDefinition[]> {
  if (names.length > 0) return Promise.all(names.map((name) => client.get(CustomResourceDefinition, { name })));
  return Array.fromAsync(client.listAll(CustomResourceDefinition));
}
