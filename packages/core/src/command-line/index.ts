/** Common parts of the serving commands of `hangar`: tables of flags, help, usage errors. */

export { describeFlags, layered, parseFlags } from './flags.ts';
export type { Flag, FlagDescription, FlagGroup, Flags, FlagValues, GivenValues } from './flags.ts';
export { helpText } from './help.ts';
export type { HelpGroup, HelpRow } from './help.ts';
export { listeningProcess } from './listening-process.ts';
export type { ListeningProcess } from './listening-process.ts';
export { loggingEnvironmentHelp, loggingFlags, loggingHelp, loggingOf, loggingOptions } from './logging.ts';
export type { Environment, LoggingOptions } from './logging.ts';
export { announce, announced, findServer, logFileIn, memoryOf, withdraw } from './running-server.ts';
export type { RunningServer, ServerState } from './running-server.ts';
export { shellWord } from './shell-word.ts';
export { similarTo } from './similar.ts';
export { UsageError } from './usage-error.ts';
