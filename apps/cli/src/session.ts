/**
 * The environment of one command: outputs, inputs, clock, and connection to a server. `process-session.ts` creates it in production; tests
 * provide their own, with a server in their process.
 */

import type { Client, ClusterConfig } from '@hangar/client';
import type { Clock } from '@hangar/core';

export interface Output {
  write(text: string | Uint8Array): void;
  /** Resolves when more can be written: for output that is longer than a screen. */
  drained(): Promise<void>;
  readonly isTty: boolean;
  /** Current size of the terminal; undefined when the output is not a terminal. */
  size(): { readonly columns: number; readonly rows: number } | undefined;
}

export interface Session {
  readonly out: Output;
  readonly err: Output;
  /** Reads one line from the user; undefined when the session is not interactive. */
  readonly ask?: ((question: string) => Promise<string>) | undefined;
  /** Keys as they are pressed, until the signal; undefined when there is no keyboard. */
  readonly keys?: ((onKey: (key: string) => void, signal: AbortSignal) => void) | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly homeFolder: string;
  /** Base of relative paths. */
  readonly folder: string;
  readonly clock: Clock;
  /** Fires with Ctrl-C. */
  readonly signal: AbortSignal;
  /** The command that starts this program: `npx hangar`, `hangar`, `kubectl hangar`. */
  readonly program: string;
  /** Runs a program in the foreground, with the streams and signals of this process. Resolves with its exit code, as shells count it. */
  runProgram(words: readonly string[], env: NodeJS.ProcessEnv): Promise<number>;
  /** Connects with a kubeconfig; the caller closes the client. */
  connect(config: ClusterConfig): Promise<Client>;
}
