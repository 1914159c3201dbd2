/** Parses a Containerfile, stage by stage: limited to the syntax that our Containerfile uses. */

export interface Instruction {
  readonly name: string;
  /** Flags such as `--from=build`. */
  readonly flags: Readonly<Record<string, string>>;
  /** The rest, with continued lines joined. */
  readonly text: string;
  readonly line: number;
}

export interface Stage {
  readonly base: string;
  readonly name: string | undefined;
  readonly instructions: readonly Instruction[];
}

const instructions = new Set(
  'FROM ARG RUN COPY WORKDIR USER ENV LABEL EXPOSE STOPSIGNAL ENTRYPOINT CMD ADD VOLUME HEALTHCHECK SHELL'.split(' '),
);

/** Throws the problem, with its line. `args`: values of `--build-arg`; names of bases may contain them. */
export function readStages(text: string, args: Readonly<Record<string, string>> = {}): Stage[] {
  const stages: { base: string; name: string | undefined; instructions: Instruction[] }[] = [];
  const known = new Map(Object.entries(args));
  for (const instruction of instructionsOf(text)) {
    if (instruction.name === 'FROM') {
      const [, given, name] = /^(\S+)(?: AS (\S+))?$/.exec(instruction.text) ?? [];
      if (given === undefined) throw new Error(`line ${instruction.line}: FROM ${instruction.text}`);
      const base = given.replaceAll(/\$\{(\w+)\}/g, (_, arg: string) => {
        const value = known.get(arg);
        if (value === undefined) throw new Error(`line ${instruction.line}: there is no ${arg}`);
        return value;
      });
      stages.push({ base, name, instructions: [] });
    } else if (instruction.name === 'ARG' && stages.length === 0) {
      const [, name, value] = /^(\w+)(?:=(\S+))?$/.exec(instruction.text)!;
      if (value !== undefined && !known.has(name!)) known.set(name!, value);
    } else {
      const stage = stages.at(-1);
      if (!stage) throw new Error(`line ${instruction.line}: ${instruction.name} before FROM`);
      stage.instructions.push(instruction);
    }
  }
  return stages;
}

function* instructionsOf(text: string): Generator<Instruction> {
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at++) {
    const begun = at;
    if (/^\s*(#|$)/.test(lines[at]!)) continue;
    let whole = lines[at]!;
    while (whole.endsWith('\\')) whole = `${whole.slice(0, -1)}${lines[++at]!.trim()}`;
    const [, name = '', rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(whole) ?? [];
    if (!instructions.has(name)) throw new Error(`line ${begun + 1}: no instruction: ${whole}`);
    const flags: Record<string, string> = {};
    const remaining = rest.replace(/^(--[a-z]+=\S+\s+)+/, (found) => {
      for (const [, flag, value] of found.matchAll(/--([a-z]+)=(\S+)/g)) flags[flag!] = value!;
      return '';
    });
    yield { name, flags, text: remaining.trim(), line: begun + 1 };
  }
}

/** Parses `["a", "b"]`, which is run without a shell. */
export function execForm({ name, text, line }: Instruction): string[] {
  if (!text.startsWith('[')) throw new Error(`line ${line}: ${name} is run by a shell, which takes signals for itself`);
  return JSON.parse(text) as string[];
}
