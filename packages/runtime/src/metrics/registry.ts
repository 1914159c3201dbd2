/** A registry of metrics in the text format of Prometheus. Registering the same family twice returns the first one. */

/** A metric with all its series. */
export interface MetricFamily {
  readonly name: string;
  /** Returns the family in the text format of Prometheus, without a trailing newline. */
  text(): string;
}

/** The metrics of a process. */
export class MetricsRegistry {
  readonly #families = new Map<string, MetricFamily>();
  readonly #beforeText: (() => void)[] = [];

  /** Registers a family, or returns the registered family of the same name. */
  register<F extends MetricFamily>(family: F): F {
    const known = this.#families.get(family.name);
    if (known) return known as F;
    this.#families.set(family.name, family);
    return family;
  }

  /** Calls the function before each scrape, for gauges that are computed on demand. */
  onScrape(update: () => void): void {
    this.#beforeText.push(update);
  }

  text(): string {
    for (const update of this.#beforeText) update();
    return `${[...this.#families.values()].map((family) => family.text()).join('\n')}\n`;
  }
}
