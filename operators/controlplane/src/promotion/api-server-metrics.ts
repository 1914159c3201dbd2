/**
 * Reads the size and the requests of a dedicated control plane from the metrics of its kube-apiserver, in the text format of Prometheus. The
 * text has megabytes: it is read in chunks, and only the lines of four families are parsed.
 */

/** Figures of one API server. An absent one is unknown. */
export interface ApiServerFigures {
  /** Only those counted so far, in the first minute of an API server. Absent: none is counted yet. */
  readonly objects?: number | undefined;
  /** Size of the database of etcd. */
  readonly storedBytes?: number | undefined;
  /** Since the start of the process. */
  readonly requests: number;
  /** Identifies the process. */
  readonly startedAt: number;
}

const families = {
  objects: 'apiserver_resource_objects{',
  /** Name of the same family before Kubernetes 1.34. */
  earlierObjects: 'apiserver_storage_objects{',
  storedBytes: 'apiserver_storage_size_bytes{',
  requests: 'apiserver_request_total{',
  startedAt: 'process_start_time_seconds ',
} as const;
type Family = keyof typeof families;
const known = Object.entries(families) as [Family, string][];
const lineLengthMax = 16_384;

/** Rejects if the text is not that of an API server. */
export async function readFigures(chunks: AsyncIterable<Uint8Array>): Promise<ApiServerFigures> {
  const sums = new Map<Family, number>();
  const failed = new Set<Family>();
  for await (const line of linesOf(chunks)) {
    const [family] = known.find(([, start]) => line.startsWith(start)) ?? [];
    if (family === undefined) continue;
    const value = Number(line.slice(line.lastIndexOf(' ') + 1));
    // A count that failed is -1.
    if (!Number.isFinite(value) || value < 0) failed.add(family);
    else sums.set(family, (sums.get(family) ?? 0) + value);
  }
  const figure = (family: Family): number | undefined => (failed.has(family) ? undefined : sums.get(family));
  const [requests, startedAt] = [figure('requests'), figure('startedAt')];
  if (requests === undefined || startedAt === undefined) {
    throw new Error('the metrics of the API server have no apiserver_request_total or no process_start_time_seconds');
  }
  // Every control plane has objects: 0 means that they are not counted yet.
  const objects = sums.has('objects') || failed.has('objects') ? figure('objects') : figure('earlierObjects');
  return { objects: objects || undefined, storedBytes: figure('storedBytes') || undefined, requests, startedAt };
}

async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, void> {
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + Buffer.from(chunk).toString('latin1')).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
    if (rest.length > lineLengthMax) throw new Error(`a line of the metrics is longer than ${lineLengthMax} bytes`);
  }
  if (rest !== '') yield rest;
}
