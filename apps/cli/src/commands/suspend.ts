/** `hangar suspend NAME`: makes a control plane read-only, or takes it offline. */

import type { Command } from '../command.ts';
import { usage } from '../errors.ts';
import { setSuspension } from './common/suspension.ts';

export const suspend: Command = {
  name: 'suspend',
  summary: 'make a control plane read-only, or take it offline',
  args: [{ name: 'NAME', meaning: 'name of the control plane', completes: 'control-plane' }],
  options: [
    { name: 'read-only', meaning: 'answer reads only (default)' },
    { name: 'offline', meaning: 'answer no requests' },
  ],
  examples: ['suspend demo', 'suspend demo --offline'],
  isConnected: true,
  async run({ session, given, client }) {
    if (given.flag('read-only') && given.flag('offline'))
      throw usage('--read-only and --offline cannot be used together');
    const suspension = given.flag('offline') ? 'Offline' : 'ReadOnly';
    const name = await setSuspension({ session, client: await client(), name: given.args[0]! }, suspension);
    session.out.write(`control plane ${name} is ${suspension === 'Offline' ? 'offline' : 'read-only'}\n`);
  },
};
