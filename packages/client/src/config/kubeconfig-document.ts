/**
 * One kubeconfig, or several merged ones. Entries stay undecoded, with their origin: only used entries are decoded, so that a malformed
 * unused user does no harm (as in kubectl).
 */

import { parseYaml } from '@hangar/api/yaml';
import { ClientError } from '../errors.ts';
import { Fields } from './fields.ts';

/** Larger than the maximum size of a Secret. */
const documentBytesMax = 4 * 1024 * 1024;

/** A cluster, user or context. */
export interface Entry {
  readonly fields: Fields;
  /** Base of relative paths. Absent: the text has no location, and relative paths are not possible. */
  readonly folder?: string | undefined;
}

export interface KubeconfigDocument {
  /** Name for messages: the file, or a name of the caller. */
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

/** Reads YAML, JSON, or a parsed object. */
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

/** As in kubectl: the first document with a name defines it completely; the first current context that is set counts. */
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
    // Omits the message of the parser: it may quote the document, which has secrets.
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

/** Quotes untrusted names, so that they cannot forge log lines. */
export const shown = (text: string): string => JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
