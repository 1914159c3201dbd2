/** `hangar kubeconfig NAME`: prints, writes or merges the kubeconfig of a control plane. */

import { accessOf } from '../control-planes/access.ts';
import { findControlPlane } from '../control-planes/find.ts';
import { certificateEntry, userCertificate } from '../control-planes/user-certificate.ts';
import type { Command } from '../command.ts';
import { execEntry } from '../kubeconfig/exec-entry.ts';
import { connectionWords } from './common/connection-words.ts';
import { checkKubeconfigOutput, outputKubeconfig } from './common/kubeconfig-output.ts';
import { userOptions, userWords, wantedUser } from './common/wanted-user.ts';

export const kubeconfig: Command = {
  name: 'kubeconfig',
  summary: 'print, write or merge the kubeconfig of a control plane',
  description:
    'Prints the kubeconfig, unless -o or --merge is given. --merge merges it into your kubeconfig (the first file of KUBECONFIG, else ~/.kube/config) as context hangar-NAME; all other entries of that file stay, except for comments. -o does not overwrite a file that is not a kubeconfig.\n\nWith --user the kubeconfig has a client certificate of that user, which the control plane signs; without it, the credential of the administrator. A user has no rights until roles are bound. With --exec the kubeconfig has no credential: kubectl runs "hangar credential", which renews it, and requires access to the management plane.',
  args: [{ name: 'NAME', meaning: 'name of the control plane', completes: 'control-plane' }],
  options: [
    { name: 'merge', meaning: 'merge it into your kubeconfig without changing the current context' },
    ...userOptions,
    { name: 'exec', meaning: 'run "hangar credential" instead of storing a credential' },
    { name: 'external', meaning: 'use the address for clients outside the platform network' },
    {
      name: 'output',
      short: 'o',
      value: 'FILE|FORMAT',
      meaning: 'file that only you can read (- is standard output); or json, yaml: print it in that format',
      completes: 'file',
    },
  ],
  examples: [
    'kubeconfig demo -o demo.kubeconfig',
    'kubeconfig demo --merge',
    'kubeconfig demo --external',
    'kubeconfig demo --user jane --group dev,ops --expires 8h -o jane.kubeconfig',
    'kubeconfig demo --user jane --exec --merge',
  ],
  isConnected: true,
  async run(call) {
    checkKubeconfigOutput(call);
    const wanted = wantedUser(call.given);
    const { session, given } = call;
    const name = given.args[0]!;
    const client = await call.client();
    const { signal } = session;
    const plane = await findControlPlane(client, name, signal);
    const access = await accessOf(client, plane, { isExternal: given.flag('external'), signal });
    const user = given.flag('exec')
      ? execEntry({
          program: session.program,
          name,
          user: wanted ? userWords(wanted) : [],
          connection: connectionWords(call),
        })
      : wanted
        ? certificateEntry(await userCertificate(session, { client, plane, wanted }))
        : access.user;
    return outputKubeconfig(call, { name, access: { cluster: access.cluster, user }, kind: 'control plane' });
  },
};
