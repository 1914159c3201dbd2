/** `hangar resume NAME`: ends a suspension, and a quarantine. */

import type { Command } from '../command.ts';
import { setSuspension } from './common/suspension.ts';

export const resume: Command = {
  name: 'resume',
  summary: 'end the suspension or the quarantine of a control plane',
  args: [{ name: 'NAME', meaning: 'name of the control plane', completes: 'control-plane' }],
  options: [],
  examples: ['resume demo'],
  isConnected: true,
  async run({ session, given, client }) {
    const name = await setSuspension({ session, client: await client(), name: given.args[0]! }, undefined);
    session.out.write(`control plane ${name} is active\n`);
  },
};
