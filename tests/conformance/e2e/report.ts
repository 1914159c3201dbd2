/** Reads the outcome of each spec from the report that ginkgo writes. */

import type { Spec } from './specs.ts';

export interface Outcome {
  readonly spec: Spec;
  readonly passed: boolean;
  /** Whether it was run before the program exited. */
  readonly wasRun: boolean;
  readonly seconds: number;
  /** One line: why it failed. Empty when it passed. */
  readonly cause: string;
}

/** The parts of ginkgo's report that are read here. */
export type GinkgoReport = readonly {
  readonly SpecReports?:
    | readonly {
        readonly ContainerHierarchyTexts?: readonly string[] | null;
        readonly LeafNodeType?: string;
        readonly LeafNodeText?: string;
        readonly State: string;
        readonly RunTime: number;
        readonly Failure?: {
          readonly Message?: string;
          readonly Location?: { readonly FileName?: string; readonly LineNumber?: number };
        };
      }[]
    | null;
}[];

type SpecReport = NonNullable<GinkgoReport[number]['SpecReports']>[number];

const causeLengthMax = 400;

/** `missing` is the cause of a spec that the report does not contain. */
export function outcomesOf(specs: readonly Spec[], report: GinkgoReport, missing: string): Outcome[] {
  const reports = report.flatMap((suite) => suite.SpecReports ?? []);
  const byName = new Map(reports.filter((one) => one.State !== 'skipped').map((one) => [nameOf(one), one]));
  // A suite that could not start has a separate report with the reason.
  const suiteFailure = reports.find((one) => one.LeafNodeType !== 'It' && one.State !== 'passed' && one.Failure);
  return specs.map((spec) => {
    const found = byName.get(spec.name);
    if (!found) {
      const cause = suiteFailure ? causeOf(suiteFailure) : shortened(missing);
      return { spec, passed: false, wasRun: false, seconds: 0, cause };
    }
    const passed = found.State === 'passed';
    return { spec, passed, wasRun: true, seconds: found.RunTime / 1e9, cause: passed ? '' : causeOf(found) };
  });
}

const nameOf = ({ ContainerHierarchyTexts, LeafNodeText }: SpecReport): string =>
  [...(ContainerHierarchyTexts ?? []), LeafNodeText].join(' ');

function causeOf({ State, Failure }: SpecReport): string {
  const place = Failure?.Location?.FileName?.replace(/^.*\/test\/e2e\//, '');
  return `${State} at ${place}:${Failure?.Location?.LineNumber}: ${shortened(Failure?.Message ?? '')}`;
}

const shortened = (text: string): string => text.replaceAll(/\s+/g, ' ').trim().slice(0, causeLengthMax);
