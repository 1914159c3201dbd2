/**
 * Reads the discovery documents of a server: aggregated ones first; if the server does not support them, the older ones, a few at a time. A
 * group whose server is down is unavailable and does not affect the others.
 */

import { isObject, parseJson } from '@hangar/api/json';
import type { JsonObject } from '@hangar/api';
import { hasCode } from '@hangar/core';
import type { Client } from '../client.ts';
import { ClientError } from '../errors.ts';
import { refusalOf } from '../rest/refusal.ts';
import type { HttpAnswer } from '../transport/contract.ts';
import { aggregatedAccept, versionsOfAggregated } from './aggregated.ts';
import type { DiscoveredVersion } from './discovered-kind.ts';
import { servedVersions, versionOfList, versionPath } from './legacy.ts';
import type { ServedVersion } from './legacy.ts';

/** 10,000 definitions are about 6 MB. */
const documentBytesMax = 64 * 1024 * 1024;
const askedAtOnceMax = 8;

const roots = ['/api', '/apis'] as const;
type Root = (typeof roots)[number];

/** The documents of a root, and their ETag. */
interface Read {
  readonly versions: readonly DiscoveredVersion[];
  readonly etag: string | undefined;
}

export class DiscoveryReader {
  readonly #client: Pick<Client, 'raw'>;
  readonly #last = new Map<Root, Read>();

  constructor(client: Pick<Client, 'raw'>) {
    this.#client = client;
  }

  /** Rejects with the error of the server or the `ClientError` of the root that could not be read. */
  async read(): Promise<readonly DiscoveredVersion[]> {
    const both = await Promise.all(roots.map((root) => this.#root(root)));
    return both.flatMap(({ versions }) => versions);
  }

  async #root(root: Root): Promise<Read> {
    const last = this.#last.get(root);
    const answer = await this.#client.raw({
      method: 'GET',
      target: root,
      headers: {
        accept: `${aggregatedAccept},application/json`,
        ...(last?.etag === undefined ? {} : { 'if-none-match': last.etag }),
      },
    });
    if (answer.status === 304 && last !== undefined) {
      await answer.body();
      return last;
    }
    // A server may lack the core group, or have only that.
    if (answer.status === 404) {
      await answer.body();
      return { versions: [], etag: undefined };
    }
    const document = await documentOf(answer, root);
    const aggregated = versionsOfAggregated(document);
    const versions = remembering(aggregated ?? (await this.#legacy(servedVersions(document))), last?.versions ?? []);
    const isWhole = aggregated !== undefined && versions.every(({ isUnavailable }) => !isUnavailable);
    const read = { versions, etag: isWhole ? answer.header('etag') : undefined };
    this.#last.set(root, read);
    return read;
  }

  async #legacy(served: readonly ServedVersion[]): Promise<DiscoveredVersion[]> {
    const found: DiscoveredVersion[] = [];
    let next = 0;
    const ask = async (): Promise<void> => {
      while (next < served.length) {
        const at = next++;
        found[at] = await this.#version(served[at]!);
      }
    };
    await Promise.all(Array.from({ length: askedAtOnceMax }, ask));
    return found;
  }

  async #version(served: ServedVersion): Promise<DiscoveredVersion> {
    const target = versionPath(served);
    try {
      const answer = await this.#client.raw({ method: 'GET', target, headers: { accept: 'application/json' } });
      return versionOfList(served, await documentOf(answer, target));
    } catch (error) {
      if (hasCode(error, 'Aborted')) throw error;
      return { ...served, kinds: [], isUnavailable: true };
    }
  }
}

/** An unavailable API keeps its last known resources: most likely they will return. */
function remembering(
  versions: readonly DiscoveredVersion[],
  before: readonly DiscoveredVersion[],
): readonly DiscoveredVersion[] {
  if (!versions.some(({ isUnavailable, kinds }) => isUnavailable && kinds.length === 0)) return versions;
  const known = new Map(before.map((one) => [`${one.group}/${one.version}`, one.kinds]));
  return versions.map((one) =>
    one.isUnavailable && one.kinds.length === 0
      ? { ...one, kinds: known.get(`${one.group}/${one.version}`) ?? [] }
      : one,
  );
}

async function documentOf(answer: HttpAnswer, target: string): Promise<JsonObject> {
  if (answer.status !== 200) throw await refusalOf(answer);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.stream()) {
    bytes += chunk.length;
    if (bytes > documentBytesMax) throw malformed(target, `is longer than ${documentBytesMax} bytes`);
    chunks.push(chunk);
  }
  let document: unknown;
  try {
    document = parseJson(Buffer.concat(chunks)).value;
  } catch (cause) {
    throw malformed(target, 'is not valid JSON', cause);
  }
  if (!isObject(document)) throw malformed(target, 'is not an object');
  return document;
}

const malformed = (target: string, problem: string, cause?: unknown): ClientError =>
  new ClientError('MalformedAnswer', `the discovery document ${target} ${problem}`, { cause });
