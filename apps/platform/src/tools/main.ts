/** `hangar tools`: the programs of hosted control planes on this machine. */

import { homedir } from 'node:os';
import { release } from '@hangar/api';
import { asError, hasCode, systemClock, systemRandom } from '@hangar/core';
import { helpText, parseFlags, UsageError } from '@hangar/core/command-line';
import { Programs, toolsFolder } from '../services/hosted/programs.ts';

const defaultVersion = `v${release}`;

const flags = {
  registry: { type: 'string' },
  'plain-http': { type: 'boolean' },
} as const;

/** The commands and options, for the help text and for docs/reference. */
export const toolsSections: readonly { readonly title: string; readonly rows: [left: string, meaning: string][] }[] = [
  {
    title: 'Commands',
    rows: [
      ['list', 'print the programs that "hangar up --hosted" finds on this machine, in the order of its search'],
      [
        'get [VERSION]',
        `install etcd, kube-apiserver, kube-controller-manager, kube-scheduler and konnectivity for this version of Kubernetes (default: ${defaultVersion})`,
      ],
    ],
  },
  {
    title: 'Options for get',
    rows: [
      ['--registry HOST', 'registry with the images of the programs (default: registry.k8s.io)'],
      ['--plain-http', 'use the registry without TLS'],
    ],
  },
];

export const toolsHelp = helpText(
  'Finds or installs the programs of hosted control planes.\n\nUsage: hangar tools COMMAND',
  toolsSections,
);

export async function tools(args: readonly string[]): Promise<void> {
  const [command, ...rest] = args;
  switch (command) {
    case 'list':
      return list(rest);
    case 'get':
      return get(rest);
    case undefined:
    case '-h':
    case '--help':
      return console.log(toolsHelp);
    default:
      throw new UsageError(`unknown command "${command}" for "hangar tools": use list or get`);
  }
}

async function list(args: readonly string[]): Promise<void> {
  parseFlags({}, args);
  const found = await new Programs({ folders: [], env: process.env, homeFolder: homedir() }).all();
  const rows = [['PROGRAM', 'VERSION', 'PATH'], ...found.map(({ name, version, path }) => [name, version, path])];
  const widths = [0, 1].map((at) => Math.max(...rows.map((row) => row[at]!.length)));
  for (const [name, version, path] of rows) {
    console.log(`${name!.padEnd(widths[0]!)}   ${version!.padEnd(widths[1]!)}   ${path}`);
  }
}

async function get(args: readonly string[]): Promise<void> {
  if (process.platform !== 'linux') throw new UsageError('hosted control planes need Linux');
  const [version, options] = args[0]?.startsWith('-') === false ? [args[0], args.slice(1)] : [defaultVersion, args];
  const { registry, 'plain-http': isInsecure } = parseFlags(flags, options) as {
    registry?: string;
    'plain-http'?: boolean;
  };
  const [{ componentImages }, { installProgram }] = await Promise.all([
    import('./component-images.ts'),
    import('./install.ts'),
  ]);
  const folder = toolsFolder({ env: process.env, homeFolder: homedir() });
  for (const image of componentImages(version)) {
    try {
      const { path, isNew } = await installProgram(image, {
        clock: systemClock,
        random: systemRandom,
        tools: folder,
        registry,
        isInsecure: isInsecure === true,
        onPull: (name) => console.error(`pulling ${name}`),
      });
      console.log(isNew ? `installed ${path}` : `unchanged ${path}`);
    } catch (error) {
      if (!hasCode(error, 'ErrImagePull')) throw error;
      console.error(`hangar: ${asError(error).message}`);
      process.exitCode = 1;
      return;
    }
  }
}
