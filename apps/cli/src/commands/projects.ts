/** `hangar projects ACTION`: projects of organizations, each with a control plane of its name. */

import type { Call, Command, OptionSpec } from '../command.ts';
import { usage } from '../errors.ts';
import { hangar } from '../hints.ts';
import { quoted } from '../terminal/plain-text.ts';
import { managedFieldsOption } from '../terminal/printed.ts';
import { timeoutOption } from './common/timeout.ts';

interface Action {
  readonly isNameRequired?: boolean;
  /** Names of the options that the action accepts. */
  readonly options: readonly string[];
  run(call: Call): Promise<void>;
}

const list: Action = {
  options: ['organization', 'output', 'show-managed-fields'],
  run: async (call) => (await import('./projects/list.ts')).listProjects(call),
};

const actions: Readonly<Record<string, Action>> = {
  list,
  get: list,
  create: {
    isNameRequired: true,
    options: ['organization', 'wait', 'timeout'],
    run: async (call) => (await import('./projects/create.ts')).createProject(call),
  },
  delete: {
    isNameRequired: true,
    options: ['yes', 'wait', 'timeout'],
    run: async (call) => (await import('./projects/delete.ts')).deleteProject(call),
  },
  kubeconfig: {
    isNameRequired: true,
    options: ['merge', 'exec', 'output'],
    run: async (call) => (await import('./projects/kubeconfig.ts')).projectKubeconfig(call),
  },
};

const names = Object.keys(actions);

const options: readonly OptionSpec[] = [
  { name: 'organization', value: 'NAME', meaning: 'list: only its projects; create: the owner of the project' },
  {
    name: 'output',
    short: 'o',
    value: 'FORMAT|FILE',
    meaning: 'list: json, yaml, name or wide; kubeconfig: a file that only you can read, or json, yaml',
    completes: 'file',
  },
  { ...managedFieldsOption, meaning: `list: ${managedFieldsOption.meaning}` },
  { name: 'merge', meaning: 'kubeconfig: merge it into your kubeconfig without changing the current context' },
  { name: 'exec', meaning: 'kubeconfig: run "hangar credential" instead of storing your credential' },
  { name: 'yes', short: 'y', meaning: 'delete: do not ask for confirmation' },
  { name: 'wait', isOn: true, meaning: 'create and delete: do not wait until it is complete' },
  { ...timeoutOption, meaning: `create and delete: ${timeoutOption.meaning}` },
];

export const projects: Command = {
  name: 'projects',
  summary: 'list, create and delete the projects of organizations, and print their kubeconfigs',
  description: [
    'A project belongs to an Organization and owns the control plane with its name. The members of the organization have their roles in it. They see the projects of their organizations, and create and delete projects with the role admin or editor; they need no other rights. Requires "hangar up --projects".',
    'list (or get) shows all projects or NAME. delete removes the objects, the namespaces and the control plane in this order, including all data, and names the objects that block it. kubeconfig prints a kubeconfig of project NAME with your credential at the management plane; with --exec kubectl runs "hangar credential", so that a renewed credential is used.',
  ].join('\n\n'),
  args: [
    { name: 'ACTION', meaning: names.join(', '), completes: names },
    { name: 'NAME', meaning: 'name of the project', isOptional: true, completes: 'control-plane' },
  ],
  options,
  examples: [
    'projects list',
    'projects list --organization acme',
    'projects create shop --organization acme',
    'projects delete shop --yes',
    'projects kubeconfig shop --merge',
    'projects kubeconfig shop --exec -o shop.kubeconfig',
  ],
  isConnected: true,
  async run(call) {
    const { given } = call;
    const [name = '', of] = given.args;
    const action = Object.hasOwn(actions, name) ? actions[name]! : undefined;
    if (!action) throw usage(`${quoted(name)} is not an action of projects`, `actions: ${names.join(', ')}`);
    const help = `see: ${hangar('projects --help')}`;
    if (action.isNameRequired && of === undefined) throw usage(`projects ${name} requires NAME`, help);
    const other = options.find((one) => given.has(one.name) && !action.options.includes(one.name));
    if (other) throw usage(`--${other.name} is not an option of projects ${name}`, help);
    return action.run(call);
  },
};
