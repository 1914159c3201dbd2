/** The command line of a container, from its spec and its image. */

import { posix } from 'node:path';
import type { Container } from '@hangar/client/kinds/core-v1';
import { ProcessRuntimeError } from '../errors.ts';
import type { Image } from '../images/resolver.ts';
import { expand } from './expand.ts';

export interface CommandLine {
  /** On this machine. */
  readonly executable: string;
  /** In an unpacked image. */
  readonly inside?: string | undefined;
  /** First word as it is written in the spec or the image. */
  readonly argv0: string;
  readonly arguments: readonly string[];
}

/** `command` replaces the entrypoint and the arguments of the image, `args` only its arguments. Throws `CreateContainerError`. */
export function commandLine(
  container: Pick<Container, 'command' | 'args' | 'name'>,
  image: Image,
  variables: Readonly<Record<string, string>>,
): CommandLine {
  const { command = [], args = [] } = container;
  const written = command.length > 0 ? command : image.entrypoint;
  const rest = args.length > 0 || command.length > 0 ? args : image.arguments;
  const [argv0, ...words] = [
    ...(command.length > 0 ? command.map((word) => expand(word, variables)) : written),
    ...(args.length > 0 ? args.map((word) => expand(word, variables)) : rest),
  ];
  if (argv0 === undefined) throw failed('no command specified');
  const found = image.executable(argv0);
  if (found === undefined) {
    throw failed(`exec: ${JSON.stringify(posix.basename(argv0))}: executable file not found on this machine`);
  }
  return { executable: found.path, inside: found.inside, argv0, arguments: words };
}

const failed = (message: string): ProcessRuntimeError => new ProcessRuntimeError('CreateContainerError', message);
