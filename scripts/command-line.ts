/**
 * Reads the command lines of `npm run sim`, `fuzz` and `bench`. An unknown option or name ends in a usage text:
 *
 *     await runCommand(async () => {
 *       const { values } = readCommandLine(args, { usage: 'npm run sim --', options: { seeds: { value: 'N', help: 'how many' } } });
 *       return simulate(values.seeds);
 *     });
 */

import { parseArgs } from 'node:util';

/** An option with a `value` takes one. Others are flags. */
export interface Option {
  readonly value?: string;
  /** The values that it may have. Absent: any. */
  readonly choices?: readonly string[];
  readonly help: string;
}

export interface Command<O extends Readonly<Record<string, Option>>> {
  /** The command without its options. */
  readonly usage: string;
  readonly options: O;
  /** The names that may follow, each of them optional. Absent: any name. */
  readonly names?: readonly string[];
  /** Stands for the names in the usage text. */
  readonly namesHelp?: string;
}

type Values<O> = { readonly [K in keyof O]?: O[K] extends { readonly value: string } ? string : boolean };

/** Ends the command with a text instead of a result: the requested help, or why the command line is wrong. */
export class Usage extends Error {
  /** 0 for requested help, 2 for a wrong command line. */
  readonly exitCode: 0 | 2;

  constructor(text: string, exitCode: 0 | 2) {
    super(text);
    this.name = 'Usage';
    this.exitCode = exitCode;
  }
}

/** Throws `Usage` for `--help`, and for an option or a name that the command does not have. */
export function readCommandLine<const O extends Readonly<Record<string, Option>>>(
  args: readonly string[],
  command: Command<O>,
): { readonly values: Values<O>; readonly names: readonly string[] } {
  const text = usageText(command);
  const options = Object.fromEntries(
    Object.entries({ ...command.options, help: {} as Option }).map(([name, { value }]) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const) },
    ]),
  );
  const { values, positionals } = parsed(() => parseArgs({ args: [...args], options, allowPositionals: true }), text);
  if (values['help']) throw new Usage(text, 0);
  const unknown = command.names && positionals.find((name) => !command.names!.includes(name));
  if (unknown !== undefined) throw new Usage(`unknown name "${unknown}"\n\n${text}`, 2);
  for (const [name, { choices }] of Object.entries(command.options)) {
    const value = values[name] as string | undefined;
    if (value === undefined || !choices || choices.includes(value)) continue;
    throw new Usage(`--${name} is one of ${choices.join(', ')}, not "${value}"\n\n${text}`, 2);
  }
  return { values: values as Values<O>, names: positionals };
}

/** A whole number of at least zero; `otherwise` when the option is absent. Throws `Usage` for anything else. */
export function wholeNumber<T>(name: string, value: string | undefined, otherwise: T): number | T {
  if (value === undefined) return otherwise;
  const number = Number(value);
  if (value.trim() === '' || !Number.isSafeInteger(number) || number < 0) {
    throw new Usage(`--${name} takes a whole number, not "${value}"`, 2);
  }
  return number;
}

/** Runs a command that returns whether it succeeded, and sets the exit code: 0 or 1, or that of a `Usage`. */
export async function runCommand(command: () => Promise<boolean>): Promise<void> {
  try {
    process.exitCode = (await command()) ? 0 : 1;
  } catch (error) {
    if (!(error instanceof Usage)) throw error;
    (error.exitCode === 0 ? console.log : console.error)(error.message);
    process.exitCode = error.exitCode;
  }
}

function parsed<T>(parse: () => T, text: string): T {
  try {
    return parse();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (!code?.startsWith('ERR_PARSE_ARGS_')) throw error;
    // Behind the first sentence Node explains how to pass names that begin with a dash.
    throw new Usage(`${message.split('. ')[0]}\n\n${text}`, 2);
  }
}

function usageText({ usage, options, names, namesHelp }: Command<Readonly<Record<string, Option>>>): string {
  const rows = Object.entries(options).map(([name, { value, help }]) => {
    return [`--${name}${value === undefined ? '' : ` ${value}`}`, help] as const;
  });
  rows.push(['--help', 'print this text']);
  const width = Math.max(...rows.map(([left]) => left.length));
  const positional = namesHelp ?? (names && names.length > 0 ? `[${names.join('|')} …]` : undefined);
  const head = ['usage:', usage, '[options]', ...(positional === undefined ? [] : [positional])].join(' ');
  return [head, '', ...rows.map(([left, help]) => `  ${left.padEnd(width)}  ${help}`)].join('\n');
}
