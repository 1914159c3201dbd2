/** The process `hangar front-door`: one address for all control planes that are exposed there. */

import { runProgram } from '../program.ts';
import { frontDoorHelp, readFrontDoorOptions } from './options.ts';

/** `args`: with the name of the command. Resolves when all connections are closed, or after the deadline of the drain. */
export const main = (args: readonly string[]): Promise<void> =>
  runProgram(
    {
      userAgent: 'hangar-front-door',
      help: frontDoorHelp,
      readOptions: readFrontDoorOptions,
      async run({ options, management, log, signal }) {
        // `--help` does not load all modules.
        const { frontDoorManager } = await import('@hangar/hosted-operator/front-door');
        await frontDoorManager({ ...options, ...options.listen, management, log }).run(signal);
      },
    },
    args,
  );
