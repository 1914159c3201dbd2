/** `hangar etcd ACTION`: the etcd of hosted control planes. */

import type { Call, Command } from '../command.ts';
import { usage } from '../errors.ts';
import { quoted } from '../terminal/plain-text.ts';
import { timeoutOption } from './common/timeout.ts';

const actions: Readonly<Record<string, (call: Call) => Promise<void>>> = {
  members: async (call) => (await import('./etcd/members.ts')).listMembers(call),
  recover: async (call) => (await import('./etcd/recover.ts')).recoverEtcd(call),
};

const names = Object.keys(actions);

export const etcd: Command = {
  name: 'etcd',
  summary: 'list the etcd members of a hosted control plane, and recover a lost quorum',
  description: [
    'members lists the etcd members of the hosted control plane NAME, with their roles and health. The operator replaces lost members as long as the others are a quorum.',
    'recover is for an etcd without a quorum whose members do not return. It shows the members that respond and the revisions of their data, and makes one of them the only member: --member, or by default the one with the highest revision. The other members then join again with empty volumes. Writes that this member does not have are lost, and the data of the other members is deleted; make sure that their processes have ended. API servers restart. --backup instead restores a ControlPlaneBackup in place. The command prompts for the name of the control plane; without a terminal it requires --confirm.',
  ].join('\n\n'),
  args: [
    { name: 'ACTION', meaning: names.join(', '), completes: names },
    { name: 'NAME', meaning: 'name of the HostedControlPlane', completes: 'hosted-control-plane' },
  ],
  options: [
    { name: 'namespace', short: 'n', value: 'NAMESPACE', meaning: 'namespace (default: all namespaces)' },
    { name: 'member', value: 'POD', meaning: 'recover: the member to recover from, as the name of its pod' },
    { name: 'backup', value: 'NAME', meaning: 'recover: the ControlPlaneBackup to restore instead' },
    { name: 'confirm', value: 'NAME', meaning: 'recover: name of the control plane, instead of the prompt' },
    { ...timeoutOption, meaning: 'recover: time to wait for a quorum, such as 90s or 5m (default: 10m)' },
  ],
  examples: ['etcd members demo', 'etcd recover demo', 'etcd recover demo --member demo-etcd-1 --confirm demo'],
  isConnected: true,
  async run(call) {
    const { given } = call;
    const [name = ''] = given.args;
    const action = Object.hasOwn(actions, name) ? actions[name]! : undefined;
    if (!action) throw usage(`${quoted(name)} is not an action of etcd`, `actions: ${names.join(', ')}`);
    const other = ['member', 'backup', 'confirm', 'timeout'].find((option) => given.has(option));
    if (name === 'members' && other) throw usage(`--${other} is not an option of etcd members`);
    await action(call);
  },
};
