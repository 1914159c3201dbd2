/** The result of a command that ran in a container. */
export interface CommandResult {
  readonly exitCode: number;
  /** Standard output and standard error, truncated to 10 KiB. */
  readonly output: string;
  readonly isTimeout: boolean;
}
