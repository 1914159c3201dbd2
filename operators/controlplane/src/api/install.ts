/**
 * Installs the definitions of kinds in a management plane by server-side apply: an equal definition stays unchanged, an older
 * version is updated, and concurrent installations do not conflict.
 */

import type { ApplyConfiguration, Client, ObjectOf } from '@hangar/client';
import { CustomResourceDefinition } from '@hangar/client/kinds/apiextensions-v1';
import { CodedError } from '@hangar/core';
import { findCondition } from '@hangar/runtime';
import { definitions } from './generated/index.ts';

type Definition = ObjectOf<typeof CustomResourceDefinition>;

export interface InstallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Absent: the four kinds of this operator. */
  readonly definitions?: readonly Definition[] | undefined;
  /** Field manager of the apply. Absent: `hangar`. */
  readonly fieldManager?: string | undefined;
}

/** `NamesConflict`: another definition in the management plane has one of the names. */
export class InstallError extends CodedError<'NamesConflict'> {}

/** Resolves when all of them are served. Rejects with the error of the server, `NamesConflict` or `Aborted`. */
export async function installDefinitions(client: Client, options: InstallOptions = {}): Promise<void> {
  await Promise.all((options.definitions ?? definitions).map((definition) => install(client, definition, options)));
}

async function install(client: Client, definition: Definition, options: InstallOptions): Promise<void> {
  const { signal, fieldManager = 'hangar' } = options;
  const wanted = definition as ApplyConfiguration<Definition>;
  const applied = await client.apply(CustomResourceDefinition, wanted, { fieldManager, force: true, signal });
  if (isServed(applied)) return;
  const { name = '', resourceVersion } = applied.metadata;
  const fieldSelector = `metadata.name=${name}`;
  // The server may close a watch at any time. Get the current definition then, and watch again.
  for (let since = resourceVersion; ;) {
    for await (const event of client.watch(CustomResourceDefinition, {
      fieldSelector,
      resourceVersion: since,
      signal,
    })) {
      if (event.type !== 'BOOKMARK' && isServed(event.object)) return;
    }
    const now = await client.get(CustomResourceDefinition, { name }, { signal });
    if (isServed(now)) return;
    since = now.metadata.resourceVersion;
  }
}

/** Throws `NamesConflict`. */
function isServed({ metadata, status }: Definition): boolean {
  const names = findCondition(status?.conditions, 'NamesAccepted');
  if (names?.status === 'False') throw new InstallError('NamesConflict', `${metadata.name}: ${names.message}`);
  return findCondition(status?.conditions, 'Established')?.status === 'True';
}
