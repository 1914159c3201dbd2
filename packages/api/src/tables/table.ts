/**
 * The Table and PartialObjectMetadata of meta.k8s.io. By default a table's rows contain only the metadata of their objects: kubectl needs
 * names, namespaces and labels.
 */

import type { LazyList } from '../lazy-list.ts';
import type { KubeObject } from '../object.ts';
import type {
  ListMeta,
  MetaApiVersion,
  PartialObjectMetadata,
  PartialObjectMetadataList,
  Table,
  TablePrinter,
  TableRow,
} from './contract.ts';

export type IncludeObject = 'None' | 'Metadata' | 'Object';

export interface TableOptions {
  /** Default: Metadata. */
  readonly includeObject?: IncludeObject;
  /** False in the later events of a watch. Default: true. */
  readonly withColumns?: boolean;
  /** Milliseconds since 1970. Default: the clock. */
  readonly now?: number;
  readonly apiVersion?: MetaApiVersion;
}

/** An object with its sent or stored bytes, so that answers with whole objects need not encode them again. */
export interface EncodedObject {
  readonly object: KubeObject;
  readonly json: Uint8Array;
}

export const partialObjectMetadata = (
  { metadata }: KubeObject,
  apiVersion: MetaApiVersion = 'meta.k8s.io/v1',
): PartialObjectMetadata => ({ kind: 'PartialObjectMetadata', apiVersion, metadata });

export const partialObjectMetadataList = (
  objects: readonly KubeObject[],
  { listMeta = {}, apiVersion = 'meta.k8s.io/v1' }: { listMeta?: ListMeta; apiVersion?: MetaApiVersion } = {},
): PartialObjectMetadataList => ({
  kind: 'PartialObjectMetadataList',
  apiVersion,
  metadata: listMeta,
  items: objects.map((object) => partialObjectMetadata(object, apiVersion)),
});

/** Returns the table of a list. The rows have the order of the list, unless the kind defines its own. */
export function tableOf(
  printer: TablePrinter,
  objects: readonly KubeObject[],
  options: TableOptions & { readonly listMeta?: ListMeta } = {},
): Table {
  const { listMeta = {}, now = Date.now() } = options;
  const inOrder = printer.compare ? objects.toSorted(printer.compare) : objects;
  return tableWith(printer, listMeta, { ...options, now }, inOrder);
}

/** Returns the table of a list whose objects are decoded while it is written; in the order of the list. */
export function lazyTableOf(
  printer: TablePrinter,
  objects: LazyList<KubeObject>,
  options: TableOptions & { readonly listMeta?: ListMeta } = {},
): Omit<Table, 'rows'> & { readonly rows: LazyList<TableRow> | null } {
  const { listMeta = {}, now = Date.now() } = options;
  const { rows: noRows, ...head } = tableWith(printer, listMeta, { ...options, now }, []);
  const rows = objects.map((object) => rowOf(printer, object, { ...options, now }));
  return { ...head, rows: objects.length === 0 && noRows === null ? null : rows };
}

/** Returns the table of one object, for a get or an event of a watch. */
export function tableOfOne(printer: TablePrinter, object: KubeObject, options: TableOptions = {}): Table {
  return tableWith(printer, metaOfOne(object), { now: Date.now(), ...options }, [object]);
}

const metaOfOne = ({ metadata: { resourceVersion } }: KubeObject): ListMeta =>
  resourceVersion === undefined ? {} : { resourceVersion };

function tableWith(
  printer: TablePrinter,
  metadata: ListMeta,
  options: TableOptions & { readonly now: number },
  objects: readonly KubeObject[],
): Table {
  const { apiVersion = 'meta.k8s.io/v1', withColumns = true } = options;
  const rows = objects.map((object) => rowOf(printer, object, options));
  return {
    kind: 'Table',
    apiVersion,
    metadata,
    columnDefinitions: withColumns || printer.repeatsColumns ? printer.columns : null,
    rows: rows.length === 0 && printer.writesNoRowsAsNull ? null : rows,
  };
}

function rowOf(
  printer: TablePrinter,
  object: KubeObject,
  { includeObject = 'Metadata', apiVersion, now }: TableOptions & { readonly now: number },
): TableRow {
  const conditions = printer.conditions?.(object);
  return {
    cells: printer.cells(object, now),
    ...(conditions && { conditions }),
    object:
      includeObject === 'Object'
        ? object
        : includeObject === 'Metadata' || endsInitialEvents(object)
          ? partialObjectMetadata(object, apiVersion)
          : null,
  };
}

/** Clients find the end of a watch's initial events in an annotation: that bookmark always includes metadata. */
const endsInitialEvents = ({ metadata }: KubeObject): boolean =>
  metadata.annotations?.['k8s.io/initial-events-end'] === 'true';

/** `tableOf` as JSON, around objects that are JSON already. */
export function encodeTable(
  printer: TablePrinter,
  items: readonly EncodedObject[],
  options: TableOptions & { readonly listMeta?: ListMeta } = {},
): Buffer {
  const table = tableOf(
    printer,
    items.map(({ object }) => object),
    options,
  );
  if (options.includeObject !== 'Object' || !table.rows) return Buffer.from(JSON.stringify(table));
  const jsonOf = new Map(items.map(({ object, json }) => [object, json]));
  const { rows, ...head } = table;
  const chunks: Uint8Array[] = [Buffer.from(`${JSON.stringify(head).slice(0, -1)},"rows":[`)];
  rows.forEach(({ object, ...row }, i) => {
    chunks.push(Buffer.from(`${i === 0 ? '' : ','}${JSON.stringify(row).slice(0, -1)},"object":`));
    chunks.push(jsonOf.get(object as KubeObject)!, closing);
  });
  chunks.push(end);
  return Buffer.concat(chunks);
}

const closing = Buffer.from('}');
const end = Buffer.from(']}');
