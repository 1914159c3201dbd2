/** Compiles a pattern's tree to a program for a machine that is in many places at once (Thompson's construction). */

import type { CharSet } from './charset.ts';
import { allocate, nodeBytes, work } from '../work.ts';
import { RegexError } from './syntax.ts';
import type { Assertion, RegexNode } from './syntax.ts';

export type Instruction =
  | { readonly op: 'set'; readonly set: CharSet }
  /** Continue at `first` and at `second`; `first` is preferred. */
  | { readonly op: 'split'; first: number; second: number }
  | { readonly op: 'jump'; to: number }
  | { readonly op: 'assert'; readonly assertion: Assertion }
  | { readonly op: 'match' };

const nsPerInstruction = 50;
/** Counted repetitions are copies: bounds their memory, and the work per character. */
const instructionsMax = 50_000;

export function compileProgram(root: RegexNode): readonly Instruction[] {
  const program: Instruction[] = [];
  const emit = <One extends Instruction>(instruction: One): One => {
    if (program.length >= instructionsMax) throw new RegexError('error parsing regexp: expression too large');
    work(nsPerInstruction);
    allocate(nodeBytes);
    program.push(instruction);
    return instruction;
  };

  const visit = (node: RegexNode): void => {
    switch (node.kind) {
      case 'empty':
        return;
      case 'set':
        emit({ op: 'set', set: node.set });
        return;
      case 'assert':
        emit({ op: 'assert', assertion: node.assertion });
        return;
      case 'sequence':
        for (const item of node.items) visit(item);
        return;
      case 'choice':
        choice(node.items);
        return;
      case 'repeat':
        repeat(node);
    }
  };

  const choice = (items: readonly RegexNode[]): void => {
    const ends: { to: number }[] = [];
    for (const [index, item] of items.entries()) {
      if (index === items.length - 1) {
        visit(item);
        break;
      }
      const split = emit({ op: 'split', first: program.length + 1, second: 0 });
      visit(item);
      ends.push(emit({ op: 'jump', to: 0 }));
      split.second = program.length;
    }
    for (const end of ends) end.to = program.length;
  };

  const repeat = ({ item, min, max, greedy }: RegexNode & { kind: 'repeat' }): void => {
    for (let count = 0; count < min; count++) visit(item);
    if (max === Infinity) {
      const split = emit({ op: 'split', first: 0, second: 0 });
      const start = program.length - 1;
      visit(item);
      emit({ op: 'jump', to: start });
      branch(split, greedy, start + 1, program.length);
      return;
    }
    const splits: { split: { first: number; second: number }; body: number }[] = [];
    for (let count = min; count < max; count++) {
      splits.push({ split: emit({ op: 'split', first: 0, second: 0 }), body: program.length });
      visit(item);
    }
    for (const { split, body } of splits) branch(split, greedy, body, program.length);
  };

  visit(root);
  emit({ op: 'match' });
  return program;
}

function branch(split: { first: number; second: number }, greedy: boolean, body: number, after: number): void {
  split.first = greedy ? body : after;
  split.second = greedy ? after : body;
}
