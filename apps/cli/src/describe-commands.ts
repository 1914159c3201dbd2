/** All commands as data, for documents that are generated. */

import { optionsOf } from './arguments.ts';
import type { CommandSpec, OptionSpec } from './command.ts';
import { commands } from './commands/index.ts';
import { optionText, usageLine } from './help.ts';

export interface DescribedCommand extends Omit<CommandSpec, 'options'> {
  /** `create NAME [options]`. */
  readonly usage: string;
  /** With those that every command has. */
  readonly options: readonly (OptionSpec & { readonly text: string })[];
}

/** In the order of the help; without those that are for programs. */
export const describeCommands = (): DescribedCommand[] =>
  commands
    .filter(({ isHidden }) => !isHidden)
    .map((command) => {
      const spec: CommandSpec & { run?: unknown } = { ...command };
      delete spec.run;
      return {
        ...spec,
        usage: usageLine(spec),
        options: optionsOf(spec).map((option) => ({ ...option, text: optionText(option).trim() })),
      };
    });
