/** Reads metrics in the Prometheus text format. */

export interface Sample {
  /** Name with the suffix of a histogram: `x_bucket`. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly name: string;
  readonly type: string;
  readonly samples: Sample[];
}

export function readFamilies(text: string): ReadonlyMap<string, Family> {
  const families = new Map<string, Family>();
  for (const line of text.split('\n')) {
    const [, name, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (name !== undefined) families.set(name, { name, type: type!, samples: [] });
    if (line === '' || line.startsWith('#')) continue;
    const sample = readSample(line);
    const family = families.get(sample.name) ?? families.get(sample.name.replace(/_(?:bucket|sum|count)$/, ''));
    if (!family) throw new Error(`the sample ${line} has no family`);
    family.samples.push(sample);
  }
  return families;
}

function readSample(line: string): Sample {
  const [, name, inner = '', value] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  if (name === undefined) throw new Error(`no sample: ${line}`);
  const pairs = [...inner.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, text]) => [label!, text!] as const);
  return { name, labels: Object.fromEntries(pairs), value: Number(value!.replace('Inf', 'Infinity')) };
}

export interface Shape {
  readonly type: string;
  readonly labels: readonly string[];
  /** Texts of the bounds of a histogram. */
  readonly bounds: readonly string[];
}

/** Returns type, label names and bounds; undefined: the family has no series. */
export function shapeOf(family: Family | undefined): Shape | undefined {
  if (!family || family.samples.length === 0) return undefined;
  const labels = new Set(family.samples.flatMap((one) => Object.keys(one.labels)));
  const bounds = new Set(family.samples.flatMap(({ labels: { le } }) => (le === undefined ? [] : [le])));
  labels.delete('le');
  return { type: family.type, labels: [...labels].sort(), bounds: [...bounds] };
}
