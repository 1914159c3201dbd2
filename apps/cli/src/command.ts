/** A command as data: its syntax, from which help, completion and the reference are generated, and its implementation. */

import type { Client } from '@hangar/client';
import type { Session } from './session.ts';

/** Candidates that the shell completes a word with. */
export type Completes = 'control-plane' | 'hosted-control-plane' | 'file' | 'folder' | readonly string[];

export interface OptionSpec {
  /** Without its dashes. */
  readonly name: string;
  readonly short?: string;
  /** Placeholder of the value in help: `DIR`. Absent: the option has no value, and `--no-<name>` negates it. */
  readonly value?: string;
  readonly meaning: string;
  readonly completes?: Completes;
  /** Allowed values. */
  readonly oneOf?: readonly string[];
  /** Default of an option without a value. */
  readonly isOn?: boolean;
}

export interface ArgumentSpec {
  /** In capitals, as in help. */
  readonly name: string;
  readonly meaning: string;
  readonly isOptional?: boolean;
  readonly isRepeated?: boolean;
  readonly completes?: Completes;
}

export interface CommandSpec {
  readonly name: string;
  /** Other names for the same command. */
  readonly aliases?: readonly string[];
  /** One line, without a full stop. */
  readonly summary: string;
  /** Paragraphs. */
  readonly description?: string;
  readonly args: readonly ArgumentSpec[];
  readonly options: readonly OptionSpec[];
  /** Without the program's name. */
  readonly examples: readonly string[];
  /** The command connects to a server and accepts the connection options. */
  readonly isConnected?: boolean;
  /** For programs, not for users: not listed in help. */
  readonly isHidden?: boolean;
}

/** The parsed command line, validated against the command. */
export interface Given {
  readonly args: readonly string[];
  text(option: string): string | undefined;
  /** Of options without a value. */
  flag(option: string): boolean;
  has(option: string): boolean;
}

export interface Call {
  /** All commands, for help and completion. */
  readonly commands: readonly CommandSpec[];
  readonly session: Session;
  readonly given: Given;
  /** Client of the management plane. Rejects when there is no kubeconfig; sends no request. Closed after the command. */
  client(): Promise<Client>;
}

export interface Command extends CommandSpec {
  /** Resolves with the exit code; undefined is 0. */
  run(call: Call): Promise<number | void>;
}
