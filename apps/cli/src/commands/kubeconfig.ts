/** `hangar kubeconfig NAME`: how kubectl gets into a control plane. */

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
    'Printed unless -o or --merge says otherwise. --merge puts it into your own kubeconfig (the first file of KUBECONFIG, else ~/.kube/config) as context hangar-NAME; everything else in that file stays, except for comments.',
  args: [{ name: 'NAME', meaning: 'of the control plane', completes: 'control-plane' }],
  options: [
    { name: 'merge', meaning: 'put it into your own kubeconfig; the current context stays' },
    { name: 'external', meaning: 'with the address for those who are elsewhere' },
    {
      name: 'output',
      short: 'o',
      value: 'FILE|FORMAT',
      meaning: 'where to write it, readable for you alone (- is standard output); or json, yaml: print it so',
      completes: 'file',
    },
  ],
  examples: ['kubeconfig demo -o demo.kubeconfig', 'kubeconfig demo --merge', 'kubeconfig demo --external'],
  isConnected: true,
  async run({ session, given, client: connected }) {
    const name = given.args[0]!;
    const output = given.text('output');
    if (output === 'name' || output === 'wide')
      throw usage(`a kubeconfig cannot be printed as ${output}: json or yaml`);
    if (given.flag('merge') && output !== undefined) throw usage('--merge and -o cannot be together');
    const client = await connected();
    const { signal } = session;
    const plane = await findControlPlane(client, name, signal);
    const access = await accessOf(client, plane, { isExternal: given.flag('external'), signal });
    if (given.flag('merge')) return mergedWith(session, { controlPlane: name, access, isCurrent: false });
    if (output === 'json' || output === 'yaml') {
      return session.out.write(printedValue(output, kubeconfigOf(name, access)));
    }
    const where = await writtenKubeconfig(session, { name, access, file: output ?? '-' });
    if (where !== undefined) session.err.write(`the kubeconfig of control plane ${name} is ${where}\n`);
  },
};
