/**
 * The programs for mount namespaces. A process can have one if it is root or if the machine permits user namespaces; in a user namespace the
 * program sees itself as root and has the rights of the user of the runtime.
 */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findExecutable } from '@hangar/programs';

const execute = promisify(execFile);

export interface EnclosureTools {
  readonly bash: string;
  readonly mount: string;
  readonly nsenter: string;
  readonly unshare: string;
  /** Flags of `unshare` for a new mount namespace. */
  readonly unshareFlags: readonly string[];
  /** Flags of `nsenter` for the namespaces of a process. */
  readonly enterFlags: readonly string[];
}

const variants = [
  { unshareFlags: ['--mount'], enterFlags: ['--mount'] },
  {
    unshareFlags: ['--user', '--map-root-user', '--mount'],
    enterFlags: ['--user', '--preserve-credentials', '--mount'],
  },
];

/** Resolves with undefined when this machine does not permit mount namespaces. */
export async function detectEnclosure(): Promise<EnclosureTools | undefined> {
  const [bash, mount, nsenter, unshare] = ['bash', 'mount', 'nsenter', 'unshare'].map((name) => findExecutable(name));
  if (!bash || !mount || !nsenter || !unshare) return undefined;
  for (const variant of variants) {
    try {
      await execute(unshare, [...variant.unshareFlags, mount, '--rbind', '/dev', '/mnt'], { timeout: 10_000 });
      return { bash, mount, nsenter, unshare, ...variant };
    } catch {
      // Not permitted: the next variant.
    }
  }
  return undefined;
}
