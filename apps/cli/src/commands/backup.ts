/** `hangar backup NAME -o FILE`: a control plane as one file, while it serves. */

import { resolve } from 'node:path';
import type { FileHandle } from 'node:fs/promises';
import type { HttpAnswer } from '@hangar/client';
import { findControlPlane, tenantOf } from '../control-planes/find.ts';
import type { Call, Command } from '../command.ts';
import { failed, usage } from '../errors.ts';
import { writeSecretFileBy } from '../kubeconfig/secret-file.ts';
import { bytesText } from '../terminal/figures.ts';
import { plain } from '../terminal/plain-text.ts';
import { Progress } from '../terminal/progress.ts';
import { insistOnSuccess, tenantTarget } from './common/tenant-request.ts';

export const backup: Command = {
  name: 'backup',
  summary: 'back up a control plane to a file',
  description:
    'The file contains all objects as of one revision, including Secrets. The file has mode 0600; protect it like a Secret. "hangar restore" creates a control plane from it, on this Hangar or another one.',
  args: [{ name: 'NAME', meaning: 'name of the control plane', completes: 'control-plane' }],
  options: [
    {
      name: 'output',
      short: 'o',
      value: 'FILE',
      meaning: 'file to write (- is standard output)',
      completes: 'file',
    },
    {
      name: 'include-keys',
      meaning:
        'include the CAs and signing keys: their certificates and tokens stay valid after a restore under the same name',
    },
  ],
  examples: ['backup demo -o demo.backup'],
  isConnected: true,
  run: backUp,
};

async function backUp({ session, given, client: connected }: Call): Promise<void> {
  const name = given.args[0]!;
  const file = given.text('output');
  if (file === undefined) throw usage('backup requires -o FILE');
  if (file === '-' && session.out.isTty) throw usage('a backup is binary: redirect the output, or set -o FILE');
  const client = await connected();
  const { signal } = session;
  const plane = await findControlPlane(client, name, signal);
  const { metadata } = await tenantOf(client, plane, signal);
  const target = tenantTarget(metadata.name!, 'backup', given.flag('include-keys') ? { includeKeys: 'true' } : {});
  const answer = await client.raw({ method: 'POST', target, signal, isLong: true });
  await insistOnSuccess(answer);
  if (file === '-') {
    for await (const chunk of answer.stream()) {
      session.out.write(chunk);
      await session.out.drained();
    }
    return;
  }
  const progress = new Progress(session.err, session.clock);
  let bytes = 0;
  try {
    await writeSecretFileBy(resolve(session.folder, file), async (handle) => {
      bytes = await copied(
        answer,
        handle,
        (soFar) => session.err.isTty && progress.say(`${bytesText(soFar)} of ${name}`),
      );
    });
  } finally {
    progress.end();
  }
  session.err.write(`control plane ${name} written to ${plain(file)} (${bytesText(bytes)})\n`);
}

async function copied(answer: HttpAnswer, file: FileHandle, onBytes: (bytes: number) => unknown): Promise<number> {
  let bytes = 0;
  for await (const chunk of answer.stream()) {
    for (let at = 0; at < chunk.length;) at += (await file.write(chunk, at)).bytesWritten;
    bytes += chunk.length;
    onBytes(bytes);
  }
  if (bytes === 0) throw failed('the server sent an empty backup');
  return bytes;
}
