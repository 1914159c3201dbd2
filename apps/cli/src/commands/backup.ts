/**
 * `hangar backup NAME -o FILE`: a control plane as one file, or as one backup in S3, while it serves. A file without encryption is the export
 * of the server, which its API accepts; other backups are containers of `@hangar/backup`.
 */

import { resolve } from 'node:path';
import type { FileHandle } from 'node:fs/promises';
import type { BackupKey } from '@hangar/backup';
import { backupObjectsHint, findControlPlane, insistOnVirtual, tenantOf } from '../control-planes/find.ts';
import type { Call, Command } from '../command.ts';
import type { Session } from '../session.ts';
import { failed, usage } from '../errors.ts';
import { writeSecretFileBy } from '../kubeconfig/secret-file.ts';
import { bytesText } from '../terminal/figures.ts';
import { plain } from '../terminal/plain-text.ts';
import { Progress } from '../terminal/progress.ts';
import { transferText } from '../terminal/transfer.ts';
import { backupPlaceOptions, credentialsHelp, explained, givenKey, isS3, s3Place } from './common/backup-place.ts';
import { insistOnSuccess, tenantTarget } from './common/tenant-request.ts';
import { version } from '../version.ts';

export const backup: Command = {
  name: 'backup',
  summary: 'back up a control plane to a file or to S3',
  description: `The backup contains all objects as of one revision, including Secrets. A file has mode 0600; protect it like a Secret, or encrypt it with --key-file. "hangar restore" creates a control plane from it, on this Hangar or another one. An existing backup is replaced when the new one is complete and verified. ${credentialsHelp}`,
  args: [{ name: 'NAME', meaning: 'name of the control plane', completes: 'control-plane' }],
  options: [
    {
      name: 'output',
      short: 'o',
      value: 'FILE',
      meaning: 'file to write (- is standard output), or s3://BUCKET/PREFIX/NAME',
      completes: 'file',
    },
    {
      name: 'include-keys',
      meaning:
        'include the CAs and signing keys: their certificates and tokens stay valid after a restore under the same name',
    },
    ...backupPlaceOptions,
  ],
  examples: ['backup demo -o demo.backup', 'backup demo -o s3://backups/production/demo --key-file backup.key'],
  isConnected: true,
  run: backUp,
};

async function backUp(call: Call): Promise<void> {
  const { session, given } = call;
  const name = given.args[0]!;
  const file = given.text('output');
  if (file === undefined) throw usage('backup requires -o FILE');
  if (file === '-' && session.out.isTty) throw usage('a backup is binary: redirect the output, or set -o FILE');
  const key = await givenKey(session, given);
  using place = isS3(file) ? await s3Place(session, given, file) : undefined;
  const exported = await startExport(call, name);
  const isContainer = place !== undefined || key !== undefined;
  const content = isContainer ? await container(exported, { name, key, session }) : exported;
  if (file === '-') return print(session, content);

  const progress = new Progress(session.err, session.clock);
  const startMs = session.clock.monotonicMs();
  const show = (bytes: number): void => {
    const elapsedMs = session.clock.monotonicMs() - startMs;
    if (session.err.isTty) progress.say(`backing up ${name}: ${transferText({ bytes, elapsedMs })}`);
  };
  let bytes = 0;
  try {
    if (place) {
      const options = { ifExists: 'replace', onProgress: show, signal: session.signal } as const;
      bytes = (await explained(() => place.destination.put(place.name, content, options))).sizeBytes;
    } else {
      await writeSecretFileBy(resolve(session.folder, file), async (handle) => {
        bytes = await copied(content, handle, show);
      });
    }
  } finally {
    progress.end();
  }
  session.err.write(`control plane ${name} written to ${plain(file)} (${bytesText(bytes)})\n`);
}

/** Returns the export of the server as a stream that fails if it is empty. */
async function startExport(
  { session, given, client: connected }: Call,
  name: string,
): Promise<AsyncIterable<Uint8Array>> {
  const client = await connected();
  const { signal } = session;
  const plane = await findControlPlane(client, name, signal);
  insistOnVirtual(plane, backupObjectsHint);
  const { metadata } = await tenantOf(client, plane, signal);
  const target = tenantTarget(metadata.name!, 'backup', given.flag('include-keys') ? { includeKeys: 'true' } : {});
  const answer = await client.raw({ method: 'POST', target, signal, isLong: true });
  await insistOnSuccess(answer);
  return notEmpty(answer.stream());
}

async function* notEmpty(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    yield chunk;
  }
  if (bytes === 0) throw failed('the server sent an empty backup');
}

async function container(
  exported: AsyncIterable<Uint8Array>,
  { name, key, session }: { name: string; key: BackupKey | undefined; session: Session },
): Promise<AsyncIterable<Uint8Array>> {
  const { rangeExport, writeContainer } = await import('@hangar/backup');
  const manifest = {
    payload: rangeExport,
    controlPlane: { name, mode: 'Virtual' },
    versions: { hangar: version() },
    createdAt: new Date(session.clock.now()).toISOString(),
  };
  return writeContainer(exported, { manifest, key });
}

async function print({ out }: Session, content: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of content) {
    out.write(chunk);
    await out.drained();
  }
}

async function copied(
  content: AsyncIterable<Uint8Array>,
  file: FileHandle,
  onBytes: (bytes: number) => void,
): Promise<number> {
  let bytes = 0;
  for await (const chunk of content) {
    for (let at = 0; at < chunk.length;) at += (await file.write(chunk, at)).bytesWritten;
    bytes += chunk.length;
    onBytes(bytes);
  }
  return bytes;
}
