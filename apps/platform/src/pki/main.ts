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
      ['init DIR', 'create the CAs and keys that are missing in DIR, for --pki-dir'],
      ['secret', 'create the CAs and keys as a Secret in a cluster, unless it exists'],
      ['kubeconfig', 'print a kubeconfig with a new client certificate signed by the CA in DIR'],
    ],
  },
  {
    title: 'Options for secret',
    rows: [
      ['--namespace NAME', 'namespace of the Secret (default: default)'],
      ['--name NAME', 'name of the Secret (default: hangar-pki)'],
      [
        '--kubeconfig FILE',
        'kubeconfig of the cluster (default: KUBECONFIG, the in-cluster config, or ~/.kube/config)',
      ],
    ],
  },
  {
    title: 'Options for kubeconfig',
    rows: [
      ['--pki-dir DIR', 'directory of the CA'],
      ['--server URL', 'URL of the API server'],
      ['--user NAME', 'user name in the certificate (default: kubernetes-admin)'],
      ['--group NAME', 'group of the user; may be repeated (default: system:masters if --user is not set)'],
      ['--days N', `lifetime of the certificate in days (default: ${days.default}; at most ${days.max})`],
    ],
  },
];

export const pkiHelp = helpText(
  'Manages the CAs and keys that several servers on one etcd share.\n\nUsage: hangar pki COMMAND',
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
      throw new UsageError(`unknown command "${command}" for "hangar pki": use init, secret or kubeconfig`);
  }
}

async function init(args: readonly string[]): Promise<void> {
  const { positionals } = parsed(args, {});
  const [folder, ...others] = positionals;
  if (folder === undefined || others.length > 0)
    throw new UsageError('pki init requires one directory: hangar pki init DIR');
  const made = await initPki(folder, world);
  console.log(
    made.length === 0 ? `${folder} already has all CAs and keys` : `created in ${folder}: ${made.join(', ')}`,
  );
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
    console.log(`secret ${values.namespace}/${values.name} ${isNew ? 'created' : 'unchanged: it already exists'}`);
  } catch (error) {
    // An unavailable cluster, or missing permissions: a Job retries.
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
  if (folder === undefined || server === undefined)
    throw new UsageError('pki kubeconfig requires --pki-dir and --server');
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
  throw new UsageError(`--days: "${given}" must be a number from 1 to ${days.max}`);
}

function parsed<const T extends ParseArgsOptionsConfig>(args: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...args], strict: true, allowPositionals: true, options });
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}
