/**
 * Merges the OpenAPI v2 documents of all servers. An aggregated server contributes the paths of its group-version and the definitions that
 * they need. A different definition with the same name is renamed.
 */

import { isDeepStrictEqual } from 'node:util';
import { isObject } from '@hangar/api';
import type { JsonObject } from '@hangar/api';

export interface RemoteOpenApi {
  /** `/apis/notes.example.com/v1`. */
  readonly prefix: string;
  /** The other server's whole document. */
  readonly bytes: Buffer;
}

const refPrefix = '#/definitions/';

/** Limits the depth of documents, far above what real documents have. */
const depthMax = 200;

export function mergedOpenApiV2(base: JsonObject, remotes: readonly RemoteOpenApi[]): JsonObject {
  const paths: JsonObject = { ...(base['paths'] as JsonObject) };
  const definitions: JsonObject = { ...(base['definitions'] as JsonObject) };
  for (const { prefix, bytes } of remotes) {
    try {
      add(paths, definitions, prefix, JSON.parse(bytes.toString()) as JsonObject);
    } catch {
      // Unreadable documents of other servers are skipped.
    }
  }
  return { ...base, paths, definitions };
}

/** Adds everything or, if it throws, nothing. */
function add(paths: JsonObject, definitions: JsonObject, prefix: string, spec: JsonObject): void {
  const theirPaths = isObject(spec['paths']) ? spec['paths'] : {};
  const theirs = isObject(spec['definitions']) ? spec['definitions'] : {};
  const own = Object.entries(theirPaths).filter(([path]) => path.startsWith(`${prefix}/`));
  const names = new Map<string, string>();
  for (const name of reachable(own, theirs)) names.set(name, nameFor(name, theirs[name], definitions));
  const addedPaths = own.map(([path, value]) => [path, renamed(value, names, 0)] as const);
  const added = [...names].map(([name, mapped]) => [mapped, renamed(theirs[name], names, 0)] as const);
  for (const [path, value] of addedPaths) paths[path] ??= value;
  for (const [name, value] of added) definitions[name] ??= value;
}

function nameFor(name: string, definition: unknown, definitions: JsonObject): string {
  for (let version = 1; ; version++) {
    const candidate = version === 1 ? name : `${name}_v${version}`;
    if (!Object.hasOwn(definitions, candidate) || isDeepStrictEqual(definitions[candidate], definition))
      return candidate;
  }
}

/** Returns the names of the definitions that are reachable from a value. */
function reachable(from: unknown, definitions: JsonObject): Set<string> {
  const found = new Set<string>();
  const waiting: unknown[] = [from];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (Array.isArray(value)) waiting.push(...value);
    else if (isObject(value)) {
      for (const [key, one] of Object.entries(value)) {
        const name =
          key === '$ref' && typeof one === 'string' && one.startsWith(refPrefix) && one.slice(refPrefix.length);
        if (name && !found.has(name) && Object.hasOwn(definitions, name)) {
          found.add(name);
          waiting.push(definitions[name]);
        } else waiting.push(one);
      }
    }
  }
  return found;
}

function renamed(value: unknown, names: ReadonlyMap<string, string>, depth: number): unknown {
  if (depth > depthMax) throw new Error('nested too deeply');
  if (Array.isArray(value)) return value.map((one) => renamed(one, names, depth + 1));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      if (key !== '$ref' || typeof one !== 'string') return [key, renamed(one, names, depth + 1)];
      return [key, `${refPrefix}${names.get(one.slice(refPrefix.length)) ?? one.slice(refPrefix.length)}`];
    }),
  );
}
