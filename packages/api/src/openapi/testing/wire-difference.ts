/**
 * For tests: finds where two protobuf messages differ, without their schema. A differing field that is not a message on both sides is text;
 * texts are compared as YAML, in which the same value has many forms.
 */

import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { parseYaml } from '../../yaml/parse.ts';

interface WireField {
  readonly tag: number;
  /** Content of a length-delimited field; else the bytes of the value. */
  readonly bytes: Buffer;
}

/** Returns the path of the first difference, as field numbers and texts; undefined if there is none. */
export function wireDifference(left: Buffer, right: Buffer, path = ''): string | undefined {
  if (left.equals(right)) return undefined;
  const [ours, theirs] = [fieldsOf(left), fieldsOf(right)];
  const isMessage =
    ours && theirs && ours.length === theirs.length && ours.every((one, i) => one.tag === theirs[i]!.tag);
  if (isMessage && ours.length > 0) {
    for (const [index, { tag, bytes }] of ours.entries()) {
      const difference = wireDifference(bytes, theirs[index]!.bytes, `${path}.${tag >>> 3}[${index}]`);
      if (difference !== undefined) return difference;
    }
    return undefined;
  }
  if (isSameYaml(left.toString(), right.toString())) return undefined;
  return `${path}: ${left.toString().slice(0, 200)} ≠ ${right.toString().slice(0, 200)}`;
}

function isSameYaml(left: string, right: string): boolean {
  try {
    return isDeepStrictEqual(parseYaml(`value: ${left}`).value, parseYaml(`value:\n${indented(right)}`).value);
  } catch {
    return false;
  }
}

const indented = (text: string): string => text.replace(/^/gm, '  ');

/** Returns undefined if the bytes are not a message. */
function fieldsOf(bytes: Buffer): WireField[] | undefined {
  const fields: WireField[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = bytes[at++];
      assert.ok(byte !== undefined);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    throw new Error('a varint that does not end');
  };
  try {
    while (at < bytes.length) {
      const tag = varint();
      const start = at;
      if ((tag & 7) === 0) varint();
      else if ((tag & 7) === 1) at += 8;
      else {
        assert.equal(tag & 7, 2);
        const length = varint();
        const from = at;
        at += length;
        assert.ok(at <= bytes.length);
        fields.push({ tag, bytes: bytes.subarray(from, at) });
        continue;
      }
      fields.push({ tag, bytes: bytes.subarray(start, at) });
    }
    return fields;
  } catch {
    return undefined;
  }
}
