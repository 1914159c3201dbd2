/** YAML bodies. Small ones are parsed synchronously, large ones in a thread, and their values count like those of JSON. */

import { ApiError, parseJson, parseJsonAsYaml, parseYaml, tooManyRequests, YamlThread } from '@hangar/api';
import type { ParsedYaml } from '@hangar/api';
import { lazy } from '@hangar/core';

export interface YamlBodyOptions {
  readonly findRepeated: boolean;
  readonly weightMax: number;
  /** The control plane of the request. Control planes take turns in parsing large bodies. */
  readonly controlPlane: string;
}

/** A kilobyte takes a quarter of a millisecond. */
const atOnceBytesMax = 64 * 1024;
/** Each takes less than a second. One control plane must not use up the queue of the others. */
const limits = { waitingMax: 64, waitingPerTenantMax: 4 };

const thread = lazy(() => new YamlThread(limits));

/** Rejects with MalformedYaml, TooDeep or TooLarge, and with 429 if too many large bodies of this or of all control planes wait. */
export async function parseYamlBody(bytes: Uint8Array, options: YamlBodyOptions): Promise<ParsedYaml> {
  if (bytes.length <= atOnceBytesMax) return parseYaml(bytes, options);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  const asJson = parseJsonAsYaml(text, options.weightMax);
  if (asJson) return asJson;
  try {
    const { json, problems } = await thread().parse({ text, findRepeated: options.findRepeated }, options.controlPlane);
    const { value } = parseJson(json, { weightMax: options.weightMax });
    return { value, problems };
  } catch (error) {
    if (error instanceof ApiError && error.code === 'Busy') throw tooManyRequests(error.message, 1);
    throw error;
  }
}
