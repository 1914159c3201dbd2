/** Commands that serve (apps/platform, apps/controller-manager, apps/hosted-operator). `bin/hangar.js` dispatches them; they are listed here for the help. */

export interface PlatformCommand {
  readonly name: string;
  readonly summary: string;
}

export const platformCommands: readonly PlatformCommand[] = [
  { name: 'up', summary: 'run Hangar: API server, store, operator and controllers in one process' },
  { name: 'operator', summary: 'run only the control plane operator' },
  { name: 'controller-manager', summary: 'run the controllers of Kubernetes for every registered cluster' },
  { name: 'hosted-operator', summary: 'run the operator of hosted control planes' },
  { name: 'front-door', summary: 'run the front door of hosted control planes: one address for all of them' },
  { name: 'tools', summary: 'find or install the programs of hosted control planes' },
  { name: 'pki', summary: 'manage the CAs and keys that several servers share' },
];
