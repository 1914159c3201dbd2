/** One YAML document, as kube-apiserver understands it. Loaded with the first one that is not JSON. */

import { load, loadAll, YAMLException } from 'js-yaml';
import type { LoadOptions } from 'js-yaml';
import { ApiError } from '../errors.ts';
import { depthMax } from '../limits.ts';
import { kubernetesYaml } from './schema.ts';
import { unshare } from './unshare.ts';

const options: LoadOptions = { schema: kubernetesYaml, maxDepth: depthMax, json: true };

/** Throws MalformedYaml or TooDeep. */
export function readDocument(text: string, findRepeated: boolean): { value: unknown; problems: string[] } {
  const first = firstDocument(text);
  const value = translated(() => loadAll(first, options)[0] ?? null);
  const problems = findRepeated ? repeatedKeys(first) : [];
  return { value: first.includes('*') ? unshare(value) : value, problems };
}

/** A line that begins or ends a document. Nothing inside of one can look like it. */
const marker = /^(?:---|\.\.\.)(?=[ \t\r\n]|$)/gm;
const content = /^(?![ \t]*(?:#|\r?$)|%)/m;

/** As Go's decoder: what follows the first document is not read at all. */
function firstDocument(text: string): string {
  marker.lastIndex = 0;
  const first = marker.exec(text);
  if (!first) return text;
  const isStart = first[0] === '---' && !content.test(text.slice(0, first.index));
  const end = isStart ? marker.exec(text) : first;
  return end ? text.slice(0, end.index) : text;
}

/** Every document of a text. Throws MalformedYaml or TooDeep. */
export function readDocuments(text: string): unknown[] {
  const values = translated(() => loadAll(text, options)) as unknown[];
  return text.includes('*') ? values.map(unshare) : values;
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
      throw new ApiError('MalformedYaml', 'yaml: the document cannot be parsed', { cause: error });
    }
    const where = error.mark ? `line ${error.mark.line + 1}: ` : '';
    const isDeep = /depth|nest/i.test(error.reason ?? '');
    throw new ApiError(isDeep ? 'TooDeep' : 'MalformedYaml', `yaml: ${where}${error.reason}`, { cause: error });
  }
}
