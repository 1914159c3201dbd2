/**
 * `hangar restore NAME -f FILE`: creates a control plane from a backup. The server creates the tenant atomically. The tenant has no owner
 * at first, so it is annotated with its control plane, and the operator assigns it to the ControlPlane of that name.
 *
 * A backup is the export of the server, or a container of `@hangar/backup` with it, in a file or in S3.
 */

import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { BackupKey } from '@hangar/backup';
import type { Client } from '@hangar/client';
import { asError, hasCode } from '@hangar/core';
import { controlPlaneNames } from '../control-planes/find.ts';
import { untilReady } from '../control-planes/ready.ts';
import type { Call, Command, Given } from '../command.ts';
import { failed, usage } from '../errors.ts';
import { adoptByAnnotation, ControlPlane, Tenant } from '../kinds.ts';
import { bytesText } from '../terminal/figures.ts';
import { quoted } from '../terminal/plain-text.ts';
import { Progress } from '../terminal/progress.ts';
import type { Session } from '../session.ts';
import { backupPlaceOptions, credentialsHelp, explained, givenKey, isS3, s3Place } from './common/backup-place.ts';
import { insistOnNewName } from './common/new-name.ts';
import { insistOnSuccess, tenantTarget } from './common/tenant-request.ts';
import { timeoutMs, timeoutOption } from './common/timeout.ts';
import { hangar } from '../hints.ts';

export const restore: Command = {
  name: 'restore',
  summary: 'create a control plane from a backup',
  description: `No control plane and no retained data may exist with this name. The restore is atomic. Credentials that the old control plane issued stay valid only if the backup includes its keys and the name is the same. ${credentialsHelp}`,
  args: [{ name: 'NAME', meaning: 'name of the new control plane' }],
  options: [
    { name: 'file', short: 'f', value: 'FILE', meaning: 'backup file, or s3://BUCKET/PREFIX/NAME', completes: 'file' },
    { name: 'class', value: 'NAME', meaning: 'ControlPlaneClass (default: none)' },
    { name: 'wait', isOn: true, meaning: 'do not wait until it is ready' },
    timeoutOption,
    ...backupPlaceOptions,
  ],
  examples: [
    'restore demo -f demo.backup',
    'restore copy-of-demo -f demo.backup',
    'restore demo -f s3://backups/production/demo --key-file backup.key',
  ],
  isConnected: true,
  run: restoreNow,
};

async function restoreNow({ session, given, client: connected }: Call): Promise<void> {
  const name = given.args[0]!;
  insistOnNewName(name);
  const file = given.text('file');
  if (file === undefined) throw usage('restore requires -f FILE');
  const waitMs = timeoutMs(given);
  const { signal, clock, err } = session;
  const key = await givenKey(session, given);
  const body = isS3(file) ? await contentInS3(session, given, file, key) : await contentOfFile(session, file, key);
  const client = await connected();
  if ((await controlPlaneNames(client, signal)).includes(name)) throw isThere(name);
  const progress = new Progress(err, clock);
  progress.say(`restoring ${name} from ${bytesText(body.length)}`);
  try {
    await upload(client, name, body, signal);
    await adopted(client, name, given.text('class'), signal);
  } finally {
    progress.end();
  }
  if (given.flag('wait')) await untilReady(client, { session, name, timeoutMs: waitMs });
  session.out.write(`control plane ${name} restored\n`);
}

const isThere = (name: string): Error =>
  failed(`control plane ${quoted(name)} already exists`, {
    next: `restore under another name, or destroy the existing one: ${hangar(`delete ${name} --destroy`)}`,
  });

/** The name is in use: by the retained data of a deleted control plane, or by a Tenant without a control plane. */
const hasData = (name: string, cause: unknown): Error =>
  failed(`data exists at path ${quoted(name)}`, {
    next: `restore under another name, or remove retained data: ${hangar(`purge ${name}`)}`,
    cause,
  });

/** The export is sent from memory. */
const exportBytesMax = 1024 * 1024 * 1024;

async function contentOfFile(session: Session, shown: string, key: BackupKey | undefined): Promise<Buffer> {
  const bytes = await readAll(resolve(session.folder, shown), shown);
  const { isContainer } = await import('@hangar/backup');
  if (isContainer(bytes)) return explained(() => payloadOf(once(bytes), key), quoted(shown));
  if (key === undefined) return bytes;
  throw failed(`${quoted(shown)} is not encrypted, but a key is given`, { next: 'to restore it, omit --key-file' });
}

async function readAll(path: string, shown: string): Promise<Buffer> {
  try {
    await using file = await open(path, 'r');
    const { size } = await file.stat();
    if (size > exportBytesMax) throw tooLarge(shown);
    return await file.readFile();
  } catch (error) {
    if (hasCode(error, 'Failed')) throw error;
    throw failed(`${quoted(shown)} cannot be read: ${asError(error).message}`, { cause: error });
  }
}

async function contentInS3(
  session: Session,
  given: Given,
  address: string,
  key: BackupKey | undefined,
): Promise<Buffer> {
  using place = await s3Place(session, given, address);
  const { destination, name } = place;
  const progress = new Progress(session.err, session.clock);
  try {
    return await explained(async () => {
      const { record, content } = await destination.get(name, { signal: session.signal });
      if (session.err.isTty) progress.say(`reading ${bytesText(record.sizeBytes)} from ${address}`);
      return payloadOf(content, key);
    });
  } finally {
    progress.end();
  }
}

/** Returns the export in a container, completely verified. */
async function payloadOf(content: AsyncIterable<Uint8Array>, key: BackupKey | undefined): Promise<Buffer> {
  const { rangeExport, readContainer } = await import('@hangar/backup');
  const { manifest, payload } = await readContainer(content, { key });
  const { controlPlane } = manifest;
  if (manifest.payload !== rangeExport) {
    await payload.return();
    throw failed(
      `the backup of ${quoted(controlPlane.name)} contains ${quoted(manifest.payload)}, not a virtual control plane`,
    );
  }
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of payload) {
    bytes += piece.length;
    if (bytes > exportBytesMax) throw tooLarge(controlPlane.name);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, void> {
  yield bytes;
}

const tooLarge = (shown: string): Error => failed(`${quoted(shown)} is larger than ${bytesText(exportBytesMax)}`);

async function upload(client: Client, name: string, body: Buffer, signal: AbortSignal): Promise<void> {
  const answer = await client.raw({
    method: 'POST',
    target: tenantTarget(name, 'restore'),
    headers: { 'content-type': 'application/octet-stream', accept: 'application/json' },
    body,
    signal,
    isLong: true,
  });
  try {
    await insistOnSuccess(answer);
    await answer.body();
  } catch (error) {
    if (hasCode(error, 'AlreadyExists') || hasCode(error, 'Conflict')) throw hasData(name, error);
    throw error;
  }
}

/** Annotates the tenant first: without the annotation, an operator that sees the ControlPlane would find a tenant with another owner. */
async function adopted(
  client: Client,
  name: string,
  className: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  try {
    const annotations = { [adoptByAnnotation]: name };
    await client.patch(Tenant, { name }, { type: 'merge', body: { metadata: { annotations } } }, { signal });
    const spec = className === undefined ? {} : { classRef: { name: className } };
    await client.create(ControlPlane, { metadata: { name }, spec }, { signal });
  } catch (error) {
    throw failed(`the data of ${name} was restored, but its control plane was not created: ${asError(error).message}`, {
      next: [
        'to continue:',
        `  kubectl annotate tenant ${name} ${adoptByAnnotation}=${name}`,
        `  ${hangar(`create ${name}`)}`,
      ].join('\n'),
      cause: error,
    });
  }
}
