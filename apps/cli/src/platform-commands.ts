/** Commands that serve (apps/platform, apps/controller-manager), which `bin/hangar.js` hands to those: here only so that they are told of. */

export interface PlatformCommand {
  readonly name: string;
  readonly summary: string;
}

export const platformCommands: readonly PlatformCommand[] = [
  { name: 'up', summary: 'run Hangar: API server, store, operator and controllers in one process' },
  { name: 'operator', summary: 'run the operator of control planes alone' },
  { name: 'controller-manager', summary: "run Kubernetes' own controllers for every registered cluster" },
  { name: 'pki', summary: 'make the keys that several servers share' },
];
