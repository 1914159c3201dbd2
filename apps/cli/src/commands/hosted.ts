/** `hangar hosted ACTION`: HostedControlPlanes, whose components run as pods of the management plane. */

import type { Call, Command, OptionSpec } from '../command.ts';
import { usage } from '../errors.ts';
import { hangar } from '../hints.ts';
import { quoted } from '../terminal/plain-text.ts';
import { managedFieldsOption } from '../terminal/printed.ts';

interface Action {
  readonly isNameRequired?: boolean;
  /** Names of the options that the action accepts. */
  readonly options: readonly string[];
  run(call: Call): Promise<number | void>;
}

const list: Action = {
  options: ['namespace', 'selector', 'output', 'show-managed-fields'],
  run: async (call) => (await import('./hosted/list.ts')).listHostedControlPlanes(call),
};

const actions: Readonly<Record<string, Action>> = {
  list,
  get: list,
  kubeconfig: {
    isNameRequired: true,
    options: ['namespace', 'output', 'merge'],
    run: async (call) => (await import('./hosted/kubeconfig.ts')).hostedKubeconfig(call),
  },
  diff: {
    options: ['namespace', 'all'],
    run: async (call) => (await import('./hosted/diff.ts')).diffHosted(call),
  },
  render: {
    isNameRequired: true,
    options: ['namespace'],
    run: async (call) => (await import('./hosted/diff.ts')).renderHosted(call),
  },
};

const names = Object.keys(actions);

const options: readonly OptionSpec[] = [
  { name: 'namespace', short: 'n', value: 'NAMESPACE', meaning: 'namespace (default: all namespaces)' },
  { name: 'selector', short: 'l', value: 'SELECTOR', meaning: 'list: label selector, such as team=red' },
  {
    name: 'output',
    short: 'o',
    value: 'FORMAT|FILE',
    meaning:
      'list: json, yaml, name or wide (default: a table); kubeconfig: json, yaml, or a file that only you can read',
    completes: 'file',
  },
  { ...managedFieldsOption, meaning: `list: ${managedFieldsOption.meaning}` },
  { name: 'merge', meaning: 'kubeconfig: merge it into your kubeconfig as context hangar-NAME' },
  { name: 'all', meaning: 'diff: all hosted control planes' },
];

export const hosted: Command = {
  name: 'hosted',
  summary: 'list hosted control planes, print their kubeconfigs, and preview changes of an upgrade',
  description: [
    'A hosted control plane runs etcd, kube-apiserver, kube-controller-manager and kube-scheduler as pods of the management plane. "hangar up --hosted" runs these pods as processes of this machine. To create one, apply a HostedControlPlane with spec.version and spec.replicas.',
    'list (or get) shows all of them or NAME. kubeconfig prints the kubeconfig of the administrator of NAME, or writes or merges it.',
    'diff shows what the newest rendering of this release changes in the objects of NAME, or of all with --all, as a unified diff, and exits with 1 if something changes. A new release of the operator does not change existing control planes: the change comes with the next change of spec.version. diff compares by dry runs, which require the right to patch the objects; it writes nothing. render prints these objects as YAML.',
  ].join('\n\n'),
  args: [
    { name: 'ACTION', meaning: names.join(', '), completes: names },
    {
      name: 'NAME',
      meaning: 'name of the HostedControlPlane',
      isOptional: true,
      completes: 'hosted-control-plane',
    },
  ],
  options,
  examples: [
    'hosted list',
    'hosted get demo -o yaml',
    'hosted kubeconfig demo -o demo.kubeconfig',
    'hosted diff --all',
    'hosted render demo',
  ],
  isConnected: true,
  async run(call) {
    const { given } = call;
    const [name = '', of] = given.args;
    const action = Object.hasOwn(actions, name) ? actions[name]! : undefined;
    if (!action) throw usage(`${quoted(name)} is not an action of hosted`, `actions: ${names.join(', ')}`);
    const help = `see: ${hangar('hosted --help')}`;
    if (action.isNameRequired && of === undefined) throw usage(`hosted ${name} requires NAME`, help);
    const other = options.find((one) => given.has(one.name) && !action.options.includes(one.name));
    if (other) throw usage(`--${other.name} is not an option of hosted ${name}`, help);
    return action.run(call);
  },
};
