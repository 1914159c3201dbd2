/** The log of this process, as configured. */

import { Logger, systemClock } from '@hangar/core';
import type { LoggingOptions } from '@hangar/core/command-line';

/** Defaults to text on a terminal and to JSON elsewhere. */
export function openLog({ level, format }: LoggingOptions, isTerminal: boolean): Logger {
  return new Logger({ level, format: format ?? (isTerminal ? 'text' : 'json'), clock: systemClock });
}
