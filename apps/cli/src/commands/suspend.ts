/** `hangar suspend NAME`: a control plane answers less, or nothing, until it is resumed. */

import type { Command } from '../command.ts';
import { usage } from '../errors.ts';
import { setSuspension } from './common/suspension.ts';

export const suspend: Command = {
  name: 'suspend',
  summary: 'make a control plane read-only, or take it offline',
  args: [{ name: 'NAME', meaning: 'of the control plane', completes: 'control-plane' }],
  options: [
    { name: 'read-only', meaning: 'only reads are answered (this is what happens without options)' },
    { name: 'offline', meaning: 'nothing is answered' },
  ],
  examples: ['suspend demo', 'suspend demo --offline'],
  isConnected: true,
  async run({ session, given, client }) {
    if (given.flag('read-only') && given.flag('offline')) throw usage('--read-only and --offline cannot be together');
    const suspension = given.flag('offline') ? 'Offline' : 'ReadOnly';
    const name = await setSuspension({ session, client: await client(), name: given.args[0]! }, suspension);
    session.out.write(`control plane ${name} is ${suspension === 'Offline' ? 'offline' : 'read-only'}\n`);
  },
};
