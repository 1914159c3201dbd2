/** Capabilities of a kubeconfig in this process: all for one of the user, none for an untrusted one. */

export interface Trust {
  readonly allowFiles: boolean;
  readonly allowExec: boolean;
}
