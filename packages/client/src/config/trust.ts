/** What a kubeconfig may make this process do: its owner's everything, a stranger's nothing. */

export interface Trust {
  readonly allowFiles: boolean;
  readonly allowExec: boolean;
}
