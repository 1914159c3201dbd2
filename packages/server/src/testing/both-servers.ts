/**
 * Sends the same requests to a real kube-apiserver and to Hangar in this process. Responses are compared without values that always differ:
 * uids, times, versions. `{{name}}` in a later request is replaced by a value of an earlier response.
 */

import type { RealServer } from '@hangar/api/testing';
import type { InProcessServer } from './in-process.ts';

export interface Step {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  /** Absent: the token of the administrator. */
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** Compare only the status code, for random responses. */
  readonly codeOnly?: boolean;
  /** Fields of the body with random values: dotted paths. */
  readonly ignore?: readonly string[];
  /** Saves a part of each server's response for later steps: name → dotted path. */
  readonly keep?: Readonly<Record<string, string>>;
}

export interface Outcome {
  readonly status: number;
  readonly body: unknown;
  readonly warnings: readonly string[];
}

export interface Difference {
  readonly step: string;
  /** `path: real … hangar …`, for each differing value. */
  readonly values: readonly string[];
}

type Ask = (step: Step, body: string | undefined, path: string) => Promise<Outcome>;

export async function compareServers(real: RealServer, hangar: InProcessServer, steps: readonly Step[]) {
  const differences: Difference[] = [];
  const sides = [
    { ask: asker(real), kept: new Map<string, string>() },
    { ask: asker(hangar), kept: new Map<string, string>() },
  ];
  for (const step of steps) {
    const [theirs, ours] = await Promise.all(
      sides.map(async ({ ask, kept }) => {
        const fill = (text: string): string => text.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => kept.get(name)!);
        const body = step.body === undefined ? undefined : textOf(step.body);
        const outcome = await ask(
          step.token ? { ...step, token: fill(step.token) } : step,
          body && fill(body),
          fill(step.path),
        );
        for (const [name, path] of Object.entries(step.keep ?? {})) kept.set(name, String(at(outcome.body, path)));
        return step.codeOnly
          ? { status: outcome.status, body: undefined, warnings: [] }
          : normalised(outcome, step, kept);
      }),
    );
    const values = differencesOf(theirs, ours, '');
    if (values.length > 0) differences.push({ step: `${step.method} ${step.path} ${textOf(step.body ?? '')}`, values });
  }
  return differences;
}

function differencesOf(real: unknown, hangar: unknown, path: string): string[] {
  if (JSON.stringify(real) === JSON.stringify(hangar)) return [];
  if (!isStructured(real) || !isStructured(hangar) || Array.isArray(real) !== Array.isArray(hangar)) {
    return [`${path}: real ${JSON.stringify(real)} hangar ${JSON.stringify(hangar)}`];
  }
  const names = new Set([...Object.keys(real), ...Object.keys(hangar)]);
  return [...names].flatMap((name) => differencesOf(real[name], hangar[name], `${path}.${name}`));
}

const isStructured = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const textOf = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body));

function asker(server: Pick<RealServer, 'request'> | Pick<InProcessServer, 'request'>): Ask {
  return async ({ method, contentType, accept, token, headers }, body, path) => {
    const answer = await server.request(method, path, {
      ...(body === undefined ? {} : { body }),
      ...(contentType === undefined ? {} : { contentType }),
      ...(accept === undefined ? {} : { accept }),
      ...(token === undefined ? {} : { token }),
      ...(headers === undefined ? {} : { headers }),
    });
    const warning = answer.headers['warning'] ?? [];
    const warnings = (Array.isArray(warning) ? (warning as string[]) : [warning as string]).flatMap((one) =>
      one.split(/, (?=299 )/),
    );
    return { status: answer.status, body: parsed(answer.body.toString()), warnings };
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text.trim();
  }
}

function at(value: unknown, path: string): unknown {
  let found = value;
  for (const name of path.split('.')) found = (found as Record<string, unknown> | undefined)?.[name];
  return found;
}

const ignored = new Set(['uid', 'resourceVersion', 'creationTimestamp', 'time', 'lastTransitionTime']);

function normalised({ status, body, warnings }: Outcome, { ignore = [] }: Step, kept: ReadonlyMap<string, string>) {
  const clean = (value: unknown, path: string): unknown => {
    if (typeof value === 'string' && !ignore.includes(path)) {
      let text = value;
      for (const [name, known] of kept) if (known.length > 3) text = text.replaceAll(known, `<${name}>`);
      return text
        .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>')
        .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '<time>');
    }
    if (ignore.includes(path)) return null;
    if (Array.isArray(value)) return value.map((one, i) => clean(one, `${path}.${i}`));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .map(([name, one]) => [name, path === '' ? name : `${path}.${name}`, one] as const)
        .filter(([name, full]) => !ignored.has(name) && !ignore.includes(full))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, full, one]) => [name, clean(one, full)]),
    );
  };
  return { status, body: clean(body, ''), warnings };
}
