/** The ports of a Service. */

import type { JsonObject } from '../../object.ts';
import { child, duplicate, forbidden, index, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { portNameReasons, portNumberReasons } from '../formats.ts';
import { dnsLabelErrors, invalidFor, qualifiedNameErrors, requiredOneOfErrors } from '../shared/checks.ts';
import { numberOf, optionalText, textOf } from '../shared/read.ts';
import { protocols } from './endpoints.ts';

const path = 'spec.ports';

export function portErrors(ports: readonly JsonObject[]): FieldError[] {
  const names = new Set<string>();
  return ports.flatMap((port, at) => onePortErrors(index(path, at), port, ports.length > 1, names));
}

function onePortErrors(at: string, port: JsonObject, needsName: boolean, names: Set<string>): FieldError[] {
  const name = textOf(port, 'name');
  const number = numberOf(port, 'port');
  const errors: FieldError[] = [];
  if (name !== '') {
    errors.push(...dnsLabelErrors(child(at, 'name'), name));
    if (names.has(name)) errors.push(duplicate(child(at, 'name'), name));
    names.add(name);
  } else if (needsName) {
    errors.push(required(child(at, 'name'), ''));
  }
  errors.push(
    ...invalidFor(child(at, 'port'), number, portNumberReasons(number)),
    ...requiredOneOfErrors(child(at, 'protocol'), textOf(port, 'protocol'), protocols),
    ...portReferenceErrors(child(at, 'targetPort'), port['targetPort'] ?? 0),
  );
  const application = optionalText(port, 'appProtocol');
  if (application !== undefined) errors.push(...qualifiedNameErrors(child(at, 'appProtocol'), application));
  return errors;
}

/** A port by number or by name. */
export const portReferenceErrors = (at: string, port: unknown): FieldError[] =>
  invalidFor(at, port, typeof port === 'number' ? portNumberReasons(port) : portNameReasons(String(port)));

export function nodePortErrors(ports: readonly JsonObject[], type: string): FieldError[] {
  const open = [...ports.entries()].filter(([, port]) => numberOf(port, 'nodePort') !== 0);
  const pathOf = (at: number): string => child(index(path, at), 'nodePort');
  const errors =
    type === 'ClusterIP' ? open.map(([at]) => forbidden(pathOf(at), "may not be used when `type` is 'ClusterIP'")) : [];
  const seen = new Set<string>();
  for (const [at, port] of open) {
    const number = numberOf(port, 'nodePort');
    const pair = `${textOf(port, 'protocol')} ${number}`;
    if (seen.has(pair)) errors.push(duplicate(pathOf(at), number));
    seen.add(pair);
  }
  return errors;
}

/** A protocol and port together must be unique. */
export function portDuplicateErrors(ports: readonly JsonObject[]): FieldError[] {
  const seen = new Set<string>();
  return ports.flatMap((port, at) => {
    const [protocol, number] = [textOf(port, 'protocol'), numberOf(port, 'port')];
    const pair = `${protocol} ${number}`;
    const isRepeated = seen.has(pair);
    seen.add(pair);
    if (!isRepeated) return [];
    const shown = { Name: '', Protocol: protocol, AppProtocol: null, Port: number, TargetPort: 0, NodePort: 0 };
    return [duplicate(index(path, at), shown)];
  });
}
