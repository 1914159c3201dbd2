/** Names of control planes that are to be made: also their paths, parts of host names and of names of namespaces. */

import { usage } from '../../errors.ts';
import { quoted } from '../../terminal/plain-text.ts';

/** Throws `Usage`. */
export function insistOnNewName(name: string): void {
  const isLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name) && name.length <= 63;
  if (!isLabel) {
    throw usage(
      `${quoted(name)} is not a valid name of a control plane`,
      'a name has lower-case letters, digits and dashes, at most 63, and begins and ends with a letter or digit',
    );
  }
  if (name === 'root') throw usage('"root" is the management plane; choose another name');
}
