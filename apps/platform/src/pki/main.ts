/** `hangar pki`: the keys that several servers share, made, brought into a cluster, and used to let the first administrator in. */

import { parseArgs } from 'node:util';
import type { ParseArgsOptionsConfig } from 'node:util';
import { systemClock, systemRandom } from '@hangar/core';
import { connect, defaultConfig } from '@hangar/client';
import { issueCertificate, kubeconfig } from '@hangar/pki';
import { helpText, UsageError } from '@hangar/core/command-line';
import { readAuthorities } from '../compose/credentials.ts';
import { createPkiSecret } from './secret.ts';
import { initPki, newPki } from './shared-pki.ts';

const world = { clock: systemClock, random: systemRandom };
const days = { default: 365, max: 3_650 };

/** The commands and options, for the help text and for docs/reference. */
export const pkiSections: readonly { readonly title: string; readonly rows: [left: string, meaning: string][] }[] = [
  {
    title: 'Commands',
    rows: [
      ['init DIR', 'make the CAs and keys that DIR does not have, for --pki-dir'],
      ['secret', 'make them as a Secret of a cluster, unless there is one of this name'],
      ['kubeconfig', "print a kubeconfig with a new client certificate of DIR's CA"],
    ],
  },
  {
    title: 'Options of secret',
    rows: [
      ['--namespace NAME', 'where the Secret is made (default: default)'],
      ['--name NAME', 'of the Secret (default: hangar-pki)'],
      ['--kubeconfig FILE', 'of the cluster (default: KUBECONFIG, the pod that this is, or ~/.kube/config)'],
    ],
  },
  {
    title: 'Options of kubeconfig',
    rows: [
      ['--pki-dir DIR', 'where the CA is'],
      ['--server URL', 'where the API is served'],
      ['--user NAME', 'who the certificate is for (default: kubernetes-admin)'],
      ['--group NAME', 'a group of this user; may be repeated (default: system:masters when no user is named)'],
      ['--days N', `how long the certificate counts (default: ${days.default}; at most ${days.max})`],
    ],
  },
];

export const pkiHelp = helpText(
  'The keys that several servers on one etcd share.\n\nUsage: hangar pki COMMAND',
  pkiSections,
);

export async function pki(args: readonly string[]): Promise<void> {
  const [command, ...rest] = args;
  switch (command) {
    case 'init':
      return init(rest);
    case 'secret':
      return secret(rest);
    case 'kubeconfig':
      return printKubeconfig(rest);
    case undefined:
    case '-h':
    case '--help':
      return console.log(pkiHelp);
    default:
      throw new UsageError(`pki: "${command}" is none of init, secret, kubeconfig`);
  }
}

async function init(args: readonly string[]): Promise<void> {
  const { positionals } = parsed(args, {});
  const [folder, ...others] = positionals;
  if (folder === undefined || others.length > 0) throw new UsageError('pki init needs one folder: hangar pki init DIR');
  const made = await initPki(folder, world);
  console.log(made.length === 0 ? `${folder} has all of them` : `made in ${folder}: ${made.join(', ')}`);
}

const text = { type: 'string' } as const;

async function secret(args: readonly string[]): Promise<void> {
  const { values } = parsed(args, {
    namespace: { ...text, default: 'default' },
    name: { ...text, default: 'hangar-pki' },
    kubeconfig: text,
  });
  const client = connect(await defaultConfig({ kubeconfig: values.kubeconfig }));
  try {
    const isNew = await createPkiSecret(client, values, newPki(world));
    console.log(`secret ${values.namespace}/${values.name} ${isNew ? 'created' : 'is there already, and stays'}`);
  } catch (error) {
    // A cluster that is away, or rights that are missing: a Job tries again.
    if (!hasAnyCode(error)) throw error;
    console.error(`hangar: secret ${values.namespace}/${values.name}: ${error.message}`);
    process.exitCode = 1;
  } finally {
    await client.close();
  }
}

async function printKubeconfig(args: readonly string[]): Promise<void> {
  const { values } = parsed(args, {
    'pki-dir': text,
    server: text,
    user: text,
    group: { ...text, multiple: true },
    days: { ...text, default: String(days.default) },
  });
  const { 'pki-dir': folder, server, user = 'kubernetes-admin' } = values;
  if (folder === undefined || server === undefined) throw new UsageError('pki kubeconfig needs --pki-dir and --server');
  if (URL.parse(server)?.protocol !== 'https:') throw new UsageError(`--server: "${server}" is not https://…`);
  const { authority } = await readAuthorities(folder);
  const organizations = values.group ?? (values.user === undefined ? ['system:masters'] : []);
  const request = { commonName: user, organizations, usage: 'client', days: daysOf(values.days) } as const;
  const credentials = issueCertificate(authority, request, world);
  process.stdout.write(kubeconfig({ name: 'hangar', user, server, authority: authority.certificate, credentials }));
}

const hasAnyCode = (error: unknown): error is Error =>
  error instanceof Error && typeof (error as { code?: unknown }).code === 'string';

function daysOf(given: string): number {
  const number = Number(given);
  if (/^\d{1,4}$/.test(given) && number >= 1 && number <= days.max) return number;
  throw new UsageError(`--days: "${given}" is not a number from 1 to ${days.max}`);
}

function parsed<const T extends ParseArgsOptionsConfig>(args: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...args], strict: true, allowPositionals: true, options });
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}
