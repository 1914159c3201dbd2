/** The log of this process, as it is asked for. */

import { Logger, systemClock } from '@hangar/core';
import type { LoggingOptions } from '@hangar/core/command-line';

/** Text where a person looks on, JSON where a program does, unless it is said. */
export function openLog({ level, format }: LoggingOptions, isTerminal: boolean): Logger {
  return new Logger({ level, format: format ?? (isTerminal ? 'text' : 'json'), clock: systemClock });
}
