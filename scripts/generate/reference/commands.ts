/** docs/reference/commands.md: every command and every flag, from the tables that help texts are generated from. */

import type { FlagGroup } from '@hangar/core/command-line';
import type { DescribedCommand } from '../../../apps/cli/src/describe-commands.ts';

/** A command with groups of flags, which runs until it is stopped. */
export interface ServingCommand {
  readonly name: string;
  readonly summary: string;
  readonly groups: readonly FlagGroup[];
}

/** A command with subcommands, which is documented by the sections of its help text. */
export interface SectionedCommand {
  readonly name: string;
  readonly summary: string;
  readonly sections: readonly { readonly title: string; readonly rows: readonly (readonly [string, string])[] }[];
}

export const commandsPage = (
  header: string,
  serving: readonly ServingCommand[],
  sectioned: readonly SectionedCommand[],
  commands: readonly DescribedCommand[],
): string =>
  [
    '# Commands',
    `<!-- ${header} -->`,
    '`npx hangar` in the folder of the repository, `hangar` where it is installed, or `kubectl hangar`.',
    overview([...serving, ...sectioned, ...commands]),
    ...serving.map(servingSection),
    ...sectioned.map(sectionedSection),
    ...commands.map(commandSection),
    '',
  ].join('\n\n');

const overview = (all: readonly { readonly name: string; readonly summary: string }[]): string =>
  [
    '| command | |',
    '|---|---|',
    ...all.map(({ name, summary }) => `| [${name}](#hangar-${anchor(name)}) | ${summary} |`),
  ].join('\n');

const anchor = (name: string): string => name.replaceAll(' ', '-');

function servingSection({ name, summary, groups }: ServingCommand): string {
  const parts = groups.map(({ title, flags }) => {
    const rows = flags.map(({ name: flag, argument, meaning, isRepeatable }) => {
      const typed = argument === undefined ? `--${flag}` : `--${flag} ${argument}`;
      return `| \`${typed}\` | ${cell(meaning)}${isRepeatable && !meaning.includes('repeated') ? '; can be repeated' : ''} |`;
    });
    return [`### ${title}`, ['| flag | |', '|---|---|', ...rows].join('\n')].join('\n\n');
  });
  return [`## hangar ${name}`, `${capitalised(summary)}.`, ...parts].join('\n\n');
}

function sectionedSection({ name, summary, sections }: SectionedCommand): string {
  const parts = sections.map(({ title, rows }) => {
    const cells = rows.map(([left, meaning]) => `| \`${left}\` | ${cell(meaning)} |`);
    return [`### ${title}`, ['| | |', '|---|---|', ...cells].join('\n')].join('\n\n');
  });
  return [`## hangar ${name}`, `${capitalised(summary)}.`, ...parts].join('\n\n');
}

function commandSection({
  name,
  aliases,
  summary,
  description,
  usage,
  args,
  options,
  examples,
}: DescribedCommand): string {
  const rows = [
    ...args.map(({ name: word, meaning }) => `| \`${word}\` | ${cell(meaning)} |`),
    ...options.map(({ text, meaning }) => `| \`${text}\` | ${cell(meaning)} |`),
  ];
  return [
    `## hangar ${name}`,
    `\`hangar ${usage}\``,
    `${capitalised(summary)}.`,
    ...(aliases ? [`Aliases: ${aliases.map((one) => `\`${one}\``).join(', ')}.`] : []),
    ...(description ? [description] : []),
    ['| | |', '|---|---|', ...rows].join('\n'),
    ...(examples.length > 0 ? [['```sh', ...examples.map((line) => `hangar ${line}`), '```'].join('\n')] : []),
  ].join('\n\n');
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
