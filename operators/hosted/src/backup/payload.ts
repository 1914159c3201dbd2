/**
 * The payload of a backup of a HostedControlPlane: a head, then a snapshot of etcd.
 *
 *     "HANGAR-HOSTED-1\n"
 *     length u32 LE · JSON       the head, at most 8 MiB
 *     …                          the snapshot, as Maintenance.Snapshot sends it: the database and its SHA-256
 *
 * The head has what a restore needs before it reads the snapshot: the spec and the objects to create, the versions to compare, and the
 * revision and the digest to verify. A changed layout gets another number in the first line.
 */

import { asError, ChunkReader } from '@hangar/core';
import { TargetError } from '@hangar/backup-operator';
import type { HostedControlPlaneSpec } from '../api/index.ts';

/** `payload` in the manifest of the container. */
export const payloadFormat = 'hosted-etcd-snapshot';

const firstLine = Buffer.from('HANGAR-HOSTED-1\n');
const firstLineStart = 'HANGAR-HOSTED-';
const headBytesMax = 8 * 2 ** 20;
const chunkBytes = 2 ** 20;

/** A Secret or ConfigMap of a control plane. */
export interface StoredObject {
  readonly kind: 'Secret' | 'ConfigMap';
  /** `own`: `name` is without the name of the control plane and a dash. `mounted`: a user created it, and the spec refers to it. */
  readonly role: 'own' | 'mounted';
  readonly name: string;
  readonly type?: string | undefined;
  readonly data?: Readonly<Record<string, string>> | undefined;
  readonly binaryData?: Readonly<Record<string, string>> | undefined;
}

export interface SnapshotFacts {
  readonly bytes: number;
  /** Of all bytes of the snapshot, hexadecimal. */
  readonly sha256: string;
  readonly revision: number;
  readonly entries: number;
  readonly contentDigest: string;
}

export interface PayloadHead {
  readonly controlPlane: { readonly namespace: string; readonly name: string };
  readonly spec: HostedControlPlaneSpec;
  /** Those that the operator wrote and that a restored control plane keeps. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly versions: { readonly kubernetes: string; readonly etcd: string };
  readonly objects: readonly StoredObject[];
  readonly hasKeys: boolean;
  readonly snapshot: SnapshotFacts;
}

/** Returns the bytes in front of the snapshot. */
export function encodeHead(head: PayloadHead): Buffer {
  const json = Buffer.from(JSON.stringify(head));
  if (json.length > headBytesMax) throw refused(`the head has ${json.length} bytes, the maximum is ${headBytesMax}`);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(json.length);
  return Buffer.concat([firstLine, length, json]);
}

export interface OpenPayload {
  readonly head: PayloadHead;
  /** The snapshot. Throws `Refused` if it does not have the size of the head. */
  readonly snapshot: AsyncGenerator<Uint8Array, void, void>;
}

/** Throws `Refused` if the content is not a payload of this format. The caller reads the snapshot to its end, or closes it. */
export async function readPayload(content: AsyncIterable<Uint8Array>): Promise<OpenPayload> {
  const reader = new ChunkReader(content);
  try {
    const line = await reader.take(firstLine.length);
    if (!line?.equals(firstLine)) {
      const isNewer = line?.toString('latin1').startsWith(firstLineStart) === true;
      throw refused(
        isNewer ? 'its format is newer than this release supports' : 'it is not one of a HostedControlPlane',
      );
    }
    const length = (await reader.take(4))?.readUInt32LE() ?? 0;
    if (length > headBytesMax) throw refused(`its head has ${length} bytes, the maximum is ${headBytesMax}`);
    const json = await reader.take(length);
    if (!json || length === 0) throw refused('it ends inside of its head');
    const head = decodeHead(json);
    return { head, snapshot: reader.closedBy(snapshotOf(reader, head.snapshot.bytes)) };
  } catch (error) {
    await reader.close();
    throw error;
  }
}

async function* snapshotOf(reader: ChunkReader, bytes: number): AsyncGenerator<Uint8Array, void, void> {
  try {
    for (let left = bytes; left > 0;) {
      const chunk = await reader.take(Math.min(left, chunkBytes));
      if (!chunk) throw refused('it ends inside of the snapshot');
      left -= chunk.length;
      yield chunk;
    }
    if (!(await reader.isEmpty())) throw refused('it has bytes behind the snapshot');
  } finally {
    await reader.close();
  }
}

function decodeHead(json: Buffer): PayloadHead {
  let head: PayloadHead;
  try {
    head = JSON.parse(json.toString()) as PayloadHead;
  } catch (error) {
    throw new TargetError('Refused', `the backup cannot be restored: its head is not JSON: ${asError(error).message}`);
  }
  const fault = headFault(head);
  if (fault) throw refused(`its head is not valid: ${fault}`);
  return head;
}

/** The container authenticates the bytes, so this finds mistakes of other programs. */
function headFault(head: unknown): string | undefined {
  if (!isRecord(head)) return 'it is not an object';
  const { controlPlane, spec, versions, snapshot, objects, annotations, hasKeys } = head;
  if (!isRecord(controlPlane) || !isText(controlPlane['namespace']) || !isText(controlPlane['name']))
    return 'controlPlane';
  if (!isRecord(spec) || !isText(spec['version'])) return 'spec';
  if (!isRecord(versions) || !isText(versions['kubernetes']) || !isText(versions['etcd'])) return 'versions';
  if (!isRecord(annotations) || !Object.values(annotations).every(isText)) return 'annotations';
  if (typeof hasKeys !== 'boolean') return 'hasKeys';
  if (!Array.isArray(objects) || !objects.every(isStoredObject)) return 'objects';
  if (!isRecord(snapshot) || !['bytes', 'revision', 'entries'].every((field) => isCount(snapshot[field])))
    return 'snapshot';
  const isDigest = (value: unknown): boolean => isText(value) && /^[0-9a-f]{64}$/.test(value);
  return isDigest(snapshot['sha256']) && isDigest(snapshot['contentDigest']) ? undefined : 'snapshot';
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === 'string';
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isTexts = (value: unknown): boolean =>
  value === undefined || (isRecord(value) && Object.values(value).every(isText));

const isStoredObject = (value: unknown): boolean =>
  isRecord(value) &&
  (value['kind'] === 'Secret' || value['kind'] === 'ConfigMap') &&
  (value['role'] === 'own' || value['role'] === 'mounted') &&
  isText(value['name']) &&
  (value['type'] === undefined || isText(value['type'])) &&
  isTexts(value['data']) &&
  isTexts(value['binaryData']);

const refused = (what: string): TargetError => new TargetError('Refused', `the backup cannot be restored: ${what}`);
