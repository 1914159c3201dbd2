/** Sends an object to the real server as a dry run, processes it here too, and reports the differences. */

import { schemaOf } from '../../../builtin/schemas.ts';
import { applyDefaults } from '../../../defaults/index.ts';
import { checkFields } from '../../../fields/check.ts';
import { normalise } from '../../../fields/normalise.ts';
import type { JsonObject, KubeObject } from '../../../object.ts';
import { StatusError, invalidObject } from '../../../status/status.ts';
import type { Status } from '../../../status/status.ts';
import type { FieldError } from '../../../status/field-error.ts';
import type { RealServer } from '../../../testing/real-server.ts';

export type Verdict = 'equal' | 'reordered' | 'different' | 'not ours';

export interface Comparison {
  readonly verdict: Verdict;
  readonly theirs: string;
  readonly ours: string;
}

/** The object as the server decodes it, with defaults; undefined if it is invalid. */
export function decoded(object: JsonObject): KubeObject | undefined {
  const schema = schemaOf(object['apiVersion'] as string, object['kind'] as string)!;
  if (checkFields(schema, object).error !== undefined) return undefined;
  const whole = normalise(schema, object) as KubeObject;
  applyDefaults(whole);
  return whole;
}

export async function answerOf(server: RealServer, method: string, path: string, object?: JsonObject): Promise<Status> {
  const options = object ? { body: JSON.stringify(object) } : {};
  const { body, headers, status } = await server.request(method, path, options);
  const answer = JSON.parse(body.toString()) as Status;
  if (answer.kind === 'Status') return answer;
  return { ...answer, code: status, warnings: warningsIn(headers['warning']) } as Status;
}

/** Texts of `Warning` headers, except those about deprecated versions. */
function warningsIn(headers: string | string[] | undefined): string[] {
  const text = [headers ?? []].flat().join(', ');
  return [...text.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)]
    .map(([, quoted = '']) => quoted.replaceAll(/\\(.)/g, '$1'))
    .filter((one) => !/ is deprecated in v1\.\d+\+/.test(one));
}

/** Result of our validation. */
export interface Outcome {
  readonly errors: readonly FieldError[];
  readonly warnings: readonly string[];
}

export function compare(answer: Status, object: KubeObject, { errors, warnings }: Outcome): Comparison {
  const ours = errors.length === 0 ? ({ code: 200, warnings } as unknown as Status) : statusOf(object, errors);
  const [their, our] = [essence(answer), essence(ours)];
  const shown = { theirs: their, ours: our };
  if (their === our) return { verdict: 'equal', ...shown };
  if (answer.code !== undefined && answer.code !== 422 && answer.code >= 300) return { verdict: 'not ours', ...shown };
  // Go walks maps in random order.
  const sorted = (text: string): string => text.split(/\n/).slice(1).sort().join('\n');
  return { verdict: answer.code === ours.code && sorted(their) === sorted(our) ? 'reordered' : 'different', ...shown };
}

function statusOf(object: KubeObject, errors: readonly FieldError[]): Status {
  const at = object.apiVersion.indexOf('/');
  const group = at < 0 ? '' : object.apiVersion.slice(0, at);
  const error = invalidObject({ group, kind: object.kind }, object.metadata.name ?? '', errors);
  return error instanceof StatusError ? error.status : ({ code: 500 } as Status);
}

/** Empty lists and maps are shown as absent: our decoder does not distinguish them. The wording of CEL's syntax errors is not compared. */
const essence = ({ code = 200, message = '', details, ...rest }: Status): string =>
  code < 300
    ? ['accepted', ...((rest as { warnings?: string[] }).warnings ?? [])].join('\n')
    : [`${code} ${message}`, ...(details?.causes ?? []).map((one) => JSON.stringify(one))]
        .join('\n')
        .replaceAll(/\[\]|\{\}/g, 'null')
        .replaceAll(/Syntax error: (?:(?!\n|\\n).)*/g, 'Syntax error');
