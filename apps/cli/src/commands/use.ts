/** `hangar use NAME`: kubectl is in that control plane from now on. */

import { accessOf } from '../control-planes/access.ts';
import { findControlPlane } from '../control-planes/find.ts';
import type { Command } from '../command.ts';
import { mergedWith } from './common/merged.ts';

export const use: Command = {
  name: 'use',
  summary: 'let kubectl use a control plane',
  description:
    'Puts the control plane into your own kubeconfig (the first file of KUBECONFIG, else ~/.kube/config) and makes hangar-NAME the current context. Everything else in that file stays, except for comments.',
  args: [{ name: 'NAME', meaning: 'of the control plane', completes: 'control-plane' }],
  options: [{ name: 'external', meaning: 'with the address for those who are elsewhere' }],
  examples: ['use demo'],
  isConnected: true,
  async run({ session, given, client: connected }) {
    const name = given.args[0]!;
    const client = await connected();
    const { signal } = session;
    const plane = await findControlPlane(client, name, signal);
    const access = await accessOf(client, plane, { isExternal: given.flag('external'), signal });
    await mergedWith(session, { controlPlane: name, access, isCurrent: true });
  },
};
