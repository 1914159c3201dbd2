/** Colours for terminals. Pipes and files get none, nor do terminals whose user sets NO_COLOR (no-color.org). */

import type { Output } from '../session.ts';

export type Style = 'good' | 'doubtful' | 'bad' | 'head';

/** Returns the text with the codes of a style around it, or as it is. */
export type Styler = (style: Style, text: string) => string;

const codes: Readonly<Record<Style, string>> = { good: '32', doubtful: '33', bad: '31', head: '1' };

export const unstyled: Styler = (_, text) => text;

export function stylesOf(output: Pick<Output, 'isTty'>, env: NodeJS.ProcessEnv): Styler {
  if (!output.isTty || env['NO_COLOR'] || env['TERM'] === 'dumb') return unstyled;
  return (style, text) => `\u001b[${codes[style]}m${text}\u001b[0m`;
}
