/** `npm run tools -- <name…>`: results on standard output, progress and failures on standard error. */

import { parseArgs } from 'node:util';
import { catalogue, isToolName, toolNames } from './catalogue.ts';
import type { Program, ToolName } from './catalogue.ts';
import { ToolUnavailable } from './errors.ts';
import { find, look } from './find.ts';
import { pinnedVersion } from './pin.ts';
import type { World } from './world.ts';

export interface Output {
  result(line: string): void;
  problem(line: string): void;
}

const usage = `Finds or makes the real programs that tests and benchmarks use.

  npm run tools                 what there is, and where
  npm run tools -- <name…>      find or make these programs
  npm run tools -- --all        find or make every program

For each program, in this order: the variable HANGAR_TOOL_<NAME>, PATH, the cache, a build with Go
of the pinned version, Debian's package (as root), the official download.

  HANGAR_TOOL_<NAME>   the program to use, e.g. HANGAR_TOOL_KUBE_APISERVER=/opt/kube-apiserver
  HANGAR_TOOLS_CACHE   the cache folder; default $XDG_CACHE_HOME/hangar/tools or ~/.cache/hangar/tools
  HANGAR_TOOLS_JOBS    how many packages Go compiles at once; default: the number of cores`;

/** Returns the exit code: 0, 1 when a program could not be had, 2 when the arguments make no sense. */
export async function commandLine(args: readonly string[], world: World, output: Output): Promise<number> {
  const request = parse(args);
  if ('problem' in request) {
    output.problem(`${request.problem}\nKnown programs: ${toolNames.join(', ')}. Help: npm run tools -- --help`);
    return 2;
  }
  if (request.help) output.result(usage);
  else if (request.names.length === 0) await list(world, output);
  else return get(request.names, world, output);
  return 0;
}

function parse(args: readonly string[]): { names: ToolName[]; help: boolean } | { problem: string } {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { help: { type: 'boolean', short: 'h' }, all: { type: 'boolean' } },
    });
    const unknown = positionals.filter((name) => !isToolName(name));
    if (unknown.length > 0) return { problem: `Unknown program: ${unknown.join(', ')}.` };
    const names = values.all ? toolNames : [...new Set(positionals.filter(isToolName))];
    return { names, help: values.help === true };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

async function get(names: readonly ToolName[], world: World, output: Output): Promise<number> {
  let exitCode = 0;
  for (const name of names) {
    try {
      const { version, from, path } = await find(catalogue[name], world);
      output.result(row(name, version, from, path));
    } catch (error) {
      exitCode = 1;
      output.problem(error instanceof ToolUnavailable ? error.message : `${name}: ${(error as Error).message}`);
    }
  }
  return exitCode;
}

async function list(world: World, output: Output): Promise<void> {
  output.result(row('program', 'pinned', 'status', ''));
  for (const name of toolNames) {
    const program: Program = catalogue[name];
    const pinned = (await pinnedVersion(program, world.setsFolder)) ?? '-';
    const here = await look(program, world);
    if (!here) output.result(row(name, pinned, 'not yet', ''));
    else output.result(row(name, pinned, `${here.from} ${here.version}`, here.path));
  }
  output.result(`\nGet them with npm run tools -- <name…>, or --all. Help: npm run tools -- --help`);
}

function row(name: string, version: string, from: string, path: string): string {
  return `${name.padEnd(24)} ${version.padEnd(9)} ${from.padEnd(24)} ${path}`.trimEnd();
}
