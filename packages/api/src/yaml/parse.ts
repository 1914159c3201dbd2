/** YAML bodies → JSON values. Only the first document counts, as in kube-apiserver. */

import { load, loadAll, YAMLException } from 'js-yaml';
import type { LoadOptions } from 'js-yaml';
import { ApiError } from '../errors.ts';
import { parseJson } from '../json/parse.ts';
import { depthMax } from '../limits.ts';
import { kubernetesYaml } from './schema.ts';
import { unshare } from './unshare.ts';

export interface ParsedYaml {
  readonly value: unknown;
  /** What is wrong with it when one is strict: repeated keys, in kube-apiserver's words. */
  readonly problems: readonly string[];
}

export interface ParseYamlOptions {
  /** Look for mappings that have a key more than once; without, the last one counts. */
  readonly findRepeated?: boolean;
}

const options: LoadOptions = { schema: kubernetesYaml, maxDepth: depthMax, json: true };

/** Throws MalformedYaml or TooDeep. */
export function parseYaml(body: Uint8Array | string, { findRepeated = false }: ParseYamlOptions = {}): ParsedYaml {
  const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
  const json = text.startsWith('{') ? parsedAsJson(text) : undefined;
  if (json) return json;
  const value = translated(() => loadAll(text, options)[0] ?? null);
  const problems = findRepeated ? repeatedKeys(text) : [];
  return { value: text.includes('*') ? unshare(value) : value, problems };
}

/** JSON is YAML, and clients that apply mostly send it: twenty times as fast. Whatever is odd about it is YAML's to tell. */
function parsedAsJson(text: string): ParsedYaml | undefined {
  try {
    const { value, repeated } = parseJson(text, { findRepeated: true });
    return repeated.size === 0 ? { value, problems: [] } : undefined;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'MalformedJson') return undefined;
    throw error;
  }
}

function repeatedKeys(text: string): string[] {
  try {
    load(text, { ...options, json: false });
    return [];
  } catch (error) {
    if (!(error instanceof YAMLException) || !/duplicate/i.test(error.reason ?? '')) return [];
    const line = (error.mark?.line ?? 0) + 1;
    const source = text.split('\n')[line - 1] ?? '';
    const key = /([^\s{,:'"]+)['"]?\s*:/.exec(source.slice(error.mark?.column ?? 0))?.[1] ?? '';
    return [`yaml: unmarshal errors:\n  line ${line}: key ${JSON.stringify(key)} already set in map`];
  }
}

function translated(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof YAMLException)) {
      throw new ApiError('MalformedYaml', 'yaml: the document cannot be read', { cause: error });
    }
    const where = error.mark ? `line ${error.mark.line + 1}: ` : '';
    const isDeep = /depth|nest/i.test(error.reason ?? '');
    throw new ApiError(isDeep ? 'TooDeep' : 'MalformedYaml', `yaml: ${where}${error.reason}`, { cause: error });
  }
}
