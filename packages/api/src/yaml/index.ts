/** YAML alone: an entry of its own, for clients that need nothing of the table of kinds. */

export { dumpYaml, dumpYamlInPieces } from './dump.ts';
export { parseYaml, parseYamlDocuments } from './parse.ts';
export type { ParsedYaml, ParseYamlOptions } from './parse.ts';
