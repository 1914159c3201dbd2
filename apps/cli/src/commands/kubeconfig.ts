/** `hangar kubeconfig NAME`: prints, writes or merges the kubeconfig of a control plane. */

import { accessOf } from '../control-planes/access.ts';
import { findControlPlane } from '../control-planes/find.ts';
import type { Command } from '../command.ts';
import { usage } from '../errors.ts';
import { kubeconfigOf } from '../kubeconfig/access.ts';
import { printedValue } from '../terminal/printed.ts';
import { mergedWith } from './common/merged.ts';
import { writtenKubeconfig } from './common/written-kubeconfig.ts';

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
  async run({ session, given, client: connected }) {
    const name = given.args[0]!;
    const output = given.text('output');
    if (output === 'name' || output === 'wide')
      throw usage(`a kubeconfig cannot be printed as ${output}; use json or yaml`);
    if (given.flag('merge') && output !== undefined) throw usage('--merge and -o cannot be used together');
    const client = await connected();
    const { signal } = session;
    const plane = await findControlPlane(client, name, signal);
    const access = await accessOf(client, plane, { isExternal: given.flag('external'), signal });
    if (given.flag('merge')) return mergedWith(session, { controlPlane: name, access, isCurrent: false });
    if (output === 'json' || output === 'yaml') {
      return session.out.write(printedValue(output, kubeconfigOf(name, access)));
    }
    const where = await writtenKubeconfig(session, { name, access, file: output ?? '-' });
    if (where !== undefined) session.err.write(`kubeconfig of control plane ${name} written to ${where}\n`);
  },
};
