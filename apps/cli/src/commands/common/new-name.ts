/** Names of control planes that are to be made: also their paths, parts of host names and of names of namespaces. */

import { usage } from '../../errors.ts';
import { quoted } from '../../terminal/plain-text.ts';

/** Throws `Usage`. */
export function insistOnNewName(name: string): void {
  const isLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name) && name.length <= 63;
  if (!isLabel) {
    throw usage(
      `${quoted(name)} is not a valid control plane name`,
      'a name consists of at most 63 lower-case letters, digits and dashes, and starts and ends with a letter or digit',
    );
  }
  if (name === 'root') throw usage('"root" is the management plane; choose another name');
}
