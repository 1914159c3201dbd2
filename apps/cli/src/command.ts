/**
 * What a command is: data that says how it is typed, from which help, completion and the reference are made, and what it does.
 */

import type { Client } from '@hangar/client';
import type { Session } from './session.ts';

/** What the shell offers for a word. */
export type Completes = 'control-plane' | 'file' | 'folder' | readonly string[];

export interface OptionSpec {
  /** Without its dashes. */
  readonly name: string;
  readonly short?: string;
  /** What its value is called in help: `DIR`. Absent: it has none, and `--no-<name>` says the opposite. */
  readonly value?: string;
  readonly meaning: string;
  readonly completes?: Completes;
  /** It is one of these. */
  readonly oneOf?: readonly string[];
  /** Of an option without a value: what holds when it is not given. */
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
  /** It asks a server: the options that say which are understood. */
  readonly isConnected?: boolean;
  /** For programs, not for people: in no list. */
  readonly isHidden?: boolean;
}

/** What was typed, checked against the command's own words. */
export interface Given {
  readonly args: readonly string[];
  text(option: string): string | undefined;
  /** Of options without a value. */
  flag(option: string): boolean;
  has(option: string): boolean;
}

export interface Call {
  /** All that there are, for those who tell of others. */
  readonly commands: readonly CommandSpec[];
  readonly session: Session;
  readonly given: Given;
  /** Of the management plane. Rejects when there is no kubeconfig; nothing is asked of the server. Closed after the command. */
  client(): Promise<Client>;
}

export interface Command extends CommandSpec {
  /** Resolves with the exit code; undefined is 0. */
  run(call: Call): Promise<number | void>;
}
