/** The commands of `hangar` besides `hangar up`: `main` runs one, `describeCommands` lists them. */

export { main } from './main.ts';
export { run } from './run.ts';
export { describeCommands } from './describe-commands.ts';
export type { DescribedCommand } from './describe-commands.ts';
export type { ArgumentSpec, CommandSpec, OptionSpec } from './command.ts';
export type { Output, Session } from './session.ts';
