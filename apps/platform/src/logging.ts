/** The log of this process, as LOG_LEVEL and LOG_FORMAT ask for it. */

import { Logger, logLevels, systemClock } from '@hangar/core';
import type { LogFormat, LogLevel } from '@hangar/core';
import { UsageError } from './usage-error.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Text where a person looks on, JSON where a program does. */
export function openLog(environment: Environment, isTerminal: boolean): Logger {
  const level = (environment['LOG_LEVEL'] ?? 'info').toLowerCase();
  const format = (environment['LOG_FORMAT'] ?? (isTerminal ? 'text' : 'json')).toLowerCase();
  if (!logLevels.includes(level as LogLevel)) {
    throw new UsageError(`LOG_LEVEL: "${level}" is none of ${logLevels.join(', ')}`);
  }
  if (format !== 'json' && format !== 'text') throw new UsageError(`LOG_FORMAT: "${format}" is neither json nor text`);
  return new Logger({ level: level as LogLevel, format: format as LogFormat, clock: systemClock });
}
