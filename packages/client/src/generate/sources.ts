/** Reads CustomResourceDefinitions from files, in the formats that `kubectl apply -f` accepts, or from a cluster. */

import { readFile } from 'node:fs/promises';
import { isObject } from '@hangar/api/json';
import type { JsonObject } from '@hangar/api/json';
import { parseYamlDocuments } from '@hangar/api/yaml';
import { asError } from '@hangar/core';
import type { Client } from '../client.ts';
import { ClientError } from '../errors.ts';
import { CustomResourceDefinition } from '../kinds/apiextensions-v1.ts';

/**
 * Returns the CustomResourceDefinitions in a YAML or JSON text, including those in lists. Other objects are ignored. `source` names the
 * text in errors. Throws `InvalidDefinition`.
 */
export function definitionsIn(text: string, source: string): JsonObject[] {
  let documents: unknown[];
  try {
    documents = parseYamlDocuments(text);
  } catch (error) {
    throw new ClientError('InvalidDefinition', `${source}: ${asError(error).message}`, { cause: error });
  }
  const found = documents.flatMap(itemsOf).filter(({ kind }) => kind === 'CustomResourceDefinition');
  if (found.length === 0) throw new ClientError('InvalidDefinition', `${source} contains no CustomResourceDefinition`);
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

/** Returns the CustomResourceDefinitions of these names from a cluster. No names: all CustomResourceDefinitions. */
export async function definitionsOfCluster(
  client: Client,
  names: readonly string[],
): Promise<CustomResourceDefinition[]> {
  if (names.length > 0) return Promise.all(names.map((name) => client.get(CustomResourceDefinition, { name })));
  return Array.fromAsync(client.listAll(CustomResourceDefinition));
}
