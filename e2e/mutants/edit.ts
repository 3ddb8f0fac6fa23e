/** One change of a piece of text: what stands from `start` to `end` becomes `text`. */
export interface Edit {
  operator: string;
  start: number;
  end: number;
  text: string;
}
