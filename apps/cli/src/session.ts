/**
 * The world of one command: where it writes, what it reads, which time it is, and how it gets to a server. Production's is made in
 * `process-session.ts`; tests give their own, with a server in their process.
 */

import type { Client, ClusterConfig } from '@hangar/client';
import type { Clock } from '@hangar/core';

export interface Output {
  write(text: string | Uint8Array): void;
  /** Resolves when there may be more: for what is longer than a screen. */
  drained(): Promise<void>;
  readonly isTty: boolean;
  /** Of the terminal as it is now; undefined when it is none. */
  size(): { readonly columns: number; readonly rows: number } | undefined;
}

export interface Session {
  readonly out: Output;
  readonly err: Output;
  /** One line of what a person types; undefined when nobody can be asked. */
  readonly ask?: ((question: string) => Promise<string>) | undefined;
  /** Keys as they are pressed, until the signal; undefined when there is no keyboard. */
  readonly keys?: ((onKey: (key: string) => void, signal: AbortSignal) => void) | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly homeFolder: string;
  /** What relative paths are relative to. */
  readonly folder: string;
  readonly clock: Clock;
  /** Fires with Ctrl-C. */
  readonly signal: AbortSignal;
  /** The words that start this program where the user is: `npx hangar`, `hangar`, `kubectl hangar`. */
  readonly program: string;
  /** Runs a program in the foreground, with the streams and signals of this process. Resolves with its exit code, as shells count it. */
  runProgram(words: readonly string[], env: NodeJS.ProcessEnv): Promise<number>;
  /** To where a kubeconfig leads; whoever opens closes. */
  connect(config: ClusterConfig): Promise<Client>;
}
