/**
 * Case files: shell scripts whose sections are cases and whose commands are compared one by one.
 *
 *     ## a ConfigMap is created once           a case: its name
 *     # Why it is interesting.                 a comment
 *     kubectl create configmap a               a step, which succeeds on the real server
 *     ! kubectl create configmap a             a step, which fails there
 *     kubectl apply -f - <<'EOF'               a step with its input; a line may also end in a backslash
 *     …
 *     EOF
 *
 * Each step has a separate shell, in the case's folder: files stay, variables do not.
 */

export interface Step {
  readonly command: string;
  readonly fails: boolean;
}

export interface Case {
  readonly name: string;
  readonly steps: readonly Step[];
}

export function parseCases(text: string): Case[] {
  const cases: { name: string; steps: Step[] }[] = [];
  const lines = text.split('\n');
  for (let at = 0; at < lines.length;) {
    const line = lines[at]!;
    if (line.startsWith('## ')) cases.push({ name: line.slice(3).trim(), steps: [] });
    if (line.startsWith('#') || line.trim() === '') {
      at++;
      continue;
    }
    const end = endOfStep(lines, at);
    const step = lines.slice(at, end).join('\n');
    const current = cases.at(-1);
    if (!current) throw new Error(`a step before the first case: ${line}`);
    const fails = step.startsWith('! ');
    current.steps.push({ command: fails ? step.slice(2) : step, fails });
    at = end;
  }
  const twice = cases.find(({ name }, index) => cases.findIndex((other) => other.name === name) !== index);
  if (twice) throw new Error(`two cases are named "${twice.name}"`);
  const empty = cases.find(({ steps }) => steps.length === 0);
  if (empty) throw new Error(`case "${empty.name}" has no steps`);
  return cases;
}

function endOfStep(lines: readonly string[], start: number): number {
  let at = start;
  while (lines[at]?.endsWith('\\')) at++;
  const delimiter = /<<'?(\w+)'?/.exec(lines.slice(start, at + 1).join('\n'))?.[1];
  if (delimiter === undefined) return at + 1;
  const end = lines.indexOf(delimiter, at + 1);
  if (end < 0) throw new Error(`no ${delimiter} ends the input of: ${lines[start]}`);
  return end + 1;
}
