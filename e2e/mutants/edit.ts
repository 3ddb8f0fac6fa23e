/** A text edit: replaces `start` to `end` by `text`. */
export interface Edit {
  operator: string;
  start: number;
  end: number;
  text: string;
}
