/**
 * Structured logs, one line each: JSON with pino's keys (`level`, `time`, `msg`), or text for people. A line is written synchronously, so
 * that the last lines before a crash are not lost.
 */

import { writeSync } from 'node:fs';
import type { Clock } from './clock.ts';

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];
export type LogFormat = 'json' | 'text';
export type LogFields = Readonly<Record<string, unknown>>;

export interface LogOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  readonly clock: Pick<Clock, 'now'>;
  /** Absent: standard error. */
  readonly write?: (line: string) => void;
}

/** 10 is the lowest, with steps of 10, as in pino. */
const numberOf = (level: LogLevel): number => (logLevels.indexOf(level) + 1) * 10;

export class Logger {
  readonly #options: LogOptions;
  readonly #least: number;
  readonly #fields: LogFields;

  constructor(options: LogOptions, fields: LogFields = {}) {
    this.#options = options;
    this.#least = numberOf(options.level);
    this.#fields = fields;
  }

  /** Returns a logger with these fields on every line. */
  child(fields: LogFields): Logger {
    return new Logger(this.#options, { ...this.#fields, ...fields });
  }

  /** Reports whether the level is logged, to avoid computing unused fields. */
  isOn(level: LogLevel): boolean {
    return numberOf(level) >= this.#least;
  }

  debug(message: string, fields?: LogFields): void {
    this.#log('debug', message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#log('info', message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.#log('warn', message, fields);
  }

  /** An Error among the fields is written with its stack. */
  error(message: string, fields?: LogFields): void {
    this.#log('error', message, fields);
  }

  #log(level: LogLevel, message: string, fields: LogFields | undefined): void {
    if (!this.isOn(level)) return;
    const { format, clock, write = writeToStandardError } = this.#options;
    const all = { ...this.#fields, ...fields };
    write(format === 'json' ? jsonLine(level, clock.now(), message, all) : textLine(level, clock.now(), message, all));
  }
}

function jsonLine(level: LogLevel, now: number, message: string, fields: LogFields): string {
  return `${JSON.stringify({ level: numberOf(level), time: now, ...fields, msg: message }, plainly)}\n`;
}

/** Escapes control characters, which could forge a line or move a terminal's cursor. */
const printable = (text: string): string =>
  text.replaceAll(/\p{Cc}/gu, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`);

function textLine(level: LogLevel, now: number, message: string, fields: LogFields): string {
  const rest = Object.entries(fields).map(([name, value]) => ` ${name}=${JSON.stringify(value, plainly)}`);
  return `${new Date(now).toISOString()} ${level.toUpperCase().padEnd(5)} ${printable(message)}${rest.join('')}\n`;
}

function plainly(_name: string, value: unknown): unknown {
  if (value instanceof Error) return { type: value.name, message: value.message, stack: value.stack };
  return typeof value === 'bigint' ? String(value) : value;
}

function writeToStandardError(line: string): void {
  try {
    writeSync(2, line);
  } catch {
    // The reader is gone or too slow: continue serving.
  }
}
