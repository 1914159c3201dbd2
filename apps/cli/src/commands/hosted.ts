/** `hangar hosted ACTION`: HostedControlPlanes, whose components run as pods of the management plane. */

import type { Call, Command, OptionSpec } from '../command.ts';
import { usage } from '../errors.ts';
import { hangar } from '../hints.ts';
import { quoted } from '../terminal/plain-text.ts';
import { timeoutOption } from './common/timeout.ts';
import { managedFieldsOption } from '../terminal/printed.ts';

interface Action {
  readonly isNameRequired?: boolean;
  /** Accepts several names. */
  readonly isRepeated?: boolean;
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
  'roll-out': {
    isRepeated: true,
    options: ['namespace', 'selector', 'all', 'to', 'wave-size', 'dry-run', 'yes', 'timeout'],
    run: async (call) => (await import('./hosted/roll-out.ts')).rollOutHosted(call),
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
  { name: 'selector', short: 'l', value: 'SELECTOR', meaning: 'list and roll-out: label selector, such as team=red' },
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
  { name: 'all', meaning: 'diff and roll-out: all hosted control planes' },
  {
    name: 'to',
    value: 'RENDERING',
    meaning: 'roll-out: version of the rendering (default: the newest); an older one goes back',
  },
  {
    name: 'wave-size',
    value: 'N|P%',
    meaning: 'roll-out: maximum number of control planes that change at the same time, or their share (default: 10%)',
  },
  { name: 'dry-run', meaning: 'roll-out: print the waves and the numbers of changed objects, and change nothing' },
  { name: 'yes', short: 'y', meaning: 'roll-out: do not ask for confirmation' },
  {
    ...timeoutOption,
    meaning: 'roll-out: maximum time for one wave, such as 30s or 5m (default: 10m)',
  },
];

export const hosted: Command = {
  name: 'hosted',
  summary: 'list hosted control planes, print their kubeconfigs, and preview changes of an upgrade',
  description: [
    'A hosted control plane runs etcd, kube-apiserver, kube-controller-manager and kube-scheduler as pods of the management plane. "hangar up --hosted" runs these pods as processes of this machine. To create one, apply a HostedControlPlane with spec.version and spec.replicas.',
    'list (or get) shows all of them or NAME. kubeconfig prints the kubeconfig of the administrator of NAME, or writes or merges it.',
    'diff shows what the newest rendering of this release changes in the objects of NAME, or of all with --all, as a unified diff, and exits with 1 if something changes. A new release of the operator does not change existing control planes: the change comes with the next change of spec.version. diff compares by dry runs, which require the right to patch the objects; it writes nothing. render prints these objects as YAML.',
    'roll-out gives the control planes NAME…, those of --selector, or all of them the newest rendering without a change of spec.version. It changes them in waves: a wave starts when all control planes of the previous one are ready, and the roll-out stops at the first one that fails. The annotation hosted.hangar.dev/wave has the order as an integer (default 0): control planes with the lowest number are first. Paused control planes are skipped, and so are those that are not ready, unless they are named. The command can be repeated to continue. --to goes back to an older rendering.',
  ].join('\n\n'),
  args: [
    { name: 'ACTION', meaning: names.join(', '), completes: names },
    {
      name: 'NAME',
      meaning: 'name of the HostedControlPlane',
      isOptional: true,
      isRepeated: true,
      completes: 'hosted-control-plane',
    },
  ],
  options,
  examples: [
    'hosted list',
    'hosted get demo -o yaml',
    'hosted kubeconfig demo -o demo.kubeconfig',
    'hosted diff --all',
    'hosted roll-out --all --dry-run',
    'hosted roll-out demo --yes',
    'hosted render demo',
  ],
  isConnected: true,
  async run(call) {
    const { given } = call;
    const [name = '', of, second] = given.args;
    const action = Object.hasOwn(actions, name) ? actions[name]! : undefined;
    if (!action) throw usage(`${quoted(name)} is not an action of hosted`, `actions: ${names.join(', ')}`);
    const help = `see: ${hangar('hosted --help')}`;
    if (action.isNameRequired && of === undefined) throw usage(`hosted ${name} requires NAME`, help);
    if (second !== undefined && !action.isRepeated) throw usage(`hosted ${name} accepts only one NAME`, help);
    const other = options.find((one) => given.has(one.name) && !action.options.includes(one.name));
    if (other) throw usage(`--${other.name} is not an option of hosted ${name}`, help);
    return action.run(call);
  },
};
