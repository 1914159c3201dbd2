/** YAML: a separate entry point, for clients that do not need the table of kinds. */

export { dumpYaml, dumpYamlInPieces } from './dump.ts';
export { parseYaml, parseYamlDocuments } from './parse.ts';
export type { ParsedYaml, ParseYamlOptions } from './parse.ts';
