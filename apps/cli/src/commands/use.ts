/** `hangar use NAME`: makes a control plane the current context of kubectl. */

import { accessOf } from '../control-planes/access.ts';
import { findControlPlane } from '../control-planes/find.ts';
import type { Command } from '../command.ts';
import { mergedWith, usePrevious } from './common/merged.ts';

export const use: Command = {
  name: 'use',
  summary: 'make a control plane the current context of kubectl',
  description:
    'Adds the control plane to your kubeconfig (the first file of KUBECONFIG, else ~/.kube/config) and makes hangar-NAME the current context. All other entries of that file stay, except for comments. "hangar use -" returns to the previous context.',
  args: [{ name: 'NAME', meaning: 'name of the control plane; - is the previous context', completes: 'control-plane' }],
  options: [{ name: 'external', meaning: 'use the address for clients outside the platform network' }],
  examples: ['use demo', 'use -'],
  isConnected: true,
  async run({ session, given, client: connected }) {
    const name = given.args[0]!;
    if (name === '-') return usePrevious(session);
    const client = await connected();
    const { signal } = session;
    const plane = await findControlPlane(client, name, signal);
    const access = await accessOf(client, plane, { isExternal: given.flag('external'), signal });
    await mergedWith(session, { controlPlane: name, access, isCurrent: true });
  },
};
