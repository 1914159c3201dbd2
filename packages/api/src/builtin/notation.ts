/**
 * The table's notation, which `npm run generate` writes, and its reader. A type is one line:
 *
 *   `=string SCTP|TCP|UDP`        a named type and its allowed values
 *   `={}quantity`                 a named map
 *   `~[]string`                   a named list that is a separate message in protobuf (`repeated string items = 1`)
 *   `@kind @atomic;name 1 string !; 2 VolumeSource ^;ports 6 []ContainerPort ? L=map:containerPort,protocol P=merge:containerPort`
 *
 * A struct is its header, then its fields in Go's order, which is also the order of its JSON. A header has `@kind` when the struct has
 * apiVersion and kind, `@atomic` when it is replaced as a whole, `@union=<discriminator>:<field>=<value>,…`, and `@or-…` when its JSON has
 * several shapes. A field is `<JSON name> <protobuf number> <type> <marks> <extensions>`; number 0 is not in protobuf.
 *
 *   type        `*` pointer (absence differs from zero), `[]` list, `{}` map from strings, then a word or a type's name
 *   marks       `?` omitted when empty, `z` omitted when zero, `!` required, `^` its fields are inlined in JSON
 *   extensions  `L=` list type and map keys, `M=` map type, `P=` patch strategies and merge key, `D=` default as JSON
 */

export interface FieldNotation {
  readonly name: string;
  readonly number: number;
  readonly type: string;
  readonly marks: string;
  readonly listType: 'atomic' | 'set' | 'map' | undefined;
  readonly mapKeys: readonly string[];
  readonly mapType: 'atomic' | 'granular' | undefined;
  readonly patchStrategies: readonly string[];
  readonly mergeKey: string | undefined;
  readonly default: unknown;
}

export interface Union {
  /** Empty where the API has none. */
  readonly discriminator: string;
  /** Field → the discriminator's value that goes with it. */
  readonly fields: ReadonlyMap<string, string>;
}

export interface Header {
  readonly isKind: boolean;
  readonly isAtomic: boolean;
  readonly shape: Shape | undefined;
  readonly unions: readonly Union[];
}

export type Shape = 'or-array' | 'or-bool' | 'or-strings';

export function readHeader(text: string): Header {
  const words = text.split(' ');
  const shape = words.find((word) => word.startsWith('@or-'))?.slice(1) as Shape | undefined;
  const unions = words.filter((word) => word.startsWith('@union=')).map((word) => readUnion(word.slice(7)));
  return { isKind: words.includes('@kind'), isAtomic: words.includes('@atomic'), shape, unions };
}

function readUnion(text: string): Union {
  const [discriminator = '', fields = ''] = text.split(':');
  return { discriminator, fields: new Map(fields.split(',').map((pair) => pair.split('=') as [string, string])) };
}

export function readField(text: string): FieldNotation {
  const [name = '', number = '0', type = '', marks = '', ...extensions] = text.split(' ');
  let listType: string | undefined;
  let mapKeys: string[] = [];
  let mapType: string | undefined;
  let patchStrategies: string[] = [];
  let mergeKey: string | undefined;
  let standard: unknown;
  for (const extension of extensions) {
    const value = extension.slice(2);
    const [first = '', second] = value.split(':');
    if (extension.startsWith('L=')) [listType, mapKeys] = [first, second?.split(',') ?? []];
    else if (extension.startsWith('P=')) [patchStrategies, mergeKey] = [first.split(','), second];
    else if (extension.startsWith('M=')) mapType = value;
    else if (extension.startsWith('D=')) standard = JSON.parse(value);
  }
  return {
    name,
    number: Number(number),
    type,
    marks,
    listType: listType as FieldNotation['listType'],
    mapKeys,
    mapType: mapType as FieldNotation['mapType'],
    patchStrategies,
    mergeKey,
    default: standard,
  };
}
