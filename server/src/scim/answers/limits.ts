/** Limits of responses (decisions/0310). */
export interface AnswerLimits {
  /** Nested elements of a page, members of groups or groups of users: a page with more ends early. */
  nested: number;
  /** Members that are read at once, with their names; more are read while the response is written. */
  few: number;
  /** Members that each of these queries reads. */
  batch: number;
  /** Largest response, in bytes. */
  bytes: number;
  /** Text that is composed before the headers are sent, in characters: a shorter response is sent as a whole. */
  held: number;
  /** A client that reads nothing of a response for this time is disconnected. */
  stallMs: number;
  /** Maximum time that a client may take for a whole response. */
  readSeconds: number;
}

export const defaultAnswerLimits: AnswerLimits = {
  nested: 10_000,
  few: 1000,
  batch: 1000,
  bytes: 32 * 1024 * 1024,
  held: 256 * 1024,
  stallMs: 30_000,
  readSeconds: 600,
};
