/** Encodes objects and stored entries as responses, in the format that the client requested. */

import { dumpYaml, encodeProtobuf } from '@hangar/api';
import type { JsonObject, KubeObject, Status, StatusError } from '@hangar/api';
import type { Entry, Revision } from '@hangar/store';
import { bodyOf, encodedPieces } from './pieces.ts';
import type { Collected, Pieces } from './pieces.ts';
import { tables } from './tables.ts';
import type { Answer } from '../http/message.ts';
import { wanted } from '../request/media.ts';
import type { Wanted } from '../request/media.ts';
import type { Resource } from '../resources/resource.ts';
import type { Call } from '../verbs/call.ts';

export const wantedBy = ({ request, resource }: Call): Wanted =>
  wanted(request.header('accept'), { hasProtobuf: resource.struct !== undefined, allowsShapes: true });

/** Answers with a stored object: as stored bytes if plain JSON is requested. */
export function entryAnswer(call: Call, want: Wanted, entry: Entry, status = 200): Answer | Promise<Answer> {
  if (want.format === 'json' && want.shape === undefined) {
    return bytesAnswer(status, want.contentType, call.resource.stored.json(entry), call.warnings);
  }
  return objectAnswer(call, want, shownObject(call, want, entry), status);
}

/**
 * Returns the requested part of a stored object: metadata alone is neither converted nor defaulted. As in kube-apiserver, the rows of
 * a table have such metadata too.
 */
export function shownObject(
  call: Pick<Call, 'resource' | 'query'>,
  { shape }: Wanted,
  entry: Entry,
  revision: Revision = entry.modRevision,
): KubeObject {
  const showsMetadata = shape === 'PartialObjectMetadata' || shape === 'PartialObjectMetadataList';
  const { stored } = call.resource;
  if (showsMetadata) return stored.partial(entry, revision);
  const object = stored.object(entry, revision);
  if (shape !== 'Table' || !stored.convertsMetadata || includeObjectOf(call) === 'Object') return object;
  return { ...object, metadata: stored.partial(entry, revision).metadata };
}

/** Answers with an object of the call's resource, or of another kind such as Status and Scale. */
export function objectAnswer(call: Call, want: Wanted, object: JsonObject, status = 200): Answer | Promise<Answer> {
  const shaped = object['kind'] === call.resource.kind ? inShape(call, want, object as KubeObject) : object;
  if (want.format !== 'yaml') return bytesAnswer(status, want.contentType, encoded(shaped, want), call.warnings);
  return piecesAnswer(call, want, encodedPieces(shaped as JsonObject, want.format), status);
}

/** Returns a response that is encoded in pieces. Rejects if the first piece cannot be encoded. */
export function piecesAnswer(call: Call, want: Wanted, pieces: Pieces, status = 200): Answer | Promise<Answer> {
  const answered = ({ pieces: bytes, rest }: Collected): Answer => {
    const answer = bytesAnswer(status, want.contentType, bytes, call.warnings);
    return rest ? { ...answer, body: rest } : answer;
  };
  const body = bodyOf(pieces, call.plane.clock);
  return body instanceof Promise ? body.then(answered) : answered(body);
}

export function inShape(call: Call, want: Wanted, object: KubeObject): object {
  switch (want.shape) {
    case undefined:
      return object;
    case 'Table':
      return tables().tableOfOne(call.resource.table, object, tableOptions(call, want));
    default:
      return tables().partialObjectMetadata(object, metaVersion(want));
  }
}

/** Old clients request v1beta1 and get it. */
export const metaVersion = ({ shapeVersion }: Wanted): 'meta.k8s.io/v1' | 'meta.k8s.io/v1beta1' =>
  shapeVersion === 'v1beta1' ? 'meta.k8s.io/v1beta1' : 'meta.k8s.io/v1';

export const tableOptions = (call: Call, want: Wanted) => ({
  includeObject: includeObjectOf(call),
  now: call.plane.clock.now(),
  apiVersion: metaVersion(want),
});

export type IncludeObject = 'None' | 'Metadata' | 'Object';

export function includeObjectOf({ query }: Pick<Call, 'query'>): IncludeObject {
  const value = query.text('includeObject');
  return value === 'None' || value === 'Object' ? value : 'Metadata';
}

export function encoded(object: object, want: Pick<Wanted, 'format'>): Uint8Array {
  switch (want.format) {
    case 'json':
      return Buffer.from(`${JSON.stringify(object)}\n`);
    case 'yaml':
      return Buffer.from(dumpYaml(object as JsonObject));
    case 'protobuf':
      return encodeProtobuf(object as JsonObject);
  }
}

export function bytesAnswer(
  status: number,
  contentType: string,
  body: Uint8Array | readonly Uint8Array[],
  warnings: readonly string[] = [],
): Answer {
  const headers: Record<string, string | string[]> = {
    'content-type': contentType,
    'cache-control': 'no-cache, private',
  };
  if (warnings.length > 0) headers['warning'] = shortened(warnings).map(warningHeader);
  return { status, headers, body };
}

/** As in kube-apiserver: above this total, each warning is truncated, and the excess ones are dropped. */
const warningsLengthMax = 4_096;
const cutWarningLength = 256;

function shortened(warnings: readonly string[]): readonly string[] {
  if (warnings.reduce((length, text) => length + text.length, 0) <= warningsLengthMax) return warnings;
  const kept: string[] = [];
  for (let length = 0, at = 0; length < warningsLengthMax && at < warnings.length; at++) {
    kept.push(
      Array.from(warnings[at]!.slice(0, 2 * cutWarningLength))
        .slice(0, cutWarningLength)
        .join(''),
    );
    length += kept.at(-1)!.length;
  }
  return kept;
}

/** RFC 7234: `299 - "text"`; characters that are not allowed in a header are removed. */
function warningHeader(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what is removed
  const clean = text.replaceAll('\n', ' ').replace(/[\u0000-\u001f\u007f]/g, '');
  return Buffer.from(`299 - "${clean.replace(/["\\]/g, (one) => `\\${one}`)}"`).toString('latin1');
}

/** Returns a refusal, in JSON unless the client accepts only protobuf or YAML. */
export function statusAnswer(status: Status, accept: string | undefined, warnings: readonly string[] = []): Answer {
  const want = formatForStatus(accept);
  const answer = bytesAnswer(status.code ?? 200, want.contentType, encoded(status, want), warnings);
  const retryAfter = status.details?.retryAfterSeconds;
  if (retryAfter === undefined || retryAfter <= 0) return answer;
  return { ...answer, headers: { ...answer.headers, 'retry-after': String(retryAfter) } };
}

function formatForStatus(accept: string | undefined): Wanted {
  try {
    return { ...wanted(accept, { hasProtobuf: true, allowsShapes: true }), shape: undefined };
  } catch {
    return wanted(undefined, { hasProtobuf: true, allowsShapes: false });
  }
}

export const errorAnswer = (error: StatusError, accept: string | undefined, warnings: readonly string[]): Answer =>
  statusAnswer(error.status, accept, warnings);

/** Returns an entry that was never stored, for dry runs. */
export function imaginedEntry(resource: Resource, object: KubeObject, revision: Revision): Entry {
  return {
    key: '',
    value: resource.stored.encode(object),
    createRevision: revision,
    modRevision: revision,
    version: 1,
    lease: undefined,
  };
}
