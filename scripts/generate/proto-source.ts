/** Reads the messages of a generated.proto: for each message its fields by number. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface ProtoField {
  readonly number: number;
  /** `optional` or `repeated`; a map is neither. */
  readonly label: 'optional' | 'repeated' | 'map';
  /** `string`, `int32`, `.k8s.io.….ObjectMeta`, `Container`; of a map the type of its values. */
  readonly type: string;
}

export type ProtoMessages = ReadonlyMap<string, ReadonlyMap<number, ProtoField>>;

export async function readProto(folder: string): Promise<ProtoMessages> {
  const text = (await readFile(join(folder, 'generated.proto'), 'utf8')).replace(/^\s*\/\/.*$/gm, '');
  const messages = new Map<string, Map<number, ProtoField>>();
  for (const [, name, body] of text.matchAll(/^message (\w+) \{\n([\s\S]*?)^\}/gm)) {
    const fields = new Map<number, ProtoField>();
    for (const [, label, mapValue, type, number] of body!.matchAll(
      /^\s*(?:(optional|repeated) |map<string, ([\w.]+)> )(?:([\w.]+) )?\w+ = (\d+);/gm,
    )) {
      const field: ProtoField = mapValue
        ? { number: Number(number), label: 'map', type: mapValue }
        : { number: Number(number), label: label as 'optional' | 'repeated', type: type! };
      fields.set(field.number, field);
    }
    messages.set(name!, fields);
  }
  return messages;
}
