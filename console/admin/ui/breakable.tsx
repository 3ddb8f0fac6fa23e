import { Fragment } from 'react';

/** A mail address, URL or name; a line that is too narrow breaks before the punctuation within a word. */
export function Breakable({ text }: { text: string }) {
  const parts = text.match(/.*?(?:[^\s:/](?=[@./?&#]\S)|$)/gs) ?? [];
  return parts.map((part, index) => (
    <Fragment key={`${index} ${part}`}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}

/** {@link Breakable} as code. */
export function AddressCode({ text }: { text: string }) {
  return (
    <code>
      <Breakable text={text} />
    </code>
  );
}
