/**
 * One kubeconfig, and several as one. The entries stay as they were written, with where they came from: only what is used is looked
 * at, so that a broken user that nobody asks for harms nobody (as in kubectl).
 */

import { parseYaml } from '@hangar/api/yaml';
import { ClientError } from '../errors.ts';
import { Fields } from './fields.ts';

/** More than a Secret can have. */
const documentBytesMax = 4 * 1024 * 1024;

/** A cluster, user or context. */
export interface Entry {
  readonly fields: Fields;
  /** What its relative paths are relative to. Absent: the text came from nowhere, so they are none. */
  readonly folder?: string | undefined;
}

export interface KubeconfigDocument {
  /** For messages: the file, or what the caller calls it. */
  readonly source: string;
  readonly currentContext?: string | undefined;
  readonly clusters: ReadonlyMap<string, Entry>;
  readonly users: ReadonlyMap<string, Entry>;
  readonly contexts: ReadonlyMap<string, Entry>;
}

export interface DocumentOrigin {
  readonly source: string;
  readonly folder?: string | undefined;
}

/** Of YAML, JSON, or what was parsed already. */
export function readDocument(content: string | object, origin: DocumentOrigin): KubeconfigDocument {
  const { source } = origin;
  const root = new Fields(typeof content === 'string' ? parsed(content, source) : content, `${source}:`);
  const kind = root.text('kind');
  if (kind !== undefined && kind !== 'Config') throw root.error('kind', `expected Config, found ${shown(kind)}`);
  const version = root.text('apiVersion');
  if (version !== undefined && version !== 'v1') throw root.error('apiVersion', `expected v1, found ${shown(version)}`);
  return {
    source,
    currentContext: root.text('current-context'),
    clusters: entries(root, 'clusters', 'cluster', origin),
    users: entries(root, 'users', 'user', origin),
    contexts: entries(root, 'contexts', 'context', origin),
  };
}

/** As kubectl: the first document that has a name has it whole; the first current context that is set counts. */
export function mergeDocuments(documents: readonly KubeconfigDocument[]): KubeconfigDocument {
  const merged = (part: 'clusters' | 'users' | 'contexts'): Map<string, Entry> => {
    const all = new Map<string, Entry>();
    for (const document of documents) {
      for (const [name, entry] of document[part]) if (!all.has(name)) all.set(name, entry);
    }
    return all;
  };
  return {
    source: documents.map(({ source }) => source).join(', '),
    currentContext: documents.find(({ currentContext }) => currentContext !== undefined)?.currentContext,
    clusters: merged('clusters'),
    users: merged('users'),
    contexts: merged('contexts'),
  };
}

function parsed(text: string, source: string): unknown {
  if (text.length > documentBytesMax) {
    throw new ClientError('InvalidKubeconfig', `${source}: longer than ${documentBytesMax} bytes`);
  }
  try {
    return parseYaml(text).value ?? {};
  } catch (cause) {
    // The parser's words may quote the document, which has secrets.
    throw new ClientError('InvalidKubeconfig', `${source}: is not valid YAML`, { cause });
  }
}

function entries(root: Fields, list: string, part: string, { folder, source }: DocumentOrigin): Map<string, Entry> {
  const all = new Map<string, Entry>();
  for (const item of root.objects(list)) {
    const name = item.any('name');
    if (typeof name !== 'string') throw item.error('name', 'expected a string');
    if (all.has(name)) throw item.error('name', `duplicate name ${shown(name)}`);
    const where = `${source}: ${list}[${shown(name)}].${part}`;
    all.set(name, { fields: new Fields(item.any(part) ?? {}, where), folder });
  }
  return all;
}

/** Names come from others: no line of a log may be made of them. */
export const shown = (text: string): string => JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
