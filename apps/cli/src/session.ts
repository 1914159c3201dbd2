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
  /** How this program is called: `hangar`, or `kubectl hangar`. */
  readonly program: string;
  /** To where a kubeconfig leads; whoever opens closes. */
  connect(config: ClusterConfig): Promise<Client>;
}
