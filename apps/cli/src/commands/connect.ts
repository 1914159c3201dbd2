/** `hangar connect NAME -- COMMAND`: runs a command with KUBECONFIG set to a control plane. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dumpYaml } from '@hangar/api/yaml';
import { asError, hasCode } from '@hangar/core';
import { accessOf } from '../control-planes/access.ts';
import { findControlPlane } from '../control-planes/find.ts';
import type { Call, Command } from '../command.ts';
import { failed } from '../errors.ts';
import { kubeconfigOf } from '../kubeconfig/access.ts';
import { writeSecretFile } from '../kubeconfig/secret-file.ts';
import { quoted } from '../terminal/plain-text.ts';

export const connect: Command = {
  name: 'connect',
  summary: 'run a command, or a shell, with KUBECONFIG set to a control plane',
  description:
    'The kubeconfig is a temporary file that only you can read; it is removed when the command exits. hangar exits with the exit code of the command. Without a command it runs your shell.',
  args: [
    { name: 'NAME', meaning: 'name of the control plane', completes: 'control-plane' },
    { name: 'COMMAND', meaning: 'command and its arguments, after --', isOptional: true, isRepeated: true },
  ],
  options: [{ name: 'external', meaning: 'use the address for clients outside the platform network' }],
  examples: ['connect demo -- kubectl get namespaces', 'connect demo'],
  isConnected: true,
  run: connectTo,
};

async function connectTo({ session, given, client: connected }: Call): Promise<number> {
  const [name = '', ...words] = given.args;
  const client = await connected();
  const { signal } = session;
  const plane = await findControlPlane(client, name, signal);
  const access = await accessOf(client, plane, { isExternal: given.flag('external'), signal });
  const folder = await mkdtemp(join(tmpdir(), 'hangar-connect-'));
  try {
    const file = join(folder, 'kubeconfig');
    await writeSecretFile(file, dumpYaml(kubeconfigOf(name, access)));
    return await ranWith(session, words.length > 0 ? words : [session.env['SHELL'] ?? 'sh'], file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function ranWith(session: Call['session'], words: readonly string[], file: string): Promise<number> {
  const { HANGAR_PROGRAM: _, HANGAR_PARENT: __, ...env } = session.env;
  try {
    return await session.runProgram(words, { ...env, KUBECONFIG: file });
  } catch (error) {
    const why = hasCode(error, 'ENOENT') ? 'it is not in PATH' : asError(error).message;
    throw failed(`the command ${quoted(words[0]!)} cannot be run: ${why}`, { cause: error });
  }
}
