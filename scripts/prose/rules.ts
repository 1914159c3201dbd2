/** The constructions that the style guide bans, each with the words to use instead. */

import type { Segment } from './segment.ts';

export interface Rule {
  readonly name: string;
  /** Global. A blank in the phrases that it is made of stands for any white space. */
  readonly pattern: RegExp;
  readonly suggestion: string;
  /** Absent: every kind of segment. */
  readonly kinds?: readonly Segment['kind'][];
}

/** Compiles alternatives; a blank matches white space, also a line break. */
function phrases(...alternatives: string[]): RegExp {
  return new RegExp(`\\b(?:${alternatives.join('|').replaceAll(' ', '\\s+')})\\b`, 'gi');
}

/** The start of a segment or of a sentence in it. */
const sentenceStart = String.raw`(?:^[\s"'([*_–—-]*|(?<=[.!?:;][\s"')\]*_]*\s)[\s"'([*_–—-]*)`;
/** The rest of a sentence that is not a question. */
const statement = String.raw`(?=[^?]*?(?:[.;!]\s|[.;!:]?\s*$))(?![^.;!]*\?)`;

const toBe = '(?:is|are|was|were|be|been|being|isn.t|aren.t)';
const determiner = '(?:the|a|an|this|that|its|their|our|your|another|some|any|each|every|which)';

export const rules: readonly Rule[] = [
  {
    name: 'headless opener',
    pattern: new RegExp(`${sentenceStart}(?:What|Who|Whom|Whose|Which|Whoever|Whatever)\\b${statement}`, 'g'),
    suggestion: 'start with the subject: "The object that …", "Returns …", "Desired state."',
    kinds: ['comment', 'paragraph'],
  },
  {
    name: 'headless opener',
    pattern: new RegExp(`^[\\s"'(]*(?:what|who|whom|whose|whoever|whatever)\\b${statement}`, 'gi'),
    suggestion: 'start with the subject: "waiting for the tenant feed to sync"',
    kinds: ['string'],
  },
  {
    name: 'headless opener',
    pattern: new RegExp(`${sentenceStart}Where\\b(?=[^,?]*?(?:[.;!]\\s|[.;!:]?\\s*$))`, 'g'),
    suggestion: 'name the thing: "Address of …", "Location of …"',
    kinds: ['comment', 'paragraph'],
  },
  {
    name: 'indefinite agent',
    pattern: phrases('nobody', 'somebody', 'anybody', 'everybody', 'someone', 'no one', 'who(?:so|m)?ever', 'whatever'),
    suggestion: 'name the agent: the client, the user, another process, the owner',
  },
  {
    name: 'personified: told',
    pattern: phrases(`${toBe} (?:not |never |then |also )?told`, 'tells', 'told'),
    suggestion: 'receives, reports, notifies, logs; or state the fact',
  },
  {
    name: 'personified: asked',
    pattern: phrases(`${toBe} (?:not |never |then |also )?asked`, 'asks', 'asked(?: for)?', 'asking'),
    suggestion: 'requests, queries, calls; requested, desired',
  },
  {
    name: 'personified: belief',
    pattern: phrases(
      'believes?',
      'believed',
      'hears?(?: of)',
      'heard of',
      'knows? (?:of|nothing)',
      'known of',
      'says? so',
      'said so',
    ),
    suggestion: 'state the fact: trusts, receives, detects, has a reference to, reports',
  },
  { name: 'anew', pattern: phrases('anew'), suggestion: 'again; or name the act: recreate, reconnect, relist' },
  {
    name: 'is no X',
    pattern: phrases(
      `(?<!there\\s)(?:is|are|was|were|be) no (?!longer|more than|less than|fewer than|later than|earlier than|such|different|op\\b)`,
    ),
    suggestion: 'is not a X; or state the rule: "unexpected argument"',
  },
  {
    name: 'of its own',
    // `of its own CA` is plain: the rule finds `own` without a noun behind it.
    pattern: new RegExp(
      `\\bof\\s+(?:its|their|our|my|your|his|her|one.s)\\s+own(?=\\s*(?:[.,;:)!?'"|\\]–—-]|$|(?:and|or|but|that|which|who|with|without|in|inside|on|at|for|to|by|is|are|was|has|have|may|can|behind|while|when|where|from|as|than|until|if|so|takes|because)\\b))`,
      'gi',
    ),
    suggestion: 'a separate X, its own X, a dedicated X',
  },
  {
    name: 'possessive as predicate',
    pattern: new RegExp(
      `\\b(?:is|are|was|were|be|becomes?|remains?|stays?)\\s+(?:not\\s+)?(?!it.s|that.s|there.s|what.s|let.s)(?:${determiner}\\s+)?(?:[\\w-]+\\s+){0,2}["\\w-]+(?:'s|’s|s'|s’)(?=\\s*(?:[.,;:)!?]|$|(?:and|or|when|if|while|because|since|until|by|for|as|in|at|on|to|from|again|now|alone)\\b))`,
      'gi',
    ),
    suggestion: 'belongs to, is owned by, is used by: `cluster path "x" is already used by ControlPlane "x"`',
  },
  {
    name: 'what there is',
    pattern: phrases(
      'what (?:is|was|are|were) there',
      'what there (?:is|was|are|were)',
      'all (?:that )?there (?:is|was|are|were)',
      'all that (?:is|was|were) (?:in|on|of) (?:it|them)',
      'what is asked(?: for)?',
      'whose (?:it|they|he|she) (?:is|are|was)',
      'whose turn',
    ),
    suggestion: '"Observed state.", "Desired state."; name the objects; the owner',
  },
  {
    name: 'end as verb',
    pattern: phrases('at (?:its|their|the very) end', 'it ended', 'ended(?=,)', `${toBe} ended(?! by)`),
    suggestion: 'stopped, exited, terminated, expired, completed, closed',
  },
  {
    name: 'goes on',
    pattern: phrases('go(?:es)? on', 'going on', 'went on', 'gone on'),
    suggestion: 'continues, happens, resumes',
  },
  {
    name: 'odd idiom',
    pattern: phrases(
      'a thing of',
      'to be had',
      'puts? right',
      'putting right',
      'and (?:its|their|the) likes?',
      'for nothing',
      'by nothing',
      'nothing but',
      'nothing else than',
      'born',
      'births?',
      'strangers?',
      'any more(?! than)',
      'may not be \\w+ (?:here )?any more',
      'unattended',
      'in the same words',
      'as the case may be',
      'be it',
      'thing of the past',
    ),
    suggestion: 'plain words: only, created, creation, unauthenticated client, no longer, unhandled',
  },
  {
    name: 'vague failure',
    pattern: phrases(
      'looks? again',
      'look is over',
      'something (?:went wrong|failed)',
      `${toBe} tried (?:once )?again`,
      'is tried',
      'it is tried',
    ),
    suggestion: '"reconcile failed, retrying: …", "requeue after this delay"',
  },
  {
    name: 'needs as requirement',
    pattern: phrases('mode \\S+ needs'),
    suggestion: '"spec.dedicated is required when spec.mode is Dedicated"',
  },
  {
    name: 'given back',
    pattern: phrases('giv(?:e|es|en|ing) back', 'gave back'),
    suggestion: 'released, returned, freed',
  },
];
