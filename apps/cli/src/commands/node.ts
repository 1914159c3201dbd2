/** `hangar node ACTION`: nodes of control planes, on this machine and on others. */

import type { Call, Command, OptionSpec } from '../command.ts';
import { usage } from '../errors.ts';
import { hangar } from '../hints.ts';
import { quoted } from '../terminal/plain-text.ts';
import { tailOption } from './common/log-file.ts';
import { timeoutOption } from './common/timeout.ts';

/** `node`: the process that supervises the others. */
const programs = ['kubelet', 'containerd', 'kube-proxy', 'node'];

interface Action {
  /** Meaning of NAME; undefined: the action has none. */
  readonly name: string | undefined;
  readonly isNameOptional?: boolean;
  /** Names of the options that the action accepts. */
  readonly options: readonly string[];
  run(call: Call): Promise<void>;
}

const actions: Readonly<Record<string, Action>> = {
  'join-command': {
    name: 'name of the control plane',
    options: ['kubelet', 'output'],
    run: async (call) => (await import('./node/join-command.ts')).joinCommand(call),
  },
  run: {
    name: 'name of the control plane',
    options: ['name', 'foreground', 'dry-run', 'bin-dirs', 'node-dir', 'images', 'pause-image', 'timeout'],
    run: async (call) => (await import('./node/run.ts')).startNode(call),
  },
  list: {
    name: undefined,
    options: ['output'],
    run: async (call) => (await import('./node/list.ts')).listNodes(call),
  },
  logs: {
    name: 'name of the node',
    options: ['program', 'follow', 'tail'],
    run: async (call) => (await import('./node/logs.ts')).printNodeLogs(call),
  },
  stop: {
    name: 'name of the node',
    isNameOptional: true,
    options: ['all', 'timeout'],
    run: async (call) => (await import('./node/stop.ts')).stopNodes(call),
  },
};

const names = Object.keys(actions);

const options: readonly OptionSpec[] = [
  {
    name: 'kubelet',
    meaning: 'join-command: print a script with the files and the command line of a kubelet, without kubeadm',
  },
  {
    name: 'output',
    short: 'o',
    value: 'FORMAT',
    meaning: 'join-command, list: json or yaml: print the command, the token and all files, or the nodes, as data',
    oneOf: ['json', 'yaml'],
    completes: ['json', 'yaml'],
  },
  { name: 'name', value: 'NODE', meaning: 'run: name of the node (default: the first free one of NAME-1, NAME-2, …)' },
  { name: 'foreground', meaning: 'run: run in the foreground until Ctrl-C (default: in the background)' },
  { name: 'dry-run', meaning: 'run: print the files and programs of the node, and what is missing; change nothing' },
  {
    name: 'bin-dirs',
    value: 'DIRS',
    meaning:
      'run: folders to search for programs and CNI plugins before PATH and the usual folders, separated by commas',
    completes: 'folder',
  },
  {
    name: 'node-dir',
    value: 'DIR',
    meaning:
      'run: folder for the files of the node, outside of /etc, /run and /var (default: nodes in the data directory)',
    completes: 'folder',
  },
  {
    name: 'images',
    value: 'FILES',
    meaning: 'run: OCI archives to import before pods start, separated by commas',
    completes: 'file',
  },
  {
    name: 'pause-image',
    value: 'IMAGE',
    meaning: 'run: image of the sandbox containers of pods (default: the one of containerd)',
  },
  {
    name: 'program',
    value: 'NAME',
    meaning: 'logs: kubelet, containerd, kube-proxy, or node for the supervising process (default: kubelet)',
    oneOf: programs,
    completes: programs,
  },
  { name: 'follow', short: 'f', meaning: 'logs: print new lines until the node stops or Ctrl-C' },
  { ...tailOption, meaning: `logs: ${tailOption.meaning}` },
  { name: 'all', meaning: 'stop: all nodes of the data directory' },
  { ...timeoutOption, meaning: 'run, stop: time to wait, such as 90s, 5m or 1h (default: 3m for run, 1m for stop)' },
];

export const node: Command = {
  name: 'node',
  summary: 'run a node of a control plane on this machine, or print the command that joins another machine',
  description: [
    'run starts a node of the control plane NAME on this machine: containerd, a kubelet and kube-proxy in separate namespaces. It requires Linux, root, cgroups and the programs containerd (2.0 or newer), ctr, runc, kubelet, kube-proxy, nft and the CNI plugins bridge, host-local, loopback and portmap; it reports what is missing. Outside of its namespaces, the node has a folder, a cgroup, a route, and a cable to a bridge. The server must listen on an address that nodes reach, for example with "up --listen 0.0.0.0:6443".',
    'list shows the nodes of this machine, and logs prints the output of their programs. stop ends the node NAME and all its pods, and removes everything that run created, also the Node object.',
    'join-command prints a "kubeadm join" command for the control plane NAME, to be run as root on another machine. --kubelet prints a shell script for a machine without kubeadm: it writes the files of the kubelet and starts it. The command contains a bootstrap token, which is valid for at most 24 hours and is renewed before it expires; every holder of the token can add nodes. The control plane must have nodes enabled: see "create --nodes".',
  ].join('\n\n'),
  args: [
    { name: 'ACTION', meaning: names.join(', '), completes: names },
    {
      name: 'NAME',
      meaning: 'name of the control plane; for logs and stop, of the node',
      isOptional: true,
      completes: 'control-plane',
    },
  ],
  options,
  examples: [
    'node run demo',
    'node run demo --dry-run',
    'node list',
    'node logs demo-1 --follow',
    'node stop demo-1',
    'node join-command demo',
    'node join-command demo --kubelet > join.sh',
  ],
  isConnected: true,
  async run(call) {
    const { given } = call;
    const [name = '', of] = given.args;
    const action = Object.hasOwn(actions, name) ? actions[name]! : undefined;
    if (!action) throw usage(`${quoted(name)} is not an action of node`, `actions: ${names.join(', ')}`);
    const help = `see: ${hangar('node --help')}`;
    if (action.name === undefined && of !== undefined)
      throw usage(`node ${name}: unexpected argument ${quoted(of)}`, help);
    if (action.name !== undefined && of === undefined && !action.isNameOptional) {
      throw usage(`node ${name} requires NAME: ${action.name}`, help);
    }
    const other = options.find((one) => given.has(one.name) && !action.options.includes(one.name));
    if (other) throw usage(`--${other.name} is not an option of node ${name}`, help);
    await action.run(call);
  },
};
