/** Finds Kubernetes' own programs on this machine, and reads their flags. Runs them only with `--help`. */

import { execFile } from 'node:child_process';
import { UsageError } from '@hangar/core/command-line';
import { findExecutable, isExecutable } from '@hangar/programs';
import { kubeFlagsIn } from './kube-help.ts';
import type { KubeFlags } from './kube-help.ts';

export interface KubePrograms {
  /** Absolute; undefined when PATH has none of that name. */
  find(name: string): string | undefined;
  isExecutable(path: string): boolean;
  /** Returns the listed flags. Throws a UsageError if it is not such a program. */
  flagsOf(path: string): Promise<KubeFlags>;
  /** Returns the program's error about these flags, also about unlisted ones; undefined: they are valid. */
  complaint(path: string, flags: readonly string[]): Promise<string | undefined>;
}

/** A cold disk may need seconds for the first page of a hundred megabytes. */
const timeoutMs = 30_000;
const outputMax = 8 * 1024 ** 2;
/** The real programs have hundreds; one that lists fewer is a different program. */
const flagsMin = 10;

export function kubePrograms(environment: Readonly<Record<string, string | undefined>>): KubePrograms {
  const { PATH: path = '' } = environment;
  const run = (executable: string, args: readonly string[]): Promise<Answer> => answerOf(executable, args, path);
  return {
    isExecutable,
    find: (name) => findExecutable(name, { path }),
    async flagsOf(executable) {
      const { failure, output } = await run(executable, ['--help']);
      if (failure !== undefined) throw new UsageError(`${executable} --help: ${failure}`);
      const known = kubeFlagsIn(output);
      if (known.flags.size >= flagsMin) return known;
      throw new UsageError(
        `${executable} is not a Kubernetes program: its --help lists only ${known.flags.size} flags`,
      );
    },
    // With --help it only parses its flags and their values.
    complaint: async (executable, flags) => (await run(executable, [...flags, '--help'])).failure,
  };
}

interface Answer {
  readonly output: string;
  /** In the words of the program. */
  readonly failure: string | undefined;
}

function answerOf(executable: string, args: readonly string[], path: string): Promise<Answer> {
  const options = { timeout: timeoutMs, maxBuffer: outputMax, env: { PATH: path }, killSignal: 'SIGKILL' } as const;
  return new Promise((resolve) => {
    execFile(executable, args, options, (error, output, errors) => {
      if (!error) return resolve({ output, failure: undefined });
      const said = /^Error: (.+)$/m.exec(errors)?.[1] ?? /^Error: (.+)$/m.exec(output)?.[1];
      const why = error.killed ? `no answer within ${timeoutMs / 1000} s` : (error.code ?? error.signal ?? 'failed');
      resolve({ output, failure: said || errors.trim().split('\n').at(-1) || String(why) });
    });
  });
}
