/** `hangar completion SHELL`: what makes the shell complete commands, options and names of control planes. */

import type { Command } from '../command.ts';
import { completionScripts, shells } from '../completion/scripts.ts';
import type { Shell } from '../completion/scripts.ts';
import { usage } from '../errors.ts';
import { quoted } from '../terminal/plain-text.ts';

export const completion: Command = {
  name: 'completion',
  summary: 'print the completion script for a shell',
  description: [
    'Run the line for your shell, or add it to the startup file of the shell:',
    '  source <(hangar completion bash)',
    '  source <(hangar completion zsh)',
    '  hangar completion fish | source',
  ].join('\n'),
  args: [{ name: 'SHELL', meaning: 'bash, zsh or fish', completes: shells }],
  options: [],
  examples: ['completion bash'],
  async run({ session, given }) {
    const shell = given.args[0]!;
    if (!shells.includes(shell as Shell)) {
      throw usage(`no completion script for shell ${quoted(shell)}`, `supported shells: ${shells.join(', ')}`);
    }
    session.out.write(completionScripts[shell as Shell]);
  },
};
