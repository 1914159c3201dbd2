/** Properties that a simulated world can violate. Each is checked by name, so that a report says which one failed. */

/**
 * | property     | meaning                                                                                            |
 * |--------------|----------------------------------------------------------------------------------------------------|
 * | linearizable | conditions held, conflicts were real, reads saw what was acknowledged, revisions follow real time   |
 * | durable      | acknowledged changes survive a crash, and their revision is not reused                              |
 * | whole        | a transaction exists entirely or not at all                                                         |
 * | invented     | nothing exists without a write, nothing happens twice, and nothing that was refused happens         |
 * | isolated     | nothing of one tenant is seen in another                                                            |
 * | tombstones   | a layered view's tombstones exist exactly for deleted base objects                                  |
 * | ordered      | a watch's revisions grow                                                                            |
 * | unique       | no event comes twice                                                                                |
 * | atomic       | all events of a revision come in one batch                                                          |
 * | reliable     | no event is missing behind the start of a watch                                                     |
 * | resumable    | a watch that resumes from a revision has neither gap nor repetition there                           |
 * | bookmarkable | a progress mark promises no more, and no less, than what was delivered                              |
 * | filtered     | only keys of the prefix, with the right previous entry                                              |
 * | compacted    | history is refused if and only if it was compacted                                                  |
 * | leased       | keys of a lease are deleted when it ends, and not before                                            |
 * | recovering   | errors are documented ones, and stop when the disk works again                                      |
 * | live         | every call is answered                                                                              |
 */
export type Property =
  | 'linearizable'
  | 'durable'
  | 'whole'
  | 'invented'
  | 'isolated'
  | 'tombstones'
  | 'ordered'
  | 'unique'
  | 'atomic'
  | 'reliable'
  | 'resumable'
  | 'bookmarkable'
  | 'filtered'
  | 'compacted'
  | 'leased'
  | 'recovering'
  | 'live';

export class Violation extends Error {
  readonly property: Property;
  /** Line of the trace at which it happened. */
  readonly line: number;

  constructor(property: Property, line: number, message: string) {
    super(message);
    this.name = 'Violation';
    this.property = property;
    this.line = line;
  }
}
