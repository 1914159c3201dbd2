/**
 * Counters, gauges and histograms in the text format of Prometheus. Labels are joined once for each series, and the number of series is
 * bounded: further ones are counted together, so that no client can fill the memory with names.
 */

const defaultSeriesMax = 5_000;
const overflow = '{overflow="true"}';

export type Labels = Readonly<Record<string, string>>;

abstract class Family<Series> {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly #seriesMax: number;
  readonly #series = new Map<string, Series>();

  constructor(name: string, help: string, type: 'counter' | 'gauge' | 'histogram', seriesMax = defaultSeriesMax) {
    this.name = name;
    this.help = help;
    this.type = type;
    this.#seriesMax = seriesMax;
  }

  protected abstract make(): Series;
  protected abstract lines(labels: string, series: Series): string[];

  /** Returns the series with these labels, for callers that record often. Beyond the bound: the common series. */
  with(labels: string): Series {
    let found = this.#series.get(labels);
    if (found !== undefined) return found;
    const name = this.#series.size < this.#seriesMax ? labels : overflow;
    found = this.#series.get(name);
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

export interface CounterSeries {
  value: number;
}

export class Counter extends Family<CounterSeries> {
  constructor(name: string, help: string, type: 'counter' | 'gauge' = 'counter', seriesMax?: number) {
    super(name, help, type, seriesMax);
  }

  add(labels: string, value = 1): void {
    this.with(labels).value += value;
  }

  protected make(): CounterSeries {
    return { value: 0 };
  }

  protected lines(labels: string, { value }: CounterSeries): string[] {
    return [`${this.name}${labels} ${value}`];
  }
}

export class Gauge extends Counter {
  constructor(name: string, help: string, seriesMax?: number) {
    super(name, help, 'gauge', seriesMax);
  }

  set(labels: string, value: number): void {
    this.with(labels).value = value;
  }
}

/** One series of a histogram. A value is counted in one bucket only: `text` adds the buckets up. */
export class HistogramSeries {
  readonly #bounds: readonly number[];
  /** The last bucket has no bound. */
  readonly #counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  /** Most values are in the first buckets, so the search starts there. */
  observe(value: number): void {
    const bounds = this.#bounds;
    let at = 0;
    while (at < bounds.length && value > bounds[at]!) at++;
    this.#counts[at]!++;
    this.sum += value;
  }

  /** Returns the number of values up to each bound, then of all values. */
  cumulative(): number[] {
    let count = 0;
    return this.#counts.map((one) => (count += one));
  }
}

export class Histogram extends Family<HistogramSeries> {
  readonly #bounds: readonly number[];

  constructor(name: string, help: string, bounds: readonly number[], seriesMax?: number) {
    super(name, help, 'histogram', seriesMax);
    this.#bounds = bounds;
  }

  observe(labels: string, value: number): void {
    this.with(labels).observe(value);
  }

  protected make(): HistogramSeries {
    return new HistogramSeries(this.#bounds);
  }

  protected lines(labels: string, series: HistogramSeries): string[] {
    const inner = labels === '' ? '' : `${labels.slice(1, -1)},`;
    const counts = series.cumulative();
    const count = counts.at(-1)!;
    return [
      ...this.#bounds.map((bound, i) => `${this.name}_bucket{${inner}le="${boundText(bound)}"} ${counts[i]}`),
      `${this.name}_bucket{${inner}le="+Inf"} ${count}`,
      `${this.name}_sum${labels} ${series.sum}`,
      `${this.name}_count${labels} ${count}`,
    ];
  }
}

/** Formats a bound as Go's client library does, because queries name bounds by their text: 604800, 2.592e+06, 5e-06. */
export function boundText(bound: number): string {
  if (bound === 0 || (Math.abs(bound) >= 1e-4 && Math.abs(bound) < 1e6)) return String(bound);
  const [digits, exponent] = bound.toExponential().split('e') as [string, string];
  return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, '0')}`;
}

/** `{a="1",b="2"}`; values are escaped. */
export function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

const escaped = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
