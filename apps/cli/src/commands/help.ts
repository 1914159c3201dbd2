/** `hangar help [COMMAND]`; without one the overview, which needs all commands, is printed by `run.ts`. */

import type { Command } from '../command.ts';
import { usage } from '../errors.ts';
import { commandHelp } from '../help.ts';
import { platformCommands } from '../platform-commands.ts';
import { quoted } from '../terminal/plain-text.ts';
import { hangar } from '../hints.ts';

export const help: Command = {
  name: 'help',
  summary: 'show help for a command',
  args: [{ name: 'COMMAND', meaning: 'name of the command', isOptional: true }],
  options: [],
  examples: ['help create'],
  async run({ commands, session, given }) {
    const serving = platformCommands.find(({ name }) => name === given.args[0]);
    if (serving) {
      // Its flags are defined in another part of the program.
      session.out.write(`${serving.name}: ${serving.summary}\nIts flags: ${session.program} ${serving.name} --help\n`);
      return;
    }
    const asked = given.args[0]!;
    const command = commands.find(({ name, aliases }) => name === asked || aliases?.includes(asked));
    if (!command) throw usage(`unknown command ${quoted(given.args[0]!)}`, `all commands: ${hangar('help')}`);
    session.out.write(`${commandHelp(command, session)}\n`);
  },
};
