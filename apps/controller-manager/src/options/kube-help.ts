/**
 * The flags of a Kubernetes program, from what its `--help` prints. A line of that is
 *
 *       --concurrent-gc-syncs int32   The number of …       has a value
 *       --profiling                   Enable profiling …    is a switch: no type
 *       --version version[=true]      --version, …          may have a value, behind `=`
 *   -v, --v Level                     number for the …
 */

export interface KubeFlag {
  /** As pflag names it: `string`, `duration`, `int32`; empty for switches. */
  readonly type: string;
  readonly takesValue: boolean;
}

export interface KubeFlags {
  readonly flags: ReadonlyMap<string, KubeFlag>;
  /** Letter → name. */
  readonly letters: ReadonlyMap<string, string>;
}

const line = /^ {2}(?:-(\w), | {4})--([-.\w]+)(?: (\S+(?: \S+)*))?(?: {2,}.*)?$/;

export function kubeFlagsIn(help: string): KubeFlags {
  const flags = new Map<string, KubeFlag>();
  const letters = new Map<string, string>();
  for (const text of help.split('\n')) {
    const [, letter, name, type = ''] = line.exec(text.trimEnd()) ?? [];
    if (name === undefined) continue;
    flags.set(name, { type, takesValue: type !== '' && !type.includes('[=') });
    if (letter !== undefined) letters.set(letter, name);
  }
  return { flags, letters };
}
