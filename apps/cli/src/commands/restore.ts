/**
 * `hangar restore NAME -f FILE`: creates a control plane from a backup. The server creates the tenant atomically. The tenant has no owner
 * at first, so it is annotated with its control plane, and the operator assigns it to the ControlPlane of that name. With `--in-place`, the
 * server replaces the data of an existing control plane.
 *
 * A backup is the export of the server, or a container of `@hangar/backup` with it, in a file or in S3. It is sent while it is read: the
 * server applies nothing before the last byte was verified.
 */

import type { BackupKey } from '@hangar/backup';
import { asError, hasCode } from '@hangar/core';
import {
  backupObjectsHint,
  controlPlaneNames,
  findControlPlane,
  insistOnVirtual,
  tenantOf,
} from '../control-planes/find.ts';
import { untilReady } from '../control-planes/ready.ts';
import type { Call, Command, Given } from '../command.ts';
import { failed, usage } from '../errors.ts';
import { adoptByAnnotation } from '../kinds.ts';
import { quoted } from '../terminal/plain-text.ts';
import { Progress } from '../terminal/progress.ts';
import { transferText } from '../terminal/transfer.ts';
import type { Session } from '../session.ts';
import { fileChunks } from './common/backup-file.ts';
import { backupPlaceOptions, credentialsHelp, explained, givenKey, isS3, s3Place } from './common/backup-place.ts';
import { insistOnNewName } from './common/new-name.ts';
import { timeoutMs, timeoutOption } from './common/timeout.ts';
import { hangar } from '../hints.ts';

export const restore: Command = {
  name: 'restore',
  summary: 'create a control plane from a backup, or replace its data',
  description: `No control plane and no retained data may exist with this name, unless --in-place is given. The restore is atomic. Credentials that the old control plane issued stay valid only if the backup includes its keys and the name is the same. --in-place replaces all data of an existing control plane: its clients get 503 for a short time and then list all objects again, and its credentials stay valid. ${credentialsHelp}`,
  args: [{ name: 'NAME', meaning: 'name of the control plane' }],
  options: [
    { name: 'file', short: 'f', value: 'FILE', meaning: 'backup file, or s3://BUCKET/PREFIX/NAME', completes: 'file' },
    { name: 'in-place', meaning: 'replace all data of the existing control plane' },
    { name: 'confirm', value: 'NAME', meaning: 'name of the control plane again; required by --in-place' },
    { name: 'class', value: 'NAME', meaning: 'ControlPlaneClass (default: none)' },
    { name: 'wait', isOn: true, meaning: 'do not wait until it is ready' },
    timeoutOption,
    ...backupPlaceOptions,
  ],
  examples: [
    'restore demo -f demo.backup',
    'restore copy-of-demo -f demo.backup',
    'restore demo -f s3://backups/production/demo --key-file backup.key',
    'restore demo -f demo.backup --in-place --confirm demo',
  ],
  isConnected: true,
  run: (call) => (call.given.flag('in-place') ? restoreInPlace(call) : restoreNew(call)),
};

async function restoreNew({ session, given, client: connected }: Call): Promise<void> {
  const name = given.args[0]!;
  insistOnNewName(name);
  if (given.text('confirm') !== undefined) throw usage('--confirm requires --in-place');
  const file = givenFile(given);
  const waitMs = timeoutMs(given);
  const { signal } = session;
  const key = await givenKey(session, given);
  await using opened = await openBackup(session, given, { file, key });
  const client = await connected();
  if ((await controlPlaneNames(client, signal)).includes(name)) throw isThere(name);
  const { adoptTenant, restoreTenant } = await import('@hangar/controlplane-operator/backup');
  await sending(session, { name, file, opened }, (upload) =>
    restoreTenant(client, { path: name, upload, signal }),
  ).catch((error: unknown) => {
    throw hasCode(error, 'AlreadyExists') || hasCode(error, 'Conflict') ? hasData(name, error) : error;
  });
  const className = given.text('class');
  await adoptTenant({ management: client, host: client }, { name, className, signal }).catch((error: unknown) => {
    throw notAdopted(name, error);
  });
  if (given.flag('wait')) await untilReady(client, { session, name, timeoutMs: waitMs });
  session.out.write(`control plane ${name} restored\n`);
}

async function restoreInPlace({ session, given, client: connected }: Call): Promise<void> {
  const name = given.args[0]!;
  const file = givenFile(given);
  if (given.text('class') !== undefined) throw usage('--class cannot be used with --in-place');
  if (given.text('confirm') !== name) {
    throw usage(`--in-place replaces all data of control plane ${quoted(name)}: to confirm, add --confirm ${name}`);
  }
  const { signal } = session;
  const key = await givenKey(session, given);
  await using opened = await openBackup(session, given, { file, key });
  const client = await connected();
  const plane = await findControlPlane(client, name, signal);
  insistOnVirtual(plane, backupObjectsHint);
  const { metadata } = await tenantOf(client, plane, signal);
  const { restoreTenant } = await import('@hangar/controlplane-operator/backup');
  const path = metadata.name!;
  await sending(session, { name, file, opened }, (upload) =>
    restoreTenant(client, { path, upload, replaces: true, signal }),
  );
  session.out.write(`control plane ${name} restored in place\n`);
}

function givenFile(given: Given): string {
  const file = given.text('file');
  if (file === undefined) throw usage('restore requires -f FILE');
  return file;
}

interface OpenedBackup extends AsyncDisposable {
  /** The export. */
  readonly content: AsyncIterable<Uint8Array>;
  readonly stored: StoredBytes;
}

/** Counts the bytes of the backup that were read. */
class StoredBytes {
  readonly totalBytes: number;
  bytes = 0;

  constructor(totalBytes: number) {
    this.totalBytes = totalBytes;
  }

  async *counted(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
    for await (const chunk of content) {
      this.bytes += chunk.length;
      yield chunk;
    }
  }
}

/** Sends the export, and shows how much of it was read. */
async function sending(
  session: Session,
  { name, file, opened }: { readonly name: string; readonly file: string; readonly opened: OpenedBackup },
  send: (upload: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  const progress = new Progress(session.err, session.clock);
  async function* upload(): AsyncGenerator<Uint8Array, void, void> {
    const startMs = session.clock.monotonicMs();
    for await (const chunk of opened.content) {
      const { bytes, totalBytes } = opened.stored;
      const elapsedMs = session.clock.monotonicMs() - startMs;
      if (session.err.isTty) progress.say(`restoring ${name}: ${transferText({ bytes, totalBytes, elapsedMs })}`);
      yield chunk;
    }
  }
  progress.say(`restoring ${name}`);
  try {
    await explained(() => send(upload()), isS3(file) ? undefined : quoted(file));
  } finally {
    progress.end();
  }
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

const notAdopted = (name: string, error: unknown): Error =>
  failed(`the data of ${name} was restored, but its control plane was not created: ${asError(error).message}`, {
    next: [
      'to continue:',
      `  kubectl annotate tenant ${name} ${adoptByAnnotation}=${name}`,
      `  ${hangar(`create ${name}`)}`,
    ].join('\n'),
    cause: error,
  });

async function openBackup(
  session: Session,
  given: Given,
  { file, key }: { readonly file: string; readonly key: BackupKey | undefined },
): Promise<OpenedBackup> {
  await using opened = new AsyncDisposableStack();
  if (isS3(file)) {
    const { destination, name } = opened.use(await s3Place(session, given, file));
    const stored = await explained(() => destination.get(name, { signal: session.signal }));
    const read = new StoredBytes(stored.record.sizeBytes);
    return withContent(opened, read, await explained(() => payloadOf(read.counted(stored.content), key)));
  }
  const chunks = opened.use(await fileChunks(session, file));
  const read = new StoredBytes(chunks.sizeBytes);
  const { isContainer } = await import('@hangar/backup');
  if (isContainer(chunks.start)) {
    return withContent(opened, read, await explained(() => payloadOf(read.counted(chunks.read()), key), quoted(file)));
  }
  if (key !== undefined) {
    throw failed(`${quoted(file)} is not encrypted, but a key is given`, { next: 'to restore it, omit --key-file' });
  }
  return withContent(opened, read, read.counted(chunks.read()));
}

function withContent(
  opened: AsyncDisposableStack,
  stored: StoredBytes,
  content: AsyncGenerator<Uint8Array, void, void>,
): OpenedBackup {
  opened.defer(async () => void (await content.return()));
  const moved = opened.move();
  return { content, stored, [Symbol.asyncDispose]: () => moved.disposeAsync() };
}

/** Returns the export in a container. Each chunk is verified before it is returned. */
async function payloadOf(
  content: AsyncIterable<Uint8Array>,
  key: BackupKey | undefined,
): Promise<AsyncGenerator<Uint8Array, void, void>> {
  const { rangeExport, readContainer } = await import('@hangar/backup');
  const { manifest, payload } = await readContainer(content, { key });
  if (manifest.payload === rangeExport) return payload;
  await payload.return();
  throw failed(
    `the backup of ${quoted(manifest.controlPlane.name)} contains ${quoted(manifest.payload)}, not a virtual control plane`,
  );
}
