/** The command line of `hangar-types`. */

import { parseArgs } from 'node:util';
import { asError } from '@hangar/core';

export const help = `Types for the objects of CustomResourceDefinitions, as a TypeScript module.

usage: hangar-types [options] FILE...
         from files: YAML or JSON, - is standard input
       hangar-types --from-cluster [options] [NAME...]
         from a cluster: those that are named (widgets.example.com), or all

  -o, --output FILE        where to write; standard output if absent
      --import SPECIFIER   where the module imports the client from (@hangar/client)
      --from-cluster       ask a cluster; --context and --kubeconfig imply it
      --context NAME       of the kubeconfig; its current one if absent
      --kubeconfig FILE    as kubectl finds it if absent
  -h, --help

  hangar-types crds/*.yaml > src/widgets.ts
  hangar-types --context staging widgets.example.com -o src/widgets.ts
`;

export interface GenerateOptions {
  readonly isHelp: boolean;
  readonly isFromCluster: boolean;
  /** Files, or names of definitions. */
  readonly from: readonly string[];
  readonly output: string | undefined;
  readonly importFrom: string | undefined;
  readonly context: string | undefined;
  readonly kubeconfig: string | undefined;
}

/** A mistake of the user, not of the program. */
export class UsageError extends Error {}

export function readOptions(args: readonly string[]): GenerateOptions {
  const { values, positionals } = parsed(args);
  const { output, context, kubeconfig } = values;
  const isFromCluster = values['from-cluster'] === true || context !== undefined || kubeconfig !== undefined;
  const isHelp = values.help === true;
  if (!isHelp && !isFromCluster && positionals.length === 0)
    throw new UsageError('no CustomResourceDefinition given (see --help)');
  return { isHelp, isFromCluster, from: positionals, output, importFrom: values.import, context, kubeconfig };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        output: { type: 'string', short: 'o' },
        import: { type: 'string' },
        'from-cluster': { type: 'boolean' },
        context: { type: 'string' },
        kubeconfig: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageError(asError(error).message, { cause: error });
  }
}
