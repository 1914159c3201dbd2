/** The tables of built-in kinds: columns from the generated table, cells from the kind's printer. */

import type { BuiltinResource, Column } from '../builtin/schemas.ts';
import type { KubeObject } from '../object.ts';
import type { ColumnDefinition, TablePrinter } from './contract.ts';
import { accessPrinters } from './printers/access.ts';
import { autoscalingPrinters } from './printers/autoscaling.ts';
import { clusterPrinters } from './printers/cluster.ts';
import { corePrinters } from './printers/core.ts';
import { eventPrinters } from './printers/events.ts';
import { networkPrinters } from './printers/network.ts';
import { podPrinters } from './printers/pods.ts';
import type { BuiltinPrinter } from './printers/printer.ts';
import { storagePrinters } from './printers/storage.ts';
import { workloadPrinters } from './printers/workloads.ts';

const printers: ReadonlyMap<string, BuiltinPrinter> = new Map(
  [
    podPrinters,
    workloadPrinters,
    corePrinters,
    eventPrinters,
    networkPrinters,
    storagePrinters,
    accessPrinters,
    autoscalingPrinters,
    clusterPrinters,
  ].flatMap((group) => Object.entries(group)),
);

const describe = ({ name, type, format, priority }: Column): ColumnDefinition => ({
  name,
  type,
  format,
  description: '',
  priority,
});

const plainColumns: readonly Column[] = [
  { name: 'Name', type: 'string', format: 'name', priority: 0 },
  { name: 'Created At', type: 'date', format: '', priority: 0 },
];

const plainPrinter: BuiltinPrinter = {
  cells: ({ metadata }: KubeObject) => [metadata.name ?? '', metadata.creationTimestamp ?? '0001-01-01T00:00:00Z'],
  writesNoRowsAsNull: true,
};

const tables = new WeakMap<BuiltinResource, TablePrinter>();

/** The same for every request of a resource. A kind without a printer shows its name and its time of creation. */
export function builtinTable(resource: BuiltinResource): TablePrinter {
  let table = tables.get(resource);
  if (!table) {
    const printer = printers.get(`${resource.group}/${resource.kind}`);
    const columns = printer ? resource.columns : plainColumns;
    table = { columns: columns.map(describe), ...(printer ?? plainPrinter) };
    tables.set(resource, table);
  }
  return table;
}

/** For the scale subresource of any resource. */
export const scaleTable: TablePrinter = {
  columns: [
    { name: 'Name', type: 'string', format: '', priority: 0 },
    { name: 'Desired', type: 'integer', format: '', priority: 0 },
    { name: 'Available', type: 'integer', format: '', priority: 0 },
    { name: 'Age', type: 'string', format: '', priority: 0 },
  ].map(describe),
  ...printers.get('autoscaling/Scale')!,
};
