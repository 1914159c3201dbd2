/** Answers in the form of tables and of metadata only, which `kubectl get` requests. */

export { builtinTable, scaleTable } from './builtin.ts';
export { customTable } from './custom.ts';
export type { CustomColumn } from './custom.ts';
export type {
  ColumnDefinition,
  ListMeta,
  MetaApiVersion,
  PartialObjectMetadata,
  PartialObjectMetadataList,
  RowCondition,
  Table,
  TablePrinter,
  TableRow,
} from './contract.ts';
export { JsonPathError, parseJsonPath } from './json-path.ts';
export type { JsonPath, JsonPathErrorCode } from './json-path.ts';
export {
  encodeTable,
  lazyTableOf,
  partialObjectMetadata,
  partialObjectMetadataList,
  tableOf,
  tableOfOne,
} from './table.ts';
export type { EncodedObject, IncludeObject, TableOptions } from './table.ts';
