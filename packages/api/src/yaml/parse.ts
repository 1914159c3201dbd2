/** YAML bodies → JSON values. Only the first document counts, as in kube-apiserver. */

import { createRequire } from 'node:module';
import { lazy } from '@hangar/core';
import { ApiError } from '../errors.ts';
import { parseJson } from '../json/parse.ts';
import type * as Document from './document.ts';

const require = createRequire(import.meta.url);
const yaml = lazy(() => require('./document.ts') as typeof Document);

export interface ParsedYaml {
  readonly value: unknown;
  /** Problems in strict mode: repeated keys, in kube-apiserver's wording. */
  readonly problems: readonly string[];
}

export interface ParseYamlOptions {
  /** Find mappings with repeated keys; otherwise, the last one counts. */
  readonly findRepeated?: boolean;
  /** See `bodyWeightMax`; for JSON bodies. Default: any. */
  readonly weightMax?: number;
}

/** Throws MalformedYaml, TooDeep or TooLarge. */
export function parseYaml(
  body: Uint8Array | string,
  { findRepeated = false, weightMax = Infinity }: ParseYamlOptions = {},
): ParsedYaml {
  const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
  return parseJsonAsYaml(text, weightMax) ?? yaml().readDocument(text, findRepeated);
}

/** Every document of a file, as `kubectl` reads one. Throws MalformedYaml or TooDeep. */
export function parseYamlDocuments(text: string): unknown[] {
  return yaml().readDocuments(text);
}

/**
 * Parses JSON, which is YAML and what most clients that apply send: twenty times as fast. Returns undefined for YAML and malformed JSON,
 * which the YAML parser reports. Throws TooDeep or TooLarge.
 */
export function parseJsonAsYaml(text: string, weightMax = Infinity): ParsedYaml | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const { value, repeated } = parseJson(text, { findRepeated: true, weightMax });
    return repeated.size === 0 ? { value, problems: [] } : undefined;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'MalformedJson') return undefined;
    throw error;
  }
}
