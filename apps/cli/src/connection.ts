/** The options that select the Hangar of a command; every connected command has them. */

import type { OptionSpec } from './command.ts';

export const connectionOptions: readonly OptionSpec[] = [
  {
    name: 'kubeconfig',
    value: 'FILE',
    meaning:
      'kubeconfig of the management plane (default: admin.kubeconfig in the data directory; without a data directory, the files in $KUBECONFIG)',
    completes: 'file',
  },
  { name: 'context', value: 'NAME', meaning: 'context of the kubeconfig (default: its current context)' },
  {
    name: 'data-dir',
    value: 'DIR',
    meaning: 'data directory of "hangar up" (default: .data)',
    completes: 'folder',
  },
];

/** Returns the value of a connection option on a command line that need not be complete or correct. */
export function connectionValue(words: readonly string[], option: string): string | undefined {
  const last = words.indexOf('--');
  const own = last === -1 ? words : words.slice(0, last);
  const at = own.findLastIndex((word) => word === `--${option}` || word.startsWith(`--${option}=`));
  if (at === -1) return undefined;
  return own[at] === `--${option}` ? own[at + 1] : own[at]!.slice(option.length + 3);
}
