import { Fragment } from 'react';

/** An address or user name; a line that is too narrow breaks before `@` or a dot. */
export function Breakable({ text }: { text: string }) {
  return text.split(/(?=[@.])/).map((part, index) => (
    <Fragment key={`${index} ${part}`}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
