/** Everything that a process counts, by name, as one text. A family that is made twice is one. */

export interface MetricFamily {
  readonly name: string;
  /** In Prometheus' text format, without a line's end behind it. */
  text(): string;
}

export class MetricsRegistry {
  readonly #families = new Map<string, MetricFamily>();
  readonly #beforeText: (() => void)[] = [];

  /** The one of this name that there is already, or this. */
  register<F extends MetricFamily>(family: F): F {
    const known = this.#families.get(family.name);
    if (known) return known as F;
    this.#families.set(family.name, family);
    return family;
  }

  /** For gauges that are cheaper to compute than to keep. */
  onScrape(update: () => void): void {
    this.#beforeText.push(update);
  }

  text(): string {
    for (const update of this.#beforeText) update();
    return `${[...this.#families.values()].map((family) => family.text()).join('\n')}\n`;
  }
}
