/** `hangar kubeconfig NAME`: prints, writes or merges the kubeconfig of a control plane. */

import { accessOf } from '../control-planes/access.ts';
import { findControlPlane } from '../control-planes/find.ts';
import type { Command } from '../command.ts';
import { checkKubeconfigOutput, outputKubeconfig } from './common/kubeconfig-output.ts';

export const kubeconfig: Command = {
  name: 'kubeconfig',
  summary: 'print, write or merge the kubeconfig of a control plane',
  description:
    'Prints the kubeconfig, unless -o or --merge is given. --merge merges it into your kubeconfig (the first file of KUBECONFIG, else ~/.kube/config) as context hangar-NAME; all other entries of that file stay, except for comments. -o does not overwrite a file that is not a kubeconfig.',
  args: [{ name: 'NAME', meaning: 'name of the control plane', completes: 'control-plane' }],
  options: [
    { name: 'merge', meaning: 'merge it into your kubeconfig without changing the current context' },
    { name: 'external', meaning: 'use the address for clients outside the platform network' },
    {
      name: 'output',
      short: 'o',
      value: 'FILE|FORMAT',
      meaning: 'file that only you can read (- is standard output); or json, yaml: print it in that format',
      completes: 'file',
    },
  ],
  examples: ['kubeconfig demo -o demo.kubeconfig', 'kubeconfig demo --merge', 'kubeconfig demo --external'],
  isConnected: true,
  async run(call) {
    checkKubeconfigOutput(call);
    const { session, given } = call;
    const name = given.args[0]!;
    const client = await call.client();
    const { signal } = session;
    const plane = await findControlPlane(client, name, signal);
    const access = await accessOf(client, plane, { isExternal: given.flag('external'), signal });
    return outputKubeconfig(call, { name, access, kind: 'control plane' });
  },
};
