/**
 * Counters, gauges and histograms in the text format of Prometheus. Labels are joined once for each series, and the number of series is
 * bounded: further ones are counted together, so that no client can fill the memory with names.
 */

const seriesMax = 5_000;
const overflow = '{overflow="true"}';

export type Labels = Readonly<Record<string, string>>;

abstract class Family<Series> {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly #series = new Map<string, Series>();

  constructor(name: string, help: string, type: 'counter' | 'gauge' | 'histogram') {
    this.name = name;
    this.help = help;
    this.type = type;
  }

  protected abstract make(): Series;
  protected abstract lines(labels: string, series: Series): string[];

  protected series(labels: string): Series {
    const name = this.#series.has(labels) || this.#series.size < seriesMax ? labels : overflow;
    let found = this.#series.get(name);
    if (found === undefined) this.#series.set(name, (found = this.make()));
    return found;
  }

  get size(): number {
    return this.#series.size;
  }

  text(): string {
    const body = [...this.#series].flatMap(([labels, series]) => this.lines(labels, series));
    return [`# HELP ${this.name} ${this.help}`, `# TYPE ${this.name} ${this.type}`, ...body].join('\n');
  }
}

export class Counter extends Family<{ value: number }> {
  constructor(name: string, help: string, type: 'counter' | 'gauge' = 'counter') {
    super(name, help, type);
  }

  add(labels: string, value = 1): void {
    this.series(labels).value += value;
  }

  protected make(): { value: number } {
    return { value: 0 };
  }

  protected lines(labels: string, { value }: { value: number }): string[] {
    return [`${this.name}${labels} ${value}`];
  }
}

export class Gauge extends Counter {
  constructor(name: string, help: string) {
    super(name, help, 'gauge');
  }

  set(labels: string, value: number): void {
    this.series(labels).value = value;
  }
}

interface Buckets {
  readonly counts: number[];
  sum: number;
  count: number;
}

export class Histogram extends Family<Buckets> {
  readonly #bounds: readonly number[];

  constructor(name: string, help: string, bounds: readonly number[]) {
    super(name, help, 'histogram');
    this.#bounds = bounds;
  }

  observe(labels: string, value: number): void {
    const series = this.series(labels);
    series.sum += value;
    series.count++;
    for (let i = this.#bounds.length - 1; i >= 0 && value <= this.#bounds[i]!; i--) series.counts[i]!++;
  }

  protected make(): Buckets {
    return { counts: this.#bounds.map(() => 0), sum: 0, count: 0 };
  }

  protected lines(labels: string, { counts, sum, count }: Buckets): string[] {
    const inner = labels === '' ? '' : `${labels.slice(1, -1)},`;
    return [
      ...this.#bounds.map((bound, i) => `${this.name}_bucket{${inner}le="${bound}"} ${counts[i]}`),
      `${this.name}_bucket{${inner}le="+Inf"} ${count}`,
      `${this.name}_sum${labels} ${sum}`,
      `${this.name}_count${labels} ${count}`,
    ];
  }
}

/** `{a="1",b="2"}`; values are escaped. */
export function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

const escaped = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
