/**
 * Reports whether a text contains a match: a deterministic automaton whose states (sets of places in the program) are created on first use
 * and kept up to a bound. Usable if the only assertions are the ends of the text.
 */

import { allocate, work } from '../work.ts';
import { includes } from './charset.ts';
import type { Instruction } from './program.ts';

const nsPerCharacter = 3;
const nsPerState = 500;
const nsPerPlace = 40;
/** Including a transition for each of the first letters. */
const stateBytes = 2_048;
const placeBytes = 16;
const transitionBytes = 64;
const statesMax = 1_000;
/** Places of all states together, to bound the memory of large programs. */
const placesMax = 50_000;

interface State {
  /** Places after following everything that needs no character; end-of-text assertions stay. */
  readonly places: readonly number[];
  readonly matched: boolean;
  /** Reports whether the text may end here. Computed on first use. */
  matchedAtEnd: boolean | undefined;
  readonly ascii: (State | undefined)[];
  readonly others: Map<number, State>;
}

export function isAutomatonUsable(program: readonly Instruction[]): boolean {
  return program.every(
    (instruction) =>
      instruction.op !== 'assert' || instruction.assertion === 'textStart' || instruction.assertion === 'textEnd',
  );
}

/** Memory of the states of all automata together: users determine their number. */
const keptBytesMax = 32 * 1024 * 1024;
const withStates = new Set<Automaton>();
let keptBytes = 0;

function keep(automaton: Automaton, bytes: number): void {
  withStates.add(automaton);
  if ((keptBytes += bytes) <= keptBytesMax) return;
  for (const one of withStates) one.forget();
  withStates.clear();
  keptBytes = 0;
}

export class Automaton {
  readonly #program: readonly Instruction[];
  #states = new Map<string, State>();
  #places = 0;
  #start: State | undefined;

  constructor(program: readonly Instruction[]) {
    this.#program = program;
  }

  test(text: string): boolean {
    work(text.length * nsPerCharacter);
    let state = (this.#start ??= this.#state(this.#close([0], true)));
    for (let at = 0; at < text.length; at++) {
      if (state.matched) return true;
      let codePoint = text.charCodeAt(at);
      if (codePoint < 128) {
        state = state.ascii[codePoint] ??= this.#step(state, codePoint);
        continue;
      }
      if (codePoint >= 0xd800 && codePoint <= 0xdbff) {
        codePoint = text.codePointAt(at)!;
        if (codePoint > 0xffff) at += 1;
      }
      let next = state.others.get(codePoint);
      if (next === undefined) {
        next = this.#step(state, codePoint);
        if (state.others.size < statesMax) {
          state.others.set(codePoint, next);
          keep(this, transitionBytes);
        }
      }
      state = next;
    }
    if (state.matched) return true;
    if (text === '') return this.#matchesAtEnd(state, true);
    return (state.matchedAtEnd ??= this.#matchesAtEnd(state, false));
  }

  /** Drops everything that can be recomputed; states in use stay until they are left. */
  forget(): void {
    this.#states = new Map();
    this.#places = 0;
    this.#start = undefined;
  }

  #step(state: State, codePoint: number): State {
    work(nsPerState + state.places.length * nsPerPlace);
    const next: number[] = [];
    for (const place of state.places) {
      const instruction = this.#program[place]!;
      if (instruction.op === 'set' && includes(instruction.set, codePoint)) next.push(place + 1);
    }
    // A match may begin anywhere: the start is a place at every character.
    next.push(0);
    return this.#state(this.#close(next, false));
  }

  #close(from: readonly number[], atStart: boolean, atEnd = false): number[] {
    const seen = new Set<number>();
    const pending = [...from];
    while (pending.length > 0) {
      const place = pending.pop()!;
      work(nsPerPlace);
      if (seen.has(place)) continue;
      seen.add(place);
      const instruction = this.#program[place]!;
      if (instruction.op === 'jump') pending.push(instruction.to);
      else if (instruction.op === 'split') pending.push(instruction.first, instruction.second);
      else if (instruction.op === 'assert') {
        if (instruction.assertion === 'textStart' ? atStart : atEnd) pending.push(place + 1);
      }
    }
    return [...seen].sort((a, b) => a - b);
  }

  #state(closed: readonly number[]): State {
    const places = closed.filter((place) => ['set', 'match', 'assert'].includes(this.#program[place]!.op));
    const key = places.join();
    let state = this.#states.get(key);
    if (state === undefined) {
      if (this.#states.size >= statesMax || this.#places > placesMax) this.forget();
      const matched = places.some((place) => this.#program[place]!.op === 'match');
      const bytes = stateBytes + places.length * placeBytes;
      allocate(bytes);
      keep(this, bytes);
      state = { places, matched, matchedAtEnd: undefined, ascii: [], others: new Map() };
      this.#states.set(key, state);
      this.#places += places.length;
    }
    return state;
  }

  #matchesAtEnd(state: State, atStart: boolean): boolean {
    return this.#close(state.places, atStart, true).some((place) => this.#program[place]!.op === 'match');
  }
}
