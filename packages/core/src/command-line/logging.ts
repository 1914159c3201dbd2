/** Flags of the log level and format. */

import { logLevels } from '../log.ts';
import type { LogFormat, LogLevel } from '../log.ts';
import type { GivenValues } from './flags.ts';
import type { HelpGroup } from './help.ts';
import { UsageError } from './usage-error.ts';

export interface LoggingOptions {
  readonly level: LogLevel;
  /** Absent: text on a terminal, JSON otherwise. */
  readonly format: LogFormat | undefined;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export const loggingFlags = {
  'log-level': { type: 'string', default: 'info' },
  'log-format': { type: 'string' },
} as const;

export const loggingHelp: HelpGroup = {
  title: 'Logging',
  rows: [
    [
      '--log-level LEVEL',
      'trace, debug, info, warn, error, fatal or silent; debug logs every request and the actions of the operator and the controllers (default: info)',
    ],
    ['--log-format FORMAT', 'json or text, to standard error (default: text on a terminal, else json)'],
  ],
};

export const loggingEnvironmentHelp: HelpGroup['rows'] = [
  ['LOG_LEVEL, LOG_FORMAT', 'same as --log-level and --log-format, which take precedence'],
];

type Values = { readonly 'log-level': string; readonly 'log-format'?: string | undefined };

/** Returns the flags set by the environment: a layer below the command line. */
export function loggingOf({ LOG_LEVEL: level, LOG_FORMAT: format }: Environment): GivenValues {
  return { ...(level ? { 'log-level': level } : {}), ...(format ? { 'log-format': format } : {}) };
}

export function loggingOptions(values: Values): LoggingOptions {
  const level = values['log-level'].toLowerCase();
  const format = values['log-format']?.toLowerCase();
  if (!logLevels.includes(level as LogLevel)) {
    throw new UsageError(`--log-level: "${level}" is not one of ${logLevels.join(', ')}`);
  }
  if (format !== undefined && format !== 'json' && format !== 'text') {
    throw new UsageError(`--log-format: "${format}" is neither json nor text`);
  }
  return { level: level as LogLevel, format: format as LogFormat | undefined };
}
