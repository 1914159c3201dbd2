/** The user entry of a kubeconfig that runs `hangar credential`, so that the credential renews itself. */

import type { JsonObject } from '@hangar/api/json';

export interface ExecEntryOptions {
  /** The command that starts this program: `npx hangar`. */
  readonly program: string;
  /** Name of the control plane. */
  readonly name: string;
  /** Options of the user. */
  readonly user: readonly string[];
  /** Connection options of the management plane, with absolute paths. */
  readonly connection: readonly string[];
}

export const execVersion = 'client.authentication.k8s.io/v1';

export function execEntry({ program, name, user, connection }: ExecEntryOptions): JsonObject {
  const [command = 'hangar', ...words] = program.split(' ');
  return {
    exec: {
      apiVersion: execVersion,
      command,
      args: [...words, 'credential', name, ...user, ...connection],
      env: null,
      interactiveMode: 'Never',
      provideClusterInfo: false,
      installHint: 'the credential of this control plane is issued by the program hangar, which is not installed',
    },
  };
}
