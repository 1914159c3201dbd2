/** The process `hangar hosted-operator`. */

import { hostedOperatorHelp, readOptions } from './options.ts';
import { runProgram } from './program.ts';

/** `args`: with the name of the command. Resolves when the operator has stopped. */
export const main = (args: readonly string[]): Promise<void> =>
  runProgram(
    {
      userAgent: 'hangar-hosted-operator',
      help: hostedOperatorHelp,
      readOptions,
      // `--help` does not load all modules.
      run: async (given) => (await import('./run.ts')).run(given),
    },
    args,
  );
