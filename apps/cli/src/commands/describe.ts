/** `hangar describe NAME`: prints one control plane with everything that belongs to it. */

import { findControlPlane } from '../control-planes/find.ts';
import type { Command } from '../command.ts';
import { describedPlane } from '../control-planes/described.ts';
import { gatherAbout } from '../control-planes/about.ts';

export const describe: Command = {
  name: 'describe',
  summary: 'show a control plane with its conditions, endpoints, usage and events',
  args: [{ name: 'NAME', meaning: 'name of the control plane', isRepeated: true, completes: 'control-plane' }],
  options: [],
  examples: ['describe demo'],
  isConnected: true,
  async run({ session, given, client: connected }) {
    const client = await connected();
    const { signal, clock, out } = session;
    const pages: string[] = [];
    for (const name of new Set(given.args)) {
      const plane = await findControlPlane(client, name, signal);
      pages.push(describedPlane(await gatherAbout(client, plane, signal), clock.now()));
    }
    out.write(pages.join('\n\n'));
  },
};
