/** The program `hangar-types`. Its environment is a parameter, so that tests can replace it. */

import { writeFile } from 'node:fs/promises';
import { asError } from '@hangar/core';
import type { Client } from '../client.ts';
import { definitionTypes } from './definition-types.ts';
import { help, readOptions, UsageError } from './options.ts';
import type { GenerateOptions } from './options.ts';
import { definitionsOfCluster, definitionsOfFiles } from './sources.ts';

/** The environment of the program. */
export interface GenerateWorld {
  out(text: string): void;
  error(text: string): void;
  standardInput(): Promise<string>;
  /** Connects to a cluster. The program closes the client. */
  connect(options: Pick<GenerateOptions, 'context' | 'kubeconfig'>): Promise<Client>;
}

/** Runs `hangar-types` with these arguments. Resolves with the exit code. */
export async function generate(args: readonly string[], world: GenerateWorld): Promise<number> {
  try {
    const options = readOptions(args);
    if (options.isHelp) world.out(help);
    else await write(options, world);
    return 0;
  } catch (error) {
    world.error(`hangar-types: ${asError(error).message}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

async function write(options: GenerateOptions, world: GenerateWorld): Promise<void> {
  const definitions = options.isFromCluster
    ? await fromCluster(options, world)
    : await definitionsOfFiles(options.from, () => world.standardInput());
  const text = definitionTypes(definitions, { importFrom: options.importFrom });
  if (options.output === undefined) world.out(text);
  else await writeFile(options.output, text);
}

async function fromCluster(options: GenerateOptions, world: GenerateWorld): Promise<unknown[]> {
  const client = await world.connect(options);
  try {
    return await definitionsOfCluster(client, options.from);
  } finally {
    await client.close();
  }
}
