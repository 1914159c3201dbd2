/** The one expected failure: a program that no step could get. */

export interface Attempt {
  step: string;
  reason: string;
}

/** Code `ToolUnavailable`. The message lists each step that was tried and why it did not help. */
export class ToolUnavailable extends Error {
  readonly code = 'ToolUnavailable';
  readonly tool: string;
  readonly attempts: readonly Attempt[];

  constructor(tool: string, attempts: readonly Attempt[], options?: ErrorOptions) {
    const lines = attempts.map(({ step, reason }) => `\n  ${step}: ${reason}`);
    super(`${tool} is not available${lines.join('')}`, options);
    this.tool = tool;
    this.attempts = attempts;
  }
}
