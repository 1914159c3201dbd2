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
    'For this shell, or in the file that it reads when it starts:',
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
      throw usage(`there is no completion for ${quoted(shell)}`, `there is for ${shells.join(', ')}`);
    }
    session.out.write(completionScripts[shell as Shell]);
  },
};
