/**
 * The process `hangar etcd receive|verify|activate|revert|clean`: one operation on the volume of a stopped etcd member, in a pod of a
 * restore. The operator creates these pods; users do not run the command.
 */

import { readFile } from 'node:fs/promises';
import { asError } from '@hangar/core';
import { parseFlags, UsageError } from '@hangar/core/command-line';
import {
  activateVolume,
  cleanVolume,
  receiveSnapshot,
  revertVolume,
  verifyVolume,
} from '@hangar/hosted-operator/restore';
import type { MemberVolume } from '@hangar/hosted-operator/restore';
import { signals } from '@hangar/runtime';
import { addressOf } from '../flag-values.ts';

const text = { type: 'string' } as const;
const flags = {
  folder: text,
  restore: text,
  listen: text,
  'cert-file': text,
  'key-file': text,
  'trusted-ca-file': text,
  digest: text,
  entries: text,
  revision: text,
};

type Values = Readonly<Partial<Record<keyof typeof flags, string>>>;
type Operation = (volume: MemberVolume, values: Values) => Promise<void>;

const operations: Readonly<Record<string, Operation>> = {
  receive,
  verify: (volume, values) =>
    verifyVolume(volume, {
      contentDigest: required(values, 'digest'),
      entries: count(values, 'entries'),
      revision: count(values, 'revision'),
    }),
  activate: activateVolume,
  revert: revertVolume,
  clean: cleanVolume,
};

/** `args`: with the name of the command. */
export async function main([, name = '', ...args]: readonly string[]): Promise<void> {
  try {
    const operation = operations[name];
    if (!operation) throw new UsageError(`unknown operation "${name}": use ${Object.keys(operations).join(', ')}`);
    const values = parseFlags(flags, args) as Values;
    await operation({ folder: required(values, 'folder'), restore: required(values, 'restore') }, values);
  } catch (error) {
    console.error(`hangar: etcd ${name}: ${asError(error).message}`);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}

async function receive(volume: MemberVolume, values: Values): Promise<void> {
  const address = addressOf('listen', required(values, 'listen'));
  if (!address) throw new UsageError('--listen: HOST:PORT is required');
  const read = (flag: keyof Values): Promise<string> => readFile(required(values, flag), 'utf8');
  const [ca, cert, key] = [await read('trusted-ca-file'), await read('cert-file'), await read('key-file')];
  const onListening = (): void => console.log('waiting for the snapshot');
  await receiveSnapshot({ volume, ...address, tls: { ca, cert, key }, signal: signals(), onListening });
}

function required(values: Values, flag: keyof Values): string {
  const value = values[flag];
  if (value === undefined || value === '') throw new UsageError(`--${flag} is required`);
  return value;
}

function count(values: Values, flag: keyof Values): number {
  const value = Number(required(values, flag));
  if (!Number.isSafeInteger(value) || value < 0) throw new UsageError(`--${flag} must be a whole number`);
  return value;
}
