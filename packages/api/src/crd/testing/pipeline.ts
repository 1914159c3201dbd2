/** Processes a custom resource like a server, as far as its definition determines it, and compares two results. */

import type { KubeObject } from '../../object.ts';
import { badRequest, invalidObject, StatusError } from '../../status/status.ts';
import type { Status } from '../../status/status.ts';
import type { CompiledVersion } from '../index.ts';
import { deepEqual, sorted } from '../structural/canonical.ts';

export interface Outcome {
  readonly code: number;
  readonly body: KubeObject;
  readonly warnings: readonly string[];
}

function answered(success: number, run: () => { object: KubeObject; warnings: readonly string[] }): Outcome {
  try {
    const { object, warnings } = run();
    return { code: success, body: object, warnings };
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return { code: error.status.code!, body: error.status as unknown as KubeObject, warnings: [] };
  }
}

function decode(version: CompiledVersion, object: KubeObject, fieldValidation: string): readonly string[] {
  const { error, problems } = version.decode(object);
  const what = `${version.kind} in version "${version.name}" cannot be handled as a ${version.kind}`;
  if (error !== undefined) throw badRequest(`${what}: ${error}`);
  if (fieldValidation === 'Strict' && problems.length > 0) {
    throw badRequest(`${what}: strict decoding error: ${problems.join(', ')}`);
  }
  version.strategy.applyDefaults(object);
  return fieldValidation === 'Warn' ? problems.map(header) : [];
}

export function runCreate(version: CompiledVersion, object: KubeObject, fieldValidation: string): Outcome {
  return answered(201, () => {
    const warnings = decode(version, object, fieldValidation);
    version.strategy.prepareForCreate(object);
    const errors = version.strategy.validateCreate(object);
    if (errors.length > 0) throw invalidObject(version, object.metadata.name!, errors);
    return { object, warnings: [...warnings, ...version.strategy.warningsOnCreate(object).map(header)] };
  });
}

const header = (text: string): string => `299 - ${JSON.stringify(text)}`;

export function runUpdate(version: CompiledVersion, object: KubeObject, old: KubeObject, subresource: string): Outcome {
  return answered(200, () => {
    decode(version, object, 'Strict');
    version.strategy.prepareForUpdate(object, old, subresource);
    const errors = version.strategy.validateUpdate(object, old, subresource);
    if (errors.length > 0) throw invalidObject(version, object.metadata.name!, errors);
    const warnings = version.strategy.warningsOnUpdate(object, old).map(header);
    return { object, warnings };
  });
}

/** Kubernetes walks maps in random order: the order of causes, and of texts in a message, is ignored. */
export function comparable({ code, body, warnings }: Outcome): object {
  if (code >= 400) {
    const { message = '', details } = body as unknown as Status;
    const causes = (details?.causes ?? []).map((cause) => JSON.stringify(sorted(cause))).sort();
    const texts = [...new Set(message.replace(/: \[(.*)\]$/s, ': $1').split(/, |: /))].sort();
    return { code, texts, causes, name: details?.name, kind: details?.kind, group: details?.group };
  }
  const { metadata, ...rest } = body;
  return { code, body: sorted(rest), generation: metadata.generation, warnings: [...warnings].sort() };
}

export function differenceOf(ours: object, theirs: object, input: unknown, note: string): string | undefined {
  if (deepEqual(JSON.parse(JSON.stringify(ours)), JSON.parse(JSON.stringify(theirs)))) return undefined;
  return `${note} ${JSON.stringify(input)}\n    ours   ${JSON.stringify(ours)}\n    theirs ${JSON.stringify(theirs)}`;
}
